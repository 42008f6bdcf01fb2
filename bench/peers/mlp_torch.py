"""A network of two layers on mini-batches, gradient descent. forms: torch, compiled (by torch.compile)"""
from common import *

torch = torch()
import torch.nn.functional as F

image, l1, l2 = table("image"), table("layer1"), table("layer2")
x, y = torch.from_numpy(image["x"]), torch.from_numpy(image["label"].astype(np.int64))
w1, b1, w2, b2 = [torch.from_numpy(t[k]).requires_grad_() for t in (l1, l2) for k in ("w", "b")]
sgd = torch.optim.SGD([w1, b1, w2, b2], lr=0.01)
batch = int(option["batch"])
order, at = torch.randperm(len(x)), 0


def mean_loss(x, y):
    return F.cross_entropy(torch.addmm(b2, F.relu(torch.addmm(b1, x, w1)), w2), y)


if form == "compiled":
    mean_loss = torch.compile(mean_loss)


def step(_):
    global order, at
    if at >= len(order):
        order, at = torch.randperm(len(x)), 0
    rows = order[at : at + batch]
    at += batch
    sgd.zero_grad()
    loss = mean_loss(x[rows], y[rows])
    loss.backward()
    sgd.step()
    return loss.item()


report(*measure(step), torch_version(torch))
