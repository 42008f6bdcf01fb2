"""a·b, or with chain=1 the chain a·b + c·(d·e). forms: numpy, torch, dask. What is reported as loss is the sum of squares."""
from common import *
from blocks import *

names = "abcde" if option.get("chain") else "ab"
m = [dense(table(n)) for n in names]
version = numpy_version()
if form == "torch":
    torch = torch()
    m, version = [torch.from_numpy(x) for x in m], torch_version(torch)
elif form == "dask":
    import dask, dask.array as da

    dask.config.set(scheduler="threads", num_workers=threads)
    m, version = [da.from_array(x, chunks=2048).persist() for x in m], "Dask " + dask.__version__ + ", " + version


def product():
    ab = m[0] @ m[1]
    r = ab if len(m) == 2 else ab + m[2] @ (m[3] @ m[4])
    return r.persist() if form == "dask" else r


def step(_):
    r = product()
    if option.get("loss"):
        return sum((np.asarray(part, np.float64) ** 2).sum() for part in np.array_split(np.asarray(r), 16))
    return 0


report(*measure(step), version)
