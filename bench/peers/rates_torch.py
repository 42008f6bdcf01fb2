"""How fast the device multiplies matrices and copies, by PyTorch: prints a line of JSON, operations and bytes in a second.
usage: rates_torch.py FORM DATA STEPS SECONDS n=SIDE: the side of the matrices, n² numbers are copied 64 times
"""
from common import *

torch = torch()
n = int(option["n"])
a, b = torch.rand(2, n, n, device=device)
x = torch.rand(64, n, n, device=device)
y = torch.empty_like(x)


def best(f):
    """The least time of five runs of ten."""
    f()
    took = []
    for _ in range(5):
        settled(None)
        begin = time.perf_counter()
        for _ in range(10):
            f()
        settled(None)
        took.append((time.perf_counter() - begin) / 10)
    return min(took)


print(json.dumps({"flops": 2 * n**3 / best(lambda: torch.mm(a, b)), "bytes": 2 * x.numel() * 4 / best(lambda: y.copy_(x)),
                  "versions": torch_version(torch) + ", CUDA " + str(torch.version.cuda)}))
