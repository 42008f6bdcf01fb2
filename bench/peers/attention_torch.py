"""Multi-head attention, forward and backward, gradient descent.

forms: fused     scaled_dot_product_attention, all heads' weights in one matrix
       plain     softmax(QKᵀ)V written out
       compiled  the former, by torch.compile
"""
from common import *

torch = torch()
import torch.nn.functional as F

sequence, head = table("sequence"), table("head")
x, y = tensor(sequence["x"]), tensor(sequence["y"])
heads, width, k = head["wq"].shape
# [width, heads·k], as in torch.nn.MultiheadAttention
wq, wk, wv = [tensor(np.ascontiguousarray(head[n].transpose(1, 0, 2).reshape(width, heads * k))).requires_grad_() for n in ("wq", "wk", "wv")]
wo = tensor(head["wo"].reshape(heads * k, width)).requires_grad_()
sgd = torch.optim.SGD([wq, wk, wv, wo], lr=0.1)


def mean_loss():
    q, key, v = [(x @ w).view(-1, heads, k).transpose(0, 1)[None] for w in (wq, wk, wv)]
    if form != "plain":
        o = F.scaled_dot_product_attention(q, key, v)
    else:
        o = ((q @ key.transpose(2, 3)) / k**0.5).softmax(3) @ v
    return F.mse_loss(o[0].transpose(0, 1).reshape(len(x), -1) @ wo, y)


if form == "compiled":
    mean_loss = torch.compile(mean_loss, dynamic=False)


def step(_):
    sgd.zero_grad()
    loss = mean_loss()
    loss.backward()
    sgd.step()
    return loss.detach()


report(*measure(graphed(step), settle=settled), torch_version(torch))
