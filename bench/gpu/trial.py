"""What a graphics processor takes for sums by group with one warp a group, for copies, launches and products, and what
PyTorch takes for the workloads of this project. docs/adr/0021-sums-on-a-gpu.md has the figures.

usage: python3 trial.py    (needs PyTorch and CuPy; about a minute)
"""
from common import *

@section
def copies():
    x = torch.empty(1 << 28, device=dev); y = torch.empty_like(x)   # 1 GiB
    t = timed(lambda: y.copy_(x), 10); say('D2D 1 GiB', t, 'GB/s r+w', 2*x.numel()*4/1e6/float(t.split()[0]))
    t = timed(lambda: x.sum(), 10); say('read 1 GiB (sum)', t, 'GB/s', x.numel()*4/1e6/float(t.split()[0]))
    h = torch.empty(1 << 26).pin_memory(); d = torch.empty(1 << 26, device=dev); g = torch.empty(1 << 26)
    for name, f in [('H2D pinned', lambda: d.copy_(h, non_blocking=True)), ('D2H pinned', lambda: h.copy_(d, non_blocking=True)), ('H2D pageable', lambda: d.copy_(g)), ('D2H pageable', lambda: g.copy_(d))]:
        t = timed(f, 3, 1, 3); say(name, '256 MiB', t, 'GB/s', d.numel()*4/1e6/float(t.split()[0]))
    s = torch.zeros(1, device=dev); ph = torch.zeros(1).pin_memory()
    b = time.time()
    for _ in range(1000): ph.copy_(s, non_blocking=True); torch.cuda.synchronize()
    say('4 bytes D2H and synchronize: %.1f us' % ((time.time()-b)*1e3))
    h2 = torch.empty(200000, dtype=torch.int32).pin_memory(); d2 = torch.empty(200000, dtype=torch.int32, device=dev)
    say('0.8 MB H2D pinned', timed(lambda: d2.copy_(h2, non_blocking=True), 100))

