"""Signals on the nodes of a graph such that their neighbours' sums are those given: gradient descent, two products with the
adjacency matrix a step.

forms: autograd
       manual    the gradient written out
"""
from common import *

torch = torch()
adj, signal = table("adj"), table("signal")
n = len(signal["node"])
rows = np.concatenate([[0], np.cumsum(np.bincount(adj["dst"], minlength=n))])
A = torch.sparse_csr_tensor(tensor(rows.astype(np.int32)), tensor(adj["src"]), tensor(adj["weight"]), size=(n, n))
x, y = tensor(signal["v"]), tensor(table("goal")["y"])
rate = 0.1
propagate = times(A)
if form == "autograd":
    x.requires_grad_()
    sgd = torch.optim.SGD([x], lr=rate)


def autograd(_):
    sgd.zero_grad()
    loss = (propagate(x) - y).square().sum()
    loss.backward()
    sgd.step()
    return loss.detach()


def manual(_):
    r = A @ x - y
    loss = torch.dot(r.view(-1), r.view(-1))
    x.sub_(A @ r, alpha=2 * rate)
    return loss


report(*measure(graphed(autograd if form == "autograd" else manual), settle=settled), torch_version(torch))
