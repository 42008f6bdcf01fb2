"""Non-negative factorisation of a dense matrix by projected gradients. forms: autograd, manual (the gradient written out)"""
from common import *
from blocks import *

torch = torch()


a = torch.from_numpy(dense(table("a")))
w = torch.from_numpy(below(table("w")))
h = torch.from_numpy(beside(table("h")))
rate = 1e-6
if form == "autograd":
    w.requires_grad_()
    h.requires_grad_()
    sgd = torch.optim.SGD([w, h], lr=rate)


def autograd(_):
    sgd.zero_grad()
    loss = ((w @ h - a) ** 2).sum()
    loss.backward()
    sgd.step()
    with torch.no_grad():
        w.clamp_(min=0)
        h.clamp_(min=0)
    return loss.item()


def manual(_):
    r = torch.addmm(a, w, h, beta=-1)
    loss = torch.dot(r.view(-1), r.view(-1)).item()
    dw, dh = r @ h.t(), w.t() @ r
    w.sub_(dw, alpha=2 * rate).clamp_(min=0)
    h.sub_(dh, alpha=2 * rate).clamp_(min=0)
    return loss


report(*measure(autograd if form == "autograd" else manual), torch_version(torch))
