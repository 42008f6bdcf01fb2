"""What the trials of this folder share: timing on the device, and a graph with skewed rows.

Times are medians of five times n runs, between events of the device, in ms, with the least and the most.
"""
import os, sys, time, subprocess, traceback, json
import numpy as np
T0 = time.time()
def say(*a): print('[%5.1f]' % (time.time()-T0), *a, flush=True)
def sh(c):
    print(subprocess.run(c, shell=True, capture_output=True, text=True).stdout.strip(), flush=True)
sh("nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader")
import torch, cupy as cp
say('torch', torch.__version__, 'cupy', cp.__version__, 'nvrtc', cp.cuda.nvrtc.getVersion(), 'runtime', cp.cuda.runtime.runtimeGetVersion())
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
dev = 'cuda'
def timed(f, n=20, warm=5, reps=5):
    for _ in range(warm): f()
    torch.cuda.synchronize()
    out = []
    for _ in range(reps):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        for _ in range(n): f()
        b.record(); torch.cuda.synchronize()
        out.append(a.elapsed_time(b)/n)
    return '%.4f ms (%.4f..%.4f)' % (sorted(out)[len(out)//2], min(out), max(out))
def ctimed(f, n=20, warm=5, reps=5):
    for _ in range(warm): f()
    cp.cuda.Device().synchronize()
    out = []
    for _ in range(reps):
        a, b = cp.cuda.Event(), cp.cuda.Event()
        a.record()
        for _ in range(n): f()
        b.record(); b.synchronize()
        out.append(cp.cuda.get_elapsed_time(a, b)/n)
    return '%.4f ms (%.4f..%.4f)' % (sorted(out)[len(out)//2], min(out), max(out))
def section(f):
    try:
        say('==', f.__name__); f()
    except Exception:
        traceback.print_exc(); sys.stdout.flush()
    cp.get_default_memory_pool().free_all_blocks(); torch.cuda.empty_cache()


def graph(n=169343, m=2315598):
    rng = np.random.default_rng(1)
    deg = rng.zipf(1.9, n).clip(1, 3000).astype(np.float64); p = deg/deg.sum()
    src = rng.choice(n, m, p=p); dst = rng.integers(0, n, m)
    a, b = np.concatenate([src, dst, np.arange(n)]), np.concatenate([dst, src, np.arange(n)])
    key = np.unique(a.astype(np.int64)*n+b); a, b = (key // n).astype(np.int32), (key % n).astype(np.int32)
    start = np.zeros(n+1, np.int32); np.cumsum(np.bincount(a, minlength=n), out=start[1:])
    return start, b, rng.random(len(b)).astype(np.float32), n