SRC = r'''
extern "C" __global__ void tiny(float* x) { if (threadIdx.x == 0 && blockIdx.x == 0) x[0] += 1.f; }
template <int V, class A> __device__ __forceinline__ void spmm_row(const int* start, const int* col, const float* w, const float* x, float* y, int width, int rows) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  for (int c = threadIdx.x * V; c < width; c += 32 * V) {
    A acc[V];
    for (int k = 0; k < V; k++) acc[k] = 0;
    int e = start[row], to = start[row + 1];
    for (; e + 4 <= to; e += 4) {
      int j0 = __ldg(col + e), j1 = __ldg(col + e + 1), j2 = __ldg(col + e + 2), j3 = __ldg(col + e + 3);
      float a0 = __ldg(w + e), a1 = __ldg(w + e + 1), a2 = __ldg(w + e + 2), a3 = __ldg(w + e + 3);
      if (V == 4) {
        float4 b0 = __ldg((const float4*)(x + (long long)j0 * width + c)), b1 = __ldg((const float4*)(x + (long long)j1 * width + c));
        float4 b2 = __ldg((const float4*)(x + (long long)j2 * width + c)), b3 = __ldg((const float4*)(x + (long long)j3 * width + c));
        acc[0] += (A)a0 * b0.x; acc[1] += (A)a0 * b0.y; acc[2] += (A)a0 * b0.z; acc[3] += (A)a0 * b0.w;
        acc[0] += (A)a1 * b1.x; acc[1] += (A)a1 * b1.y; acc[2] += (A)a1 * b1.z; acc[3] += (A)a1 * b1.w;
        acc[0] += (A)a2 * b2.x; acc[1] += (A)a2 * b2.y; acc[2] += (A)a2 * b2.z; acc[3] += (A)a2 * b2.w;
        acc[0] += (A)a3 * b3.x; acc[1] += (A)a3 * b3.y; acc[2] += (A)a3 * b3.z; acc[3] += (A)a3 * b3.w;
      } else {
        acc[0] += (A)a0 * __ldg(x + (long long)j0 * width + c); acc[0] += (A)a1 * __ldg(x + (long long)j1 * width + c);
        acc[0] += (A)a2 * __ldg(x + (long long)j2 * width + c); acc[0] += (A)a3 * __ldg(x + (long long)j3 * width + c);
      }
    }
    for (; e < to; e++) {
      int j = __ldg(col + e); float a = __ldg(w + e);
      if (V == 4) {
        float4 b = __ldg((const float4*)(x + (long long)j * width + c));
        acc[0] += (A)a * b.x; acc[1] += (A)a * b.y; acc[2] += (A)a * b.z; acc[3] += (A)a * b.w;
      } else acc[0] += (A)a * __ldg(x + (long long)j * width + c);
    }
    for (int k = 0; k < V; k++) y[(long long)row * width + c + k] = (float)acc[k];
  }
}
extern "C" __global__ void spmm4f(const int* s, const int* c, const float* w, const float* x, float* y, int width, int rows) { spmm_row<4, float>(s, c, w, x, y, width, rows); }
extern "C" __global__ void spmm4d(const int* s, const int* c, const float* w, const float* x, float* y, int width, int rows) { spmm_row<4, double>(s, c, w, x, y, width, rows); }
extern "C" __global__ void spmm1d(const int* s, const int* c, const float* w, const float* x, float* y, int width, int rows) { spmm_row<1, double>(s, c, w, x, y, width, rows); }

// NNMF: for each user u, over its ratings (order), grad_u += 2*(dot(u,i)-r)*i ; a warp a user, rank 64: 2 numbers a lane
extern "C" __global__ void side(const int* start, const int* other, const float* r, const float* u, const float* v, float* g, double* loss, int rows) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float2 a = ((const float2*)(u + (long long)row * 64))[threadIdx.x];
  float gx = 0, gy = 0; double l = 0;
  int e = start[row], to = start[row + 1];
  for (; e + 2 <= to; e += 2) {
    int j0 = __ldg(other + e), j1 = __ldg(other + e + 1);
    float2 b0 = __ldg((const float2*)(v + (long long)j0 * 64) + threadIdx.x), b1 = __ldg((const float2*)(v + (long long)j1 * 64) + threadIdx.x);
    float d0 = a.x * b0.x + a.y * b0.y, d1 = a.x * b1.x + a.y * b1.y;
    for (int k = 16; k; k >>= 1) { d0 += __shfl_xor_sync(~0u, d0, k); d1 += __shfl_xor_sync(~0u, d1, k); }
    d0 -= __ldg(r + e); d1 -= __ldg(r + e + 1);
    gx += 2 * d0 * b0.x + 2 * d1 * b1.x; gy += 2 * d0 * b0.y + 2 * d1 * b1.y; l += (double)d0 * d0 + (double)d1 * d1;
  }
  for (; e < to; e++) {
    float2 b = __ldg((const float2*)(v + (long long)__ldg(other + e) * 64) + threadIdx.x);
    float d = a.x * b.x + a.y * b.y;
    for (int k = 16; k; k >>= 1) d += __shfl_xor_sync(~0u, d, k);
    d -= __ldg(r + e); gx += 2 * d * b.x; gy += 2 * d * b.y; l += (double)d * d;
  }
  ((float2*)(g + (long long)row * 64))[threadIdx.x] = make_float2(gx, gy);
  if (threadIdx.x == 0) loss[row] = l;
}

// logistic regression: X n x 100; a block takes rows; loss and gradient in one pass: each warp a row, then sums in registers by lanes of columns
extern "C" __global__ void logreg(const float* X, const float* y, const float* w, double* part, int n, int rowsPerBlock) {
  // 128 threads: 4 warps; each lane holds columns lane, lane+32, lane+64, lane+96
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float w0 = w[lane], w1 = w[lane + 32], w2 = w[lane + 64], w3 = lane + 96 < 100 ? w[lane + 96] : 0;
  double g0 = 0, g1 = 0, g2 = 0, g3 = 0, loss = 0;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0, sl = 0; int c = 0;
  int lo = blockIdx.x * rowsPerBlock, hi = min(n, lo + rowsPerBlock);
  for (int r = lo + warp; r < hi; r += 4) {
    const float* x = X + (long long)r * 100;
    float a0 = x[lane], a1 = x[lane + 32], a2 = x[lane + 64], a3 = lane + 96 < 100 ? x[lane + 96] : 0;
    float d = a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3;
    for (int k = 16; k; k >>= 1) d += __shfl_xor_sync(~0u, d, k);
    float t = y[r], p = 1 / (1 + __expf(-d)), e = p - t;
    s0 += e * a0; s1 += e * a1; s2 += e * a2; s3 += e * a3;
    sl += fmaxf(d, 0) - d * t + log1pf(__expf(-fabsf(d)));
    if (++c == 64) { g0 += s0; g1 += s1; g2 += s2; g3 += s3; loss += sl; s0 = s1 = s2 = s3 = sl = 0; c = 0; }
  }
  g0 += s0; g1 += s1; g2 += s2; g3 += s3; loss += sl;
  __shared__ double sum[4][132];
  sum[warp][lane] = g0; sum[warp][lane + 32] = g1; sum[warp][lane + 64] = g2; sum[warp][lane + 96] = g3;
  if (lane == 0) sum[warp][128] = loss;
  __syncthreads();
  for (int i = threadIdx.x; i < 129; i += 128) part[(long long)blockIdx.x * 129 + i] = sum[0][i] + sum[1][i] + sum[2][i] + sum[3][i];
}
extern "C" __global__ void fused(const float* x, const float* b, float* y, float* m, long long n, int width) {
  long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i >= n) return;
  float4 v = *(const float4*)(x + i); int c = i % width;
  v.x = fmaxf(v.x + __ldg(b + c), 0); v.y = fmaxf(v.y + __ldg(b + c + 1), 0); v.z = fmaxf(v.z + __ldg(b + c + 2), 0); v.w = fmaxf(v.w + __ldg(b + c + 3), 0);
  *(float4*)(y + i) = v;
}
'''
from cupy.cuda import nvrtc
def compile_time(src, n=3):
    out = []
    for i in range(n):
        b = time.time(); p = nvrtc.createProgram(src + '\n// %d %f' % (i, time.time()), 'p.cu', [], [])
        nvrtc.compileProgram(p, ['--gpu-architecture=sm_90', '-std=c++17']); nvrtc.getCUBIN(p); out.append(time.time()-b); nvrtc.destroyProgram(p)
    return out
