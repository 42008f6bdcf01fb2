"""What the programs of this folder share: arguments, data, the loop that is timed, the report.

usage: PROGRAM.py FORM DATA STEPS SECONDS [NAME=NUMBER ...]; prints one line of JSON: seconds of each step, loss before each
step, peak memory in bytes, versions. The first step warms up and is reported like the others.
"""
import json, os, sys, time

form, data, steps, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
option = {k: float(v) for k, v in (a.split("=") for a in sys.argv[5:])}
threads = int(os.environ["OMP_NUM_THREADS"])

import numpy as np


def table(name):
    """The columns of a table, arrays by name."""
    with np.load(os.path.join(data, name + ".npz")) as f:
        return {k: f[k] for k in f.files}



def measure(step, agree=lambda more: more):
    """Calls step(number of the step, from 1) until there were enough; step returns the loss, a number. Where several
    processes work together, agree gives all of them the same answer."""
    took, loss = [], []
    while len(took) < steps and agree(len(took) < 3 or sum(took[1:]) < seconds):
        begin = time.perf_counter()
        loss.append(float(step(len(took) + 1)))
        took.append(time.perf_counter() - begin)
    return took, loss


def peak():
    """The most memory that this process ever had, in bytes."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))


def report(took, loss, versions, memory=None):
    print(json.dumps({"steps": took, "loss": loss, "peak": memory or peak(), "versions": versions}), flush=True)


def torch():
    """PyTorch, with the right number of threads and always the same draws."""
    import torch, warnings

    warnings.filterwarnings("ignore")
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    return torch


def torch_version(torch):
    return "PyTorch " + torch.__version__


def numpy_version():
    return "numpy " + np.__version__
