"""Models of the workloads in JAX, a whole step compiled. form: logreg, gcn, ratings, transe, mlp, attention, spmm or nnmf"""
from common import *

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others use the device too
if device == "cpu":
    os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp

jax.config.update("jax_default_matmul_precision", "highest")
if device != "cpu" and jax.default_backend() != "gpu":
    absent("JAX finds no graphics processor")
exact(lambda a, b: jnp.asarray(a) @ jnp.asarray(b))


@jax.custom_vjp
def propagate(h, adj):
    """The adjacency matrix, which is symmetric, times h."""
    return jax.ops.segment_sum(adj["weight"][:, None] * h[adj["src"]], adj["dst"], len(h), indices_are_sorted=True)


propagate.defvjp(lambda h, adj: (propagate(h, adj), adj), lambda adj, g: (propagate(g, adj), None))


def cross_entropy(z, label):
    return -jnp.take_along_axis(jax.nn.log_softmax(z), label[:, None], 1).mean()


def layers():
    return {k + n: t[k] for n, t in (("1", table("layer1")), ("2", table("layer2"))) for k in ("w", "b")}


def logreg():
    point = table("point")

    def loss(w, d, key):
        z = d["x"] @ w
        return (jax.nn.softplus(z) - d["y"] * z).mean()

    return table("model")["w"], {"x": point["x"], "y": point["label"].astype(np.float32)}, loss, sgd(0.5)


def gcn():
    node, p = table("node"), option["dropout"]
    labelled = np.flatnonzero(node["train"])

    def loss(w, d, key):
        h = jax.nn.relu(propagate(d["x"] @ w["w1"], d["adj"]) + w["b1"])
        if p:
            h = jnp.where(jax.random.bernoulli(key, 1 - p, h.shape), h / (1 - p), 0)
        z = propagate(h @ w["w2"], d["adj"]) + w["b2"]
        return cross_entropy(z[d["labelled"]], d["y"])

    d = {"x": node["x"], "adj": table("adj"), "labelled": labelled, "y": node["label"][labelled]}
    return layers(), d, loss, adam(option["lr"])


def ratings():
    def loss(w, d, key):
        return ((d["rating"] - (w["w"][d["usr"]] * w["h"][d["item"]]).sum(1)) ** 2).mean()

    return {"w": table("taste")["v"], "h": table("trait")["v"]}, table("rating"), loss, sgd(10.0, 0)


def transe():
    entity, batch, negatives = table("entity")["v"], int(option["batch"]), int(option["negatives"])
    d = {"facts": np.stack([table("triple")[k] for k in "hrt"], axis=1)}
    if option.get("drawn"):
        d["wrong"] = table("wrong")["other"].reshape(-1, negatives)

    def loss(w, d, key):
        if "wrong" in d:
            b, wrong = d["facts"], d["wrong"]
        else:
            k1, k2 = jax.random.split(key)
            b = d["facts"][jax.random.randint(k1, (batch,), 0, len(d["facts"]))]
            wrong = jax.random.randint(k2, (batch, negatives), 0, len(entity))
        q = w["entity"][b[:, 0]] + w["relation"][b[:, 1]]
        good = jnp.linalg.norm(q - w["entity"][b[:, 2]], axis=1)
        bad = jnp.linalg.norm(q[:, None] - w["entity"][wrong], axis=2)
        return jax.nn.relu(1 + good[:, None] - bad).mean()

    return {"entity": entity, "relation": table("relation")["v"]}, d, loss, sgd(0.01)


def mlp():
    image, batch = table("image"), int(option["batch"])

    def loss(w, d, key):
        x, y = d["x"], d["label"]
        if batch < len(x):  # drawn with replacement
            rows = jax.random.randint(key, (batch,), 0, len(x))
            x, y = x[rows], y[rows]
        return cross_entropy(jax.nn.relu(x @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"], y)

    return layers(), {"x": image["x"], "label": image["label"]}, loss, sgd(0.01)


def attention():
    head = table("head")
    k = head["wq"].shape[2]

    def loss(w, d, key):
        q, key_, v = [jnp.einsum("nw,hwk->hnk", d["x"], w[m]) for m in ("wq", "wk", "wv")]
        o = jax.nn.softmax(jnp.einsum("hnk,hmk->hnm", q, key_) / k**0.5) @ v
        return ((jnp.einsum("hnk,hkw->nw", o, w["wo"]) - d["y"]) ** 2).mean()

    return {m: head[m] for m in ("wq", "wk", "wv", "wo")}, table("sequence"), loss, sgd(0.1)


def spmm():
    def loss(x, d, key):
        return ((propagate(x, d["adj"]) - d["y"]) ** 2).sum()

    return table("signal")["v"], {"adj": table("adj"), "y": table("goal")["y"]}, loss, sgd(0.1)


def nnmf():
    import blocks

    def loss(w, d, key):
        return ((w["w"] @ w["h"] - d) ** 2).sum()

    w = {"w": blocks.below(table("w")), "h": blocks.beside(table("h"))}
    return w, blocks.dense(table("a")), loss, sgd(1e-6, 0)


def sgd(rate, least=None):
    """Gradient descent; numbers below the least become it."""

    def update(w, moments, g, n):
        w = jax.tree.map(lambda w, g: w - rate * g, w, g)
        return (w if least is None else jax.tree.map(lambda w: jnp.maximum(w, least), w)), moments

    return update


def adam(rate):
    def update(w, moments, g, n):
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], g)
        a, b = 1 - 0.9**n, 1 - 0.999**n
        return jax.tree.map(lambda w, m, v: w - rate * (m / a) / (jnp.sqrt(v / b) + 1e-8), w, m, v), (m, v)

    return update


weights, arrays, mean_loss, update = globals()[form]()
weights, arrays = jax.tree.map(jnp.asarray, weights), jax.tree.map(jnp.asarray, arrays)
moments = (jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights))


def whole(weights, moments, arrays, n):
    key = jax.random.fold_in(jax.random.key(1), n)
    loss, g = jax.value_and_grad(mean_loss)(weights, arrays, key)
    return *update(weights, moments, g, n), loss


compiled = jax.jit(whole, donate_argnums=(0, 1))


def step(n):
    global weights, moments
    weights, moments, loss = compiled(weights, moments, arrays, jnp.int32(n))
    return loss


report(*measure(step, settle=lambda loss: jax.block_until_ready((weights, loss))), "JAX " + jax.__version__)
