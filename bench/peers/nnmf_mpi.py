"""Non-negative factorisation of a dense matrix by projected gradients; each process has a part of the rows. form: mpi"""
from common import *
from blocks import *
import mpi4py
from mpi4py import MPI

world = MPI.COMM_WORLD
a, w, h = dense(table("a")), below(table("w")), beside(table("h"))
rows = slice(len(a) * world.rank // world.size, len(a) * (world.rank + 1) // world.size)
a, w = a[rows].copy(), w[rows].copy()
r, dh, rate = np.empty_like(a), np.empty_like(h), np.float32(2e-6)


def step(_):
    np.matmul(w, h, out=r)
    np.subtract(r, a, out=r)
    loss = world.allreduce(float(np.vdot(r, r)))
    dw = r @ h.T
    np.matmul(w.T, r, out=dh)
    world.Allreduce(MPI.IN_PLACE, dh)
    w[:] = np.maximum(w - rate * dw, 0)
    h[:] = np.maximum(h - rate * dh, 0)
    world.Barrier()
    return loss


took, loss = measure(step, lambda more: world.bcast(more))
memory = world.allreduce(peak())
if world.rank == 0:
    report(took, loss, "mpi4py " + mpi4py.__version__ + ", " + numpy_version(), memory)