say('NVRTC to CUBIN of all probe kernels:', compile_time(SRC)); say('of one tiny kernel:', compile_time('extern "C" __global__ void tiny(float* x) { x[0] += 1.f; }'))
mod = cp.RawModule(code=SRC, options=('-std=c++17',))
k = {n: mod.get_function(n) for n in ['tiny', 'spmm4f', 'spmm4d', 'spmm1d', 'side', 'logreg', 'fused']}
for n in k: say(n, 'registers', k[n].num_regs, 'local', k[n].local_size_bytes, 'shared', k[n].shared_size_bytes)

@section
def launches():
    x = cp.zeros(1, dtype=cp.float32); tiny = k['tiny']
    say('empty kernel in a stream', ctimed(lambda: tiny((1,), (32,), (x,)), 1000))
    for nodes in [1, 5, 20, 100]:
        s = cp.cuda.Stream(non_blocking=True)
        with s:
            s.begin_capture()
            for _ in range(nodes): tiny((1,), (32,), (x,))
            g = s.end_capture()
        g.upload(s); g.launch(s); s.synchronize()
        b = time.time()
        for _ in range(300): g.launch(s)
        host = (time.time()-b)/300; s.synchronize(); al = (time.time()-b)/300
        b = time.time()
        for _ in range(200): g.launch(s); s.synchronize()
        one = (time.time()-b)/200
        say('graph of %d dependent nodes: host %.1f us, throughput %.1f us, with synchronize %.1f us' % (nodes, host*1e6, al*1e6, one*1e6))

