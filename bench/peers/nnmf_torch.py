"""Non-negative factorisation of a dense matrix by projected gradients. forms: autograd, manual (the gradient written out)"""
from common import *
from blocks import *

torch = torch()


a = tensor(dense(table("a")))
w = tensor(below(table("w")))
h = tensor(beside(table("h")))
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
    return loss.detach()


def manual(_):
    r = torch.addmm(a, w, h, beta=-1)
    loss = torch.dot(r.view(-1), r.view(-1))
    dw, dh = r @ h.t(), w.t() @ r
    w.sub_(dw, alpha=2 * rate).clamp_(min=0)
    h.sub_(dh, alpha=2 * rate).clamp_(min=0)
    return loss


report(*measure(graphed(autograd if form == "autograd" else manual), settle=settled), torch_version(torch))
