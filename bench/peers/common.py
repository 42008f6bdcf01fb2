"""What the programs of this folder share: arguments, data, the loop that is timed, the report.

usage: PROGRAM.py FORM DATA STEPS SECONDS [NAME=NUMBER ...]; prints one line of JSON: seconds of each step, loss before each
step, peak memory in bytes, versions. The first step warms up and is reported like the others.

The variable PEER_DEVICE says where a program runs: cpu, or cuda. With turns=1 it prints a line when it is ready, and then runs
in turns: each line of standard input is one, STEPS SECONDS.
"""
import json, os, sys, time

form, data, steps, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
option = {k: float(v) for k, v in (a.split("=") for a in sys.argv[5:])}
threads = int(os.environ["OMP_NUM_THREADS"])
device = os.environ.get("PEER_DEVICE", "cpu")

import numpy as np


def absent(what):
    """Ends the program, which lacks something."""
    raise SystemExit("missing: " + what)


def table(name):
    """The columns of a table, arrays by name."""
    with np.load(os.path.join(data, name + ".npz")) as f:
        return {k: f[k] for k in f.files}


def measure(step, agree=lambda more: more, settle=lambda loss: None):
    """Calls step(number of the step, from 1) until there were enough; step returns the loss, a number. Where several
    processes work together, agree gives all of them the same answer. settle waits until a step has been done, given its loss."""
    took, loss = [], []
    if option.get("turns"):
        turns(step, settle)
    while len(took) < steps and agree(len(took) < 3 or sum(took[1:]) < seconds):
        begin = time.perf_counter()
        loss.append(float(step(len(took) + 1)))
        took.append(time.perf_counter() - begin)
    return took, loss


def turns(step, settle):
    """Runs steps in turns until standard input ends. Nobody reads their losses, so a device may still work on one step while the
    next is prepared. A turn has as many steps as take its seconds, at least STEPS, and ends when all are done."""
    n, each = 0, 0.0

    def some(count):
        nonlocal n, each
        begin = time.perf_counter()
        for _ in range(count):
            n += 1
            loss = step(n)
        settle(loss)
        each = (time.perf_counter() - begin) / count
        return float(loss)

    some(5)  # warms up
    some(5)  # tells how many steps there are in a turn
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        least, most = line.split()
        count = max(int(least), min(10000, int(float(most) / each)))
        loss = some(count)
        print(json.dumps({"each": each, "count": count, "last": loss}), flush=True)
    sys.exit(0)


def peak():
    """The most memory that this process ever had, in bytes."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))


def report(took, loss, versions, memory=None):
    print(json.dumps({"steps": took, "loss": loss, "peak": memory or peak(), "versions": versions}), flush=True)


def exact(product):
    """Ends the program where product(a, b), of matrices of single precision, is less exact than these: tensor cores may compute
    with 10 bits (TF32)."""
    a, b = np.random.default_rng(1).standard_normal((2, 512, 512)).astype(np.float32)
    right = a.astype(np.float64) @ b
    error = np.abs(np.asarray(product(a, b)) - right).max() / np.abs(right).max()
    if not error < 1e-5:
        raise SystemExit("products are not of single precision: the error is %g" % error)


def torch():
    """PyTorch, with the right number of threads and always the same draws."""
    import torch, warnings

    warnings.filterwarnings("ignore")
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    if device != "cpu":
        if not torch.cuda.is_available():
            absent("PyTorch finds no graphics processor")
        torch.set_float32_matmul_precision("highest")
        exact(lambda a, b: (tensor(a) @ tensor(b)).cpu())
        if "torch._dynamo" in sys.modules:  # it knows what an earlier program compiled, for other sizes
            torch._dynamo.reset()
    return torch


def tensor(x):
    """An array as a tensor of PyTorch's on the device."""
    import torch

    return torch.from_numpy(x).to(device)


def times(A):
    """The product with A from the left: A is sparse and symmetric, so that the gradient needs no transposed matrix."""
    import torch

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return A @ x

        @staticmethod
        def backward(ctx, g):
            return A @ g.contiguous()

    return Product.apply


def settled(loss):
    """Waits for all that PyTorch has asked of the device."""
    import torch

    if device != "cpu":
        torch.cuda.synchronize()


def graphed(step):
    """A step of PyTorch's; with graph=1 one that is recorded as a CUDA graph after its first calls. It then returns its loss at
    the same place each time. What differs from step to step must lie on the device."""
    import torch

    if not option.get("graph"):
        return step
    if device == "cpu":
        absent("a CUDA graph needs a graphics processor")
    side, graph, loss = torch.cuda.Stream(), torch.cuda.CUDAGraph(), None

    def call(n):
        nonlocal loss
        if n <= 3:
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                first = step(n)
            torch.cuda.current_stream().wait_stream(side)
            return first
        if n == 4:
            with torch.cuda.graph(graph):
                loss = step(n)
        graph.replay()
        return loss

    return call


def torch_version(torch):
    return "PyTorch " + torch.__version__


def numpy_version():
    return "numpy " + np.__version__
