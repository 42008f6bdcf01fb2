"""The graph network of the examples on Cora, Adam, dropout.

forms: dense   the features as a dense matrix, as PyTorch Geometric has them
       sparse  as a sparse one, of whose entries dropout takes some
"""
from common import *
import gzip

torch = torch()
import torch.nn.functional as F


def csv(name, dtype):
    """The columns of one of the files of real data; their folder is the environment variable RELGRAD_DATA."""
    with gzip.open(os.path.join(os.environ["RELGRAD_DATA"], "cora", name + ".csv.gz"), "rt") as f:
        return np.genfromtxt(f, delimiter=",", skip_header=1, dtype=dtype, unpack=True, encoding="utf-8")


node, label, split = csv("nodes", "i8,i8,U8")
src, dst, weight = csv("adj_norm", "i8,i8,f4")
paper, word, value = csv("features", "i8,i8,f4")
n, words = len(node), len(table("w0")["feature"])
assert (node == np.arange(n)).all()
A = torch.sparse_coo_tensor(torch.from_numpy(np.stack([dst, src])), torch.from_numpy(weight), (n, n)).coalesce().to_sparse_csr()
where = torch.from_numpy(np.stack([paper, word]))
value = torch.from_numpy((value / np.bincount(paper, value, minlength=n)[paper]).astype(np.float32))
x = torch.sparse_coo_tensor(where, value, (n, words)).coalesce()
if form == "dense":
    x = x.to_dense()
y, labelled = torch.from_numpy(label), torch.from_numpy(np.flatnonzero(split == "train"))
p = option["dropout"]
propagate = times(A)
w0 = torch.from_numpy(table("w0")["v"]).requires_grad_()
w1 = torch.from_numpy(table("w1")["v"]).requires_grad_()
adam = torch.optim.Adam([w0, w1], lr=0.01, fused=True)


def step(_):
    adam.zero_grad()
    if form == "dense":
        xw = F.dropout(x, p) @ w0
    else:
        xw = torch.sparse.mm(torch.sparse_coo_tensor(x.indices(), F.dropout(x.values(), p), (n, words), is_coalesced=True), w0)
    z = propagate(F.dropout(F.relu(propagate(xw)), p) @ w1)
    loss = F.cross_entropy(z[labelled], y[labelled]) + 2.5e-4 * w0.square().sum()
    loss.backward()
    adam.step()
    return loss.item()


report(*measure(step), torch_version(torch))
