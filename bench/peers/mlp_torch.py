"""A network of two layers on mini-batches, gradient descent. forms: torch, compiled (by torch.compile)"""
from common import *

torch = torch()
import torch.nn.functional as F

image, l1, l2 = table("image"), table("layer1"), table("layer2")
x, y = tensor(image["x"]), tensor(image["label"].astype(np.int64))
w1, b1, w2, b2 = [tensor(t[k]).requires_grad_() for t in (l1, l2) for k in ("w", "b")]
sgd = torch.optim.SGD([w1, b1, w2, b2], lr=0.01)
batch = int(option["batch"])
order, at = torch.randperm(len(x), device=device), 0
rows = order[:batch].clone()  # of the batch


def mean_loss(x, y):
    return F.cross_entropy(torch.addmm(b2, F.relu(torch.addmm(b1, x, w1)), w2), y)


if form == "compiled":
    mean_loss = torch.compile(mean_loss, dynamic=False)


def drawn(_):
    global order, at
    if at + batch > len(order):
        order, at = torch.randperm(len(x), device=device), 0
    rows.copy_(order[at : at + batch])
    at += batch


def update(_):
    sgd.zero_grad()
    loss = mean_loss(x[rows], y[rows])
    loss.backward()
    sgd.step()
    return loss.detach()


update = graphed(update)


def step(n):
    drawn(n)
    return update(n)


report(*measure(step, settle=settled), torch_version(torch))
