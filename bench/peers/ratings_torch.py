"""Non-negative factorisation of a sparse matrix of ratings by projected gradients.

forms: autograd  gathers both factors of each rating, as its users write it
       compiled  the same, by torch.compile
       sampled   the gradient written out: sampled_addmm for the errors, sparse times dense for both gradients
"""
from common import *

torch = torch()
rating = table("rating")
w, h = tensor(table("taste")["v"]), tensor(table("trait")["v"])
count, rate = len(rating["usr"]), 10.0


def matrix(rows, cols, values, shape):
    """A sparse matrix of entries that are sorted by row."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int32)
    return torch.sparse_csr_tensor(tensor(starts), tensor(cols.astype(np.int32)), values, size=shape)


if form != "sampled":
    usr, item = tensor(rating["usr"].astype(np.int64)), tensor(rating["item"].astype(np.int64))
    stars = tensor(rating["rating"])
    w.requires_grad_()
    h.requires_grad_()
    sgd = torch.optim.SGD([w, h], lr=rate)
else:
    r = matrix(rating["usr"], rating["item"], tensor(rating["rating"]), (len(w), len(h)))
    by_item = np.argsort(rating["item"], kind="stable")
    place = tensor(by_item)
    t = matrix(rating["item"][by_item], rating["usr"][by_item], torch.zeros(count, device=device), (len(h), len(w)))
    del rating, by_item


def mean_loss(w, h):
    return (((w[usr] * h[item]).sum(1) - stars) ** 2).mean()


if form == "compiled":
    mean_loss = torch.compile(mean_loss, dynamic=False)


def autograd(_):
    sgd.zero_grad()
    loss = mean_loss(w, h)
    loss.backward()
    sgd.step()
    with torch.no_grad():
        w.clamp_(min=0)
        h.clamp_(min=0)
    return loss.detach()


def sampled(_):
    e = torch.sparse.sampled_addmm(r, w, h.t(), beta=-1)
    v = e.values()
    loss = torch.dot(v, v) / count
    t.values().copy_(v[place])
    dw, dh = e @ h, t @ w
    w.sub_(dw, alpha=2 * rate / count).clamp_(min=0)
    h.sub_(dh, alpha=2 * rate / count).clamp_(min=0)
    return loss


report(*measure(graphed(sampled if form == "sampled" else autograd), settle=settled), torch_version(torch))
