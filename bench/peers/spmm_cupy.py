"""Signals on the nodes of a graph such that their neighbours' sums are those given: gradient descent by cuSPARSE's product of a
sparse matrix and a dense one, rows of which lie together. What it prepares for the matrix is made once. form: cusparse"""
from common import *
import ctypes

if device == "cpu":
    absent("cuSPARSE needs a graphics processor")
import cupy as cp
from cupy_backends.cuda.libs import cusparse

if not cp.cuda.is_available():
    absent("CuPy finds no graphics processor")
adj, signal = table("adj"), table("signal")
n, width = signal["v"].shape
starts = np.concatenate([[0], np.cumsum(np.bincount(adj["dst"], minlength=n))]).astype(np.int32)
starts, cols, weights = cp.asarray(starts), cp.asarray(adj["src"]), cp.asarray(adj["weight"])
x, y = cp.asarray(signal["v"]), cp.asarray(table("goal")["y"])
r = cp.empty_like(y)
rate = 0.1

SINGLE = 0  # CUDA_R_32F
kind, alone = cusparse.CUSPARSE_INDEX_32I, cusparse.CUSPARSE_OPERATION_NON_TRANSPOSE
A = cusparse.createCsr(n, n, len(cols), starts.data.ptr, cols.data.ptr, weights.data.ptr, kind, kind,
                       cusparse.CUSPARSE_INDEX_BASE_ZERO, SINGLE)
X, R = [cusparse.createDnMat(n, width, width, m.data.ptr, SINGLE, cusparse.CUSPARSE_ORDER_ROW) for m in (x, r)]
handle, way = cp.cuda.device.get_cusparse_handle(), cusparse.CUSPARSE_SPMM_CSR_ALG2


def product(alpha, beta, source, to):
    """A function that makes to = alpha·A·source + beta·to."""
    alpha, beta = np.array(alpha, np.float32), np.array(beta, np.float32)
    args = (handle, alone, alone, alpha.ctypes.data, A, source, beta.ctypes.data, to, SINGLE, way)
    room = cp.empty(max(cusparse.spMM_bufferSize(*args), 1), cp.int8)
    # CuPy does not have this function: it is that of the library which CuPy has loaded
    prepare = ctypes.CDLL("libcusparse.so.12").cusparseSpMM_preprocess
    p, i = ctypes.c_void_p, ctypes.c_int
    prepare.argtypes = [p, i, i, p, p, p, p, p, i, i, p]
    if failed := prepare(*args, room.data.ptr):
        raise SystemExit("cusparseSpMM_preprocess: error %d" % failed)

    def run(kept=(alpha, beta)):  # their numbers are read at each call
        cusparse.spMM(*args, room.data.ptr)

    return run


residual, update = product(1, -1, X, R), product(-2 * rate, 1, R, X)


def step(_):
    r[...] = y
    residual()
    loss = cp.vdot(r, r)
    update()
    return loss


versions = "CuPy %s, cuSPARSE %d" % (cp.__version__, cusparse.getVersion(handle))
report(*measure(step, settle=lambda loss: cp.cuda.Device().synchronize()), versions)
