"""A graph convolutional network of two layers on the whole graph, Adam.

forms: users   as PyTorch Geometric's GCNConv computes it: X@W, then the adjacency matrix times that, autograd
       byhand  the adjacency matrix times X computed once, before training: what its author may do by hand in the first layer
"""
from common import *

torch = torch()
import torch.nn.functional as F

node, adj, l1, l2 = table("node"), table("adj"), table("layer1"), table("layer2")
n = len(node["node"])
rows = np.concatenate([[0], np.cumsum(np.bincount(adj["dst"], minlength=n))])
A = torch.sparse_csr_tensor(torch.from_numpy(rows.astype(np.int32)), torch.from_numpy(adj["src"]), torch.from_numpy(adj["weight"]), size=(n, n))
x, y = torch.from_numpy(node["x"]), torch.from_numpy(node["label"].astype(np.int64))
labelled = torch.from_numpy(np.flatnonzero(node["train"]))
del adj, node


class Propagate(torch.autograd.Function):  # the matrix is symmetric
    @staticmethod
    def forward(ctx, h):
        return A @ h

    @staticmethod
    def backward(ctx, g):
        return A @ g.contiguous()


w1, b1, w2, b2 = [torch.from_numpy(t[k]).requires_grad_() for t in (l1, l2) for k in ("w", "b")]
adam = torch.optim.Adam([w1, b1, w2, b2], lr=option["lr"], fused=True)
if form == "byhand":
    ax = A @ x
    del x


def step(_):
    adam.zero_grad()
    h = (ax @ w1 if form == "byhand" else Propagate.apply(x @ w1)) + b1
    h = F.dropout(F.relu(h), option["dropout"])
    z = Propagate.apply(h @ w2) + b2
    loss = F.cross_entropy(z[labelled], y[labelled])
    loss.backward()
    adam.step()
    return loss.item()


report(*measure(step), torch_version(torch))
