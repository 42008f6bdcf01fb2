"""A graph convolutional network of two layers on the whole graph, Adam.

forms: users   as PyTorch Geometric's GCNConv computes it: X@W, then the adjacency matrix times that, autograd
       byhand  the adjacency matrix times X computed once, before training: what its author may do by hand in the first layer
       compiled  the latter, what stands beside the products with the adjacency matrix by torch.compile
"""
from common import *

torch = torch()
import torch.nn.functional as F

node, adj, l1, l2 = table("node"), table("adj"), table("layer1"), table("layer2")
n = len(node["node"])
rows = np.concatenate([[0], np.cumsum(np.bincount(adj["dst"], minlength=n))])
A = torch.sparse_csr_tensor(tensor(rows.astype(np.int32)), tensor(adj["src"]), tensor(adj["weight"]), size=(n, n))
x, y = tensor(node["x"]), tensor(node["label"].astype(np.int64))
labelled = tensor(np.flatnonzero(node["train"]))
del adj, node
propagate = times(A)
w1, b1, w2, b2 = [tensor(t[k]).requires_grad_() for t in (l1, l2) for k in ("w", "b")]
adam = torch.optim.Adam([w1, b1, w2, b2], lr=option["lr"], fused=True, capturable=device != "cpu")
once = form != "users"
if once:
    ax = A @ x
    del x
labels, p = y[labelled], option["dropout"]


def hidden(h):
    return F.dropout(F.relu(h + b1), p) @ w2


def first(ax):
    return hidden(ax @ w1)


def mean_loss(z):
    return F.cross_entropy((z + b2)[labelled], labels)


if form == "compiled":
    first, mean_loss = torch.compile(first, dynamic=False), torch.compile(mean_loss, dynamic=False)


def step(_):
    adam.zero_grad()
    hw = first(ax) if once else hidden(propagate(x @ w1))
    loss = mean_loss(propagate(hw))
    loss.backward()
    adam.step()
    return loss.detach()


report(*measure(graphed(step), settle=settled), torch_version(torch))
