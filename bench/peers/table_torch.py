"""Factors of ratings that lie in tables of a server: COPY out, steps of Adam on all ratings, COPY back.

The server is that of the environment variable PEER_DSN. Importing PyTorch is not part of the time.
"""
from common import *
import subprocess

torch = torch()
F = torch.nn.functional


def psql(sql, send=None):
    return subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", os.environ["PEER_DSN"], "-c", sql], input=send,
                          stdout=subprocess.PIPE, check=True).stdout


def chunks(name, key):
    """The keys and the vectors of a table."""
    text = psql("COPY %s (%s, v) TO STDOUT (FORMAT csv)" % (name, key))
    rows = text.translate(None, b'{}"').replace(b"\n", b",")
    flat = np.array(rows.rstrip(b",").split(b","), np.float32)
    flat = flat.reshape(text.count(b"\n"), -1)
    return flat[:, 0].astype(np.int64), flat[:, 1:]


def rows_of(keys, wanted):
    """At which row each wanted key is."""
    at = np.empty(keys.max() + 1, np.int64)
    at[keys] = np.arange(len(keys))
    return tensor(at[wanted])


def work():
    flat = np.array(psql("COPY rating TO STDOUT (DELIMITER ',')").replace(b"\n", b",").rstrip(b",").split(b","), np.float32)
    flat = flat.reshape(-1, 3)
    stars = tensor(flat[:, 2].copy())
    (users, w), (items, h) = chunks("taste", "usr"), chunks("trait", "item")
    usr, item = rows_of(users, flat[:, 0].astype(np.int64)), rows_of(items, flat[:, 1].astype(np.int64))
    w, h = tensor(w.copy()).requires_grad_(), tensor(h.copy()).requires_grad_()
    adam = torch.optim.Adam([w, h], lr=0.01)
    losses = []
    for _ in range(steps):
        adam.zero_grad()
        loss = ((stars - (F.embedding(usr, w) * F.embedding(item, h)).sum(1)) ** 2).mean()
        loss.backward()
        adam.step()
        losses.append(float(loss))
    for name, key, keys, v in ("taste", "usr", users, w), ("trait", "item", items, h):
        lines = ["%d\t{%s}\n" % (k, ",".join(map(repr, row))) for k, row in zip(keys.tolist(), v.tolist())]
        psql("BEGIN; TRUNCATE %s; COPY %s (%s, v) FROM STDIN; COMMIT" % (name, name, key), "".join(lines).encode())
    return losses


begin = time.perf_counter()
loss = work()
report([time.perf_counter() - begin], loss, torch_version(torch))
