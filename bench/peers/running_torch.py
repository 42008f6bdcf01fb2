"""The steps of a walk from where it has been: a running sum, by gradient descent.

forms: torch
       compiled  the same, by torch.compile
"""
from common import *

torch = torch()
walk, step = table("walk"), table("step")
order = np.argsort(walk["k"])
y = tensor(walk["y"][order])
x = tensor(step["x"][np.argsort(step["k"])]).requires_grad_()
sgd = torch.optim.SGD([x], lr=1 / len(y))


def squares(x):
    return ((x.cumsum(0) - y) ** 2).mean()


if form == "compiled":
    squares = torch.compile(squares)


def descend(_):
    sgd.zero_grad()
    loss = squares(x)
    loss.backward()
    sgd.step()
    return loss.detach()


report(*measure(graphed(descend), settle=settled), torch_version(torch))
