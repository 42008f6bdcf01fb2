"""Non-negative factorisation of a sparse matrix of ratings by projected gradients.

forms: autograd  gathers both factors of each rating, as its users write it
       sampled   the gradient written out: sampled_addmm for the errors, sparse times dense for both gradients
"""
from common import *

torch = torch()
rating = table("rating")
w, h = torch.from_numpy(table("taste")["v"]), torch.from_numpy(table("trait")["v"])
count, rate = len(rating["usr"]), 10.0


def matrix(rows, cols, values, shape):
    """A sparse matrix of entries that are sorted by row."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(np.int32)
    return torch.sparse_csr_tensor(torch.from_numpy(starts), torch.from_numpy(cols.astype(np.int32)), values, size=shape)


if form == "autograd":
    usr, item = torch.from_numpy(rating["usr"].astype(np.int64)), torch.from_numpy(rating["item"].astype(np.int64))
    stars = torch.from_numpy(rating["rating"])
    w.requires_grad_()
    h.requires_grad_()
    sgd = torch.optim.SGD([w, h], lr=rate)
else:
    r = matrix(rating["usr"], rating["item"], torch.from_numpy(rating["rating"]), (len(w), len(h)))
    by_item = np.argsort(rating["item"], kind="stable")
    place = torch.from_numpy(by_item)
    t = matrix(rating["item"][by_item], rating["usr"][by_item], torch.zeros(count), (len(h), len(w)))
    del rating, by_item


def autograd(_):
    sgd.zero_grad()
    loss = (((w[usr] * h[item]).sum(1) - stars) ** 2).mean()
    loss.backward()
    sgd.step()
    with torch.no_grad():
        w.clamp_(min=0)
        h.clamp_(min=0)
    return loss.item()


def sampled(_):
    e = torch.sparse.sampled_addmm(r, w, h.t(), beta=-1)
    v = e.values()
    loss = torch.dot(v, v).item() / count
    t.values().copy_(v[place])
    dw, dh = e @ h, t @ w
    w.sub_(dw, alpha=2 * rate / count).clamp_(min=0)
    h.sub_(dh, alpha=2 * rate / count).clamp_(min=0)
    return loss


report(*measure(autograd if form == "autograd" else sampled), torch_version(torch))
