"""Logistic regression by gradient descent on all points.

forms: autograd
       manual    the gradient written out
       compiled  the same, by torch.compile
"""
from common import *

torch = torch()
import torch.nn.functional as F

point, model = table("point"), table("model")
x, y = tensor(point["x"]), tensor(point["label"].astype(np.float32))
w = tensor(model["w"])
if form == "autograd":
    w.requires_grad_()
    sgd = torch.optim.SGD([w], lr=0.5)


def autograd(_):
    sgd.zero_grad()
    loss = F.binary_cross_entropy_with_logits(x @ w, y)
    loss.backward()
    sgd.step()
    return loss.detach()


def loss_and_gradient(w):
    z = x @ w
    return F.binary_cross_entropy_with_logits(z, y), x.t() @ (z.sigmoid() - y)


if form == "compiled":
    loss_and_gradient = torch.compile(loss_and_gradient)


def manual(_):
    loss, gradient = loss_and_gradient(w)
    w.sub_(gradient, alpha=0.5 / len(y))
    return loss.detach()


report(*measure(graphed(autograd if form == "autograd" else manual), settle=settled), torch_version(torch))