@section
def gemms():
    for dt in (torch.float32, torch.float64):
        a = torch.randn(4096, 4096, device=dev, dtype=dt); b = torch.randn(4096, 4096, device=dev, dtype=dt)
        t = timed(lambda: a @ b, 5, 2, 3); say('4096^3', dt, t, 'TFLOP/s', 2*4096**3/1e9/float(t.split()[0]))
    n = 169343
    x = torch.randn(n, 128, device=dev); w = torch.randn(128, 256, device=dev); h = torch.randn(n, 256, device=dev); w2 = torch.randn(256, 40, device=dev); d = torch.randn(n, 40, device=dev)
    for name, f, fl in [('n×128×256', lambda: x @ w, 2*n*128*256), ('n×256×40', lambda: h @ w2, 2*n*256*40), ('128×n×256 (gradient)', lambda: x.T @ h, 2*n*128*256), ('256×n×40 (gradient)', lambda: h.T @ d, 2*n*256*40), ('n×40×256', lambda: d @ w2.T, 2*n*256*40)]:
        t = timed(f); say(name, t, 'TFLOP/s %.1f' % (fl/1e9/float(t.split()[0])))
    parts = n // 4096
    xs = x[:parts*4096].view(parts, 4096, 128); hs = h[:parts*4096].view(parts, 4096, 256)
    def cut():
        return torch.bmm(xs.transpose(1, 2), hs).sum(0, dtype=torch.float64) + x[parts*4096:].T.double() @ h[parts*4096:].double()
    say('128×n×256 cut at 4,096 rows, summed in double', timed(cut))
    exact = x.T.double() @ h.double(); s = exact.abs().max()
    say('error: whole %.2g, cut %.2g (relative to the largest)' % (((x.T @ h).double()-exact).abs().max()/s, (cut()-exact).abs().max()/s))

