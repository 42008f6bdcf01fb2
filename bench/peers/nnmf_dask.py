"""Non-negative factorisation of a dense matrix by projected gradients, in Dask arrays on threads. form: the chunks' size"""
from common import *
from blocks import *
import dask, dask.array as da

dask.config.set(scheduler="threads", num_workers=threads)
size, rate = int(form), np.float32(2e-6)
a, w, h = dense(table("a")), below(table("w")), beside(table("h"))
k = w.shape[1]
size = min(size, len(a))
a = da.from_array(a, chunks=size).persist()
w, h = da.from_array(w, chunks=(size, k)).persist(), da.from_array(h, chunks=(k, size)).persist()


def step(_):
    global w, h
    r = w @ h - a
    w, h, loss = dask.persist(da.maximum(w - rate * (r @ h.T), 0), da.maximum(h - rate * (w.T @ r), 0), (r * r).sum())
    return loss.compute()


report(*measure(step), "Dask " + dask.__version__ + ", " + numpy_version())
