"""An LSTM over sequences of one length, whose last state is compared with a goal, by gradient descent.

forms: torch
       flushed: numbers below 1.2e-38 count as zero, which PyTorch does where it is asked to; gradients of 200 steps
                meet many on their way to zero, and Intel's processors take some hundred cycles for each
"""
from common import *

torch = torch()
torch.set_flush_denormal(form == "flushed")
token, goal, cell = table("token"), table("goal"), table("cell")
sequences = len(goal["seq"])
order = np.lexsort((token["t"], token["seq"]))
x = tensor(np.ascontiguousarray(token["x"][order])).reshape(sequences, -1, token["x"].shape[1])
y = tensor(np.ascontiguousarray(goal["y"][np.argsort(goal["seq"])]))
lstm = torch.nn.LSTM(x.shape[2], y.shape[1], batch_first=True).to(device)
with torch.no_grad():
    lstm.weight_ih_l0.copy_(tensor(np.concatenate([cell["w" + gate].T for gate in "ifgo"])))
    lstm.weight_hh_l0.copy_(tensor(np.concatenate([cell["u" + gate].T for gate in "ifgo"])))
    lstm.bias_ih_l0.copy_(tensor(np.concatenate([cell["b" + gate] for gate in "ifgo"])))
    lstm.bias_hh_l0.zero_()
lstm.bias_hh_l0.requires_grad_(False)  # a second bias, of which the model has one
sgd = torch.optim.SGD([p for p in lstm.parameters() if p.requires_grad], lr=0.01)


def descend(_):
    sgd.zero_grad()
    loss = ((lstm(x)[0][:, -1] - y) ** 2).sum(1).mean()
    loss.backward()
    sgd.step()
    return loss.detach()


report(*measure(graphed(descend), settle=settled), torch_version(torch))
