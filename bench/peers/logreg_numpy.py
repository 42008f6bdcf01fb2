"""Logistic regression by gradient descent on all points. form: numpy"""
from common import *

point, w = table("point"), table("model")["w"]
x, y = point["x"], point["label"].astype(np.float32)


def step(_):
    z = x @ w
    loss = 0.0
    if option.get("loss"):  # not part of what is timed: numpy's users look at it now and then
        loss = np.mean(np.logaddexp(0, z, dtype=np.float64) - y * z)
    np.negative(z, out=z)
    np.exp(z, out=z)
    z += 1
    np.reciprocal(z, out=z)
    z -= y
    w[:] -= np.float32(0.5 / len(y)) * (z @ x)
    return loss


report(*measure(step), numpy_version())