@section
def spmm():
    start, col, w, n = graph(); say('entries', len(col), 'largest row', np.diff(start).max())
    s, c, v = cp.asarray(start), cp.asarray(col), cp.asarray(w)
    import cupyx.scipy.sparse as sp
    A = sp.csr_matrix((v, c, s), shape=(n, n))
    At = torch.sparse_csr_tensor(torch.from_numpy(start), torch.from_numpy(col), torch.from_numpy(w), (n, n)).to(dev)
    for width in (40, 64, 128, 256):
        x = cp.random.randn(n, width, dtype=cp.float32); y = cp.empty((n, width), cp.float32)
        xt = torch.from_dlpack(x)
        floor = (len(col)*8 + n*width*8)/1e6
        say('width', width, 'gathered GB %.2f' % (len(col)*width*4/1e9))
        say('  torch sparse_csr @ dense', timed(lambda: At @ xt))
        xf = cp.asfortranarray(x)
        say('  cupy csr @ dense (cuSPARSE, column-major)', ctimed(lambda: A @ xf, 5))
        for rows in (2, 4, 8):
            for name in ('spmm4f', 'spmm4d', 'spmm1d'):
                f = k[name]
                def run(): f(((n+rows-1)//rows,), (32, rows), (s, c, v, x, y, np.int32(width), np.int32(n)))
                say('  own', name, 'rows a block', rows, ctimed(run))
        ref = A[:1000] @ x.astype(cp.float64); k['spmm4f'](((n+3)//4,), (32, 4), (s, c, v, x, y, np.int32(width), np.int32(n)))
        say('  error', float(cp.abs(y[:1000]-ref).max()/cp.abs(ref).max()))

@section
def nnmf():
    rng = np.random.default_rng(2); users, items, m = 200000, 20000, 10_000_000
    u = rng.integers(0, users, m).astype(np.int32); i = (items*rng.random(m)**2).astype(np.int32); r = rng.random(m).astype(np.float32)
    U, V = cp.random.rand(users, 64, dtype=cp.float32), cp.random.rand(items, 64, dtype=cp.float32)
    def side(a, b, n):
        o = np.argsort(a, kind='stable'); st = np.zeros(n+1, np.int32); np.cumsum(np.bincount(a, minlength=n), out=st[1:])
        return cp.asarray(st), cp.asarray(b[o]), cp.asarray(r[o])
    su, sv = side(u, i, users), side(i, u, items)
    gu, gv, lu, lv = cp.empty_like(U), cp.empty_like(V), cp.empty(users), cp.empty(items)
    def one(x, A, B, g, l, n):
        def f(): k['side'](((n+3)//4,), (32, 4), (x[0], x[1], x[2], A, B, g, l, np.int32(n)))
        return f
    fu, fv = one(su, U, V, gu, lu, users), one(sv, V, U, gv, lv, items)
    say('own, by user', ctimed(fu)); say('own, by item', ctimed(fv)); say('own, both', ctimed(lambda: (fu(), fv())))
    tu, ti, tr = torch.from_numpy(u).long().to(dev), torch.from_numpy(i).long().to(dev), torch.from_numpy(r).to(dev)
    P, Q = torch.from_dlpack(U).clone().requires_grad_(), torch.from_dlpack(V).clone().requires_grad_()
    def step():
        P.grad = Q.grad = None
        e = (P[tu]*Q[ti]).sum(1)-tr; l = (e*e).sum(); l.backward(); return l
    say('torch eager', timed(step, 3, 2, 3)); l = float(step()); fu(); fv()
    say('loss', l, float(lu.sum()), 'error of gradient', float((torch.from_dlpack(gu)-P.grad).abs().max()/P.grad.abs().max()), float((torch.from_dlpack(gv)-Q.grad).abs().max()/Q.grad.abs().max()))
    try:
        cstep = torch.compile(lambda P, Q: (((P[tu]*Q[ti]).sum(1)-tr)**2).sum())
        def stepc():
            P.grad = Q.grad = None
            cstep(P, Q).backward()
        say('torch compiled', timed(stepc, 3, 3, 3))
    except Exception as e: say('compile failed', str(e)[:200])

@section
def logistic():
    n = 1_000_000
    X = cp.random.randn(n, 100, dtype=cp.float32); y = (cp.random.rand(n) > .5).astype(cp.float32); w = cp.random.randn(100, dtype=cp.float32)*.1
    for per in (256, 512, 1024, 2048, 4096):
        b = (n+per-1)//per; part = cp.empty((b, 129))
        say('own pass, rows a block', per, ctimed(lambda: k['logreg']((b,), (128,), (X, y, w, part, np.int32(n), np.int32(per)))))
    Xt, yt, W = torch.from_dlpack(X), torch.from_dlpack(y), torch.from_dlpack(w).clone().requires_grad_()
    def step():
        W.grad = None
        l = torch.nn.functional.binary_cross_entropy_with_logits(Xt @ W, yt, reduction='sum'); l.backward(); return l
    say('torch eager', timed(step)); l = float(step()); g = part.sum(0)
    say('loss', l, float(g[128]), 'error', float(cp.abs(g[:100]-cp.from_dlpack(W.grad.detach())).max()/cp.abs(g[:100]).max()))

@section
def gcn():
    start, col, w, n = graph()
    A = torch.sparse_csr_tensor(torch.from_numpy(start), torch.from_numpy(col), torch.from_numpy(w/20), (n, n)).to(dev)
    X = torch.randn(n, 128, device=dev); L = torch.randint(0, 40, (n,), device=dev)
    ws = [torch.randn(128, 256, device=dev).mul_(.05).requires_grad_(), torch.zeros(256, device=dev, requires_grad=True), torch.randn(256, 40, device=dev).mul_(.05).requires_grad_(), torch.zeros(40, device=dev, requires_grad=True)]
    opt = torch.optim.Adam(ws, lr=.01, capturable=True, foreach=True)
    F = torch.nn.functional
    AX = A @ X
    class S(torch.autograd.Function):
        @staticmethod
        def forward(ctx, h): return A @ h
        @staticmethod
        def backward(ctx, g): return A @ g  # the matrix is symmetric here but for weights
    def naive():
        opt.zero_grad(set_to_none=False); h = F.dropout(torch.relu(S.apply(X @ ws[0]) + ws[1]), .5); z = S.apply(h @ ws[2]) + ws[3]; l = F.cross_entropy(z, L); l.backward(); opt.step()
    def once():
        opt.zero_grad(set_to_none=False); h = F.dropout(torch.relu(AX @ ws[0] + ws[1]), .5); z = S.apply(h @ ws[2]) + ws[3]; l = F.cross_entropy(z, L); l.backward(); opt.step()
    for name, f in (('A(XW)', naive), ('AX once', once)):
        say('torch eager', name, timed(f, 10))
        try:
            s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(s):
                for _ in range(3): f()
            torch.cuda.current_stream().wait_stream(s)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g): f()
            say('torch graph', name, timed(lambda: g.replay(), 10))
        except Exception as e: say('graph failed', str(e)[:200])
    x = cp.random.randn(n, 256, dtype=cp.float32); b = cp.zeros(256, cp.float32); y = cp.empty_like(x)
    N = n*256
    t = ctimed(lambda: k['fused'](((N//4+255)//256,), (256,), (x, b, y, y, np.int64(N), np.int32(256))))
    say('own fused map of n×256', t, 'GB/s', 2*N*4/1e6/float(t.split()[0]))

@section
def transe():
    ne, nr, dim, B = 14541, 237, 100, 200*1000
    E, R = torch.randn(ne, dim, device=dev).requires_grad_(), torch.randn(nr, dim, device=dev).requires_grad_()
    h, r, t, t2 = [torch.randint(0, m, (B,), device=dev) for m in (ne, nr, ne, ne)]
    def step():
        E.grad = R.grad = None
        a = E[h] + R[r]; p = ((a-E[t])**2).sum(1); q = ((a-E[t2])**2).sum(1); l = torch.relu(1+p-q).sum(); l.backward()
    say('torch eager, 200,000 pairs', timed(step, 10))
    B = 1000; h, r, t, t2 = [x[:1000] for x in (h, r, t, t2)]
    say('torch eager, 1,000 pairs', timed(step, 10))
    key = torch.randint(0, ne, (200000,), device=dev, dtype=torch.int32)
    say('sort of 200,000 int32 keys with values', timed(lambda: torch.sort(key, stable=True), 10))

@section
def mlp():
    X = torch.randn(512, 784, device=dev); L = torch.randint(0, 10, (512,), device=dev)
    ws = [torch.randn(784, 256, device=dev).mul_(.05).requires_grad_(), torch.zeros(256, device=dev, requires_grad=True), torch.randn(256, 10, device=dev).mul_(.05).requires_grad_(), torch.zeros(10, device=dev, requires_grad=True)]
    opt = torch.optim.SGD(ws, lr=.01)
    def step():
        opt.zero_grad(set_to_none=False); l = torch.nn.functional.cross_entropy(torch.relu(X @ ws[0] + ws[1]) @ ws[2] + ws[3], L); l.backward(); opt.step()
    say('torch eager', timed(step, 50))
    s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        for _ in range(3): step()
    torch.cuda.current_stream().wait_stream(s)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g): step()
    say('torch graph', timed(lambda: g.replay(), 100))
say('done')
