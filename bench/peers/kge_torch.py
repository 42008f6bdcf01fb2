"""Embeddings of a knowledge graph against wrong tails that are drawn anew at each step. The data decide between TransE and
TransR: in the latter a relation has a matrix.

forms: dense     gradients of whole tables of embeddings
       sparse    gradients of the rows that the step used
       compiled  dense, by torch.compile
"""
from common import *

torch = torch()
import torch.nn.functional as F

triple, entity, relation = table("triple"), table("entity"), table("relation")
facts = tensor(np.stack([triple[k] for k in "hrt"], axis=1).astype(np.int64))
sparse = form == "sparse"
ent = torch.nn.Embedding.from_pretrained(tensor(entity["v"]), freeze=False, sparse=sparse)
rel = torch.nn.Embedding.from_pretrained(tensor(relation["v"]), freeze=False, sparse=sparse)
parameters = [ent.weight, rel.weight]
if "m" in relation:
    matrix = tensor(relation["m"]).requires_grad_()
    parameters.append(matrix)
sgd = torch.optim.SGD(parameters, lr=0.01)
batch, negatives = int(option["batch"]), int(option["negatives"])
drawn = None
if option.get("drawn"):
    drawn = tensor(table("wrong")["other"].astype(np.int64)).view(-1, negatives)


def distances(b, wrong):
    """Of the facts and of their corruptions."""
    h, r, t = ent(b[:, 0]), rel(b[:, 1]), ent(b[:, 2])
    if "m" not in relation:
        q = h + r
        return (q - t).norm(dim=1), (q[:, None, :] - ent(wrong)).norm(dim=2)
    m = matrix[b[:, 1]]
    q = torch.bmm(h[:, None, :], m)[:, 0] + r
    return (q - torch.bmm(t[:, None, :], m)[:, 0]).norm(dim=1), (q[:, None, :] - torch.bmm(ent(wrong), m)).norm(dim=2)


def mean_loss(b, wrong):
    good, bad = distances(b, wrong)
    return F.relu(1 + good[:, None] - bad).mean()


if form == "compiled":
    mean_loss = torch.compile(mean_loss, dynamic=False)


def step(_):
    if drawn is None:
        b, wrong = facts[torch.randint(len(facts), (batch,), device=device)], torch.randint(len(entity["id"]), (batch, negatives), device=device)
    else:
        b, wrong = facts, drawn
    sgd.zero_grad()
    loss = mean_loss(b, wrong)
    loss.backward()
    sgd.step()
    return loss.detach()


report(*measure(graphed(step), settle=settled), torch_version(torch))
