"""A graph convolutional network of two layers on mini-batches with sampled neighbours, Adam. form: torch"""
from common import *

torch = torch()
import torch.nn.functional as F

node, adj, l1, l2 = table("node"), table("adj"), table("layer1"), table("layer2")
n = len(node["node"])
degree = tensor(np.bincount(adj["dst"], minlength=n))
start = torch.cat([torch.zeros(1, dtype=torch.long, device=device), degree.cumsum(0)])
source = tensor(adj["src"].astype(np.int64))
x, y = tensor(node["x"]), tensor(node["label"].astype(np.int64))
labelled = tensor(np.flatnonzero(node["train"]))
batch, fanout = int(option["batch"]), int(option["fanout"])
w1, b1, w2, b2 = [tensor(t[k]).requires_grad_() for t in (l1, l2) for k in ("w", "b")]
adam = torch.optim.Adam([w1, b1, w2, b2], lr=option["lr"], fused=True)
order, at = torch.randperm(len(labelled), device=device), 0


def sample(nodes):
    """A stretch of the neighbours of each node, as a matrix of means: rows are the nodes, columns the sources that it returns."""
    d = degree[nodes]
    count = d.clamp(max=fanout)
    rows = torch.cat([torch.zeros(1, dtype=torch.long, device=device), count.cumsum(0)])
    row = torch.repeat_interleave(torch.arange(len(nodes), device=device), count)
    place = torch.arange(len(row), device=device) - rows[row] + (torch.rand(len(nodes), device=device) * d).long()[row]
    sources, cols = source[start[nodes][row] + place % d[row]].unique(return_inverse=True)
    mean = torch.sparse_csr_tensor(rows, cols, (1 / count.float())[row], size=(len(nodes), len(sources)))
    # the transposed matrix for the backward pass
    by = cols.argsort(stable=True)
    columns = torch.cat([torch.zeros(1, dtype=torch.long, device=device), torch.bincount(cols, minlength=len(sources)).cumsum(0)])
    return mean, torch.sparse_csr_tensor(columns, row[by], mean.values()[by], size=(len(sources), len(nodes))), sources


class Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, t, h):
        ctx.t = t
        return a @ h

    @staticmethod
    def backward(ctx, g):
        return None, None, ctx.t @ g.contiguous()


def step(_):
    global order, at
    if at >= len(order):
        order, at = torch.randperm(len(labelled), device=device), 0
    nodes = labelled[order[at : at + batch]]
    at += batch
    a2, t2, hidden = sample(nodes)
    a1, t1, inputs = sample(hidden)
    adam.zero_grad()
    h = F.dropout(F.relu(Propagate.apply(a1, t1, x[inputs] @ w1) + b1), option["dropout"])
    loss = F.cross_entropy(Propagate.apply(a2, t2, h @ w2) + b2, y[nodes])
    loss.backward()
    adam.step()
    return loss.detach()


report(*measure(graphed(step), settle=settled), torch_version(torch))
