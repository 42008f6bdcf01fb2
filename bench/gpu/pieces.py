"""What a graphics processor takes for sums by group that are cut into pieces, beside PyTorch.
docs/adr/0021-sums-on-a-gpu.md has the figures.

usage: python3 pieces.py    (needs PyTorch and CuPy; about a minute)
"""
from common import *

SRC = r'''
template <class A, int U> __device__ __forceinline__ void piece(const int* from, const int* target, const int* col, const float* w, const float* x, float* y, double* part, int width, int pieces) {
  int lanes = width / 4;                 // threads a piece: one float4 each
  int p = blockIdx.x * blockDim.y + threadIdx.y, c = threadIdx.x * 4;
  if (p >= pieces || threadIdx.x >= lanes) return;
  A a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  int e = from[p], to = from[p + 1], t = target[p];
  const float4* X = (const float4*)x + threadIdx.x;
  for (; e + U <= to; e += U) {
    float4 b[U]; float f[U];
    #pragma unroll
    for (int k = 0; k < U; k++) { f[k] = __ldg(w + e + k); b[k] = __ldg(X + (long long)__ldg(col + e + k) * lanes); }
    #pragma unroll
    for (int k = 0; k < U; k++) { a0 += (A)f[k] * b[k].x; a1 += (A)f[k] * b[k].y; a2 += (A)f[k] * b[k].z; a3 += (A)f[k] * b[k].w; }
  }
  for (; e < to; e++) { float f = __ldg(w + e); float4 b = __ldg(X + (long long)__ldg(col + e) * lanes); a0 += (A)f * b.x; a1 += (A)f * b.y; a2 += (A)f * b.z; a3 += (A)f * b.w; }
  if (t >= 0) ((float4*)(y + (long long)t * width))[threadIdx.x] = make_float4(a0, a1, a2, a3);
  else { double* q = part + (long long)(-1 - t) * width + c; q[0] = a0; q[1] = a1; q[2] = a2; q[3] = a3; }
}
#define P(name, A, U) extern "C" __global__ void name(const int* from, const int* target, const int* col, const float* w, const float* x, float* y, double* part, int width, int pieces) { piece<A, U>(from, target, col, w, x, y, part, width, pieces); }
P(f4, float, 4) P(f8, float, 8) P(d4, double, 4) P(d8, double, 8)
extern "C" __global__ void add(const int* row, const int* first, const double* part, float* y, int width, int rows) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  int r = i / width, c = i % width;
  if (r >= rows) return;
  double s = 0;
  for (int q = first[r]; q < first[r + 1]; q++) s += part[(long long)q * width + c];
  y[(long long)row[r] * width + c] = s;
}
// sum of weighted factors with the dot inside: rank 64; 16 threads a piece, float4 each
extern "C" __global__ void side(const int* from, const int* target, const int* rowof, const int* other, const float* r, const float* u, const float* v, float* g, double* part, double* loss, int pieces) {
  int p = blockIdx.x * blockDim.y + threadIdx.y;
  bool on = p < pieces; if (!on) p = pieces - 1;
  float4 a = __ldg((const float4*)(u + (long long)rowof[p] * 64) + threadIdx.x);
  float4 g4 = make_float4(0, 0, 0, 0); double l = 0;
  int e = from[p], to = from[p + 1], t = target[p];
  for (int n = 0; ; n += 4) {
    bool any = e + n < to;
    if (!__any_sync(~0u, any)) break;
    float4 b[4]; float d[4]; 
    #pragma unroll
    for (int k = 0; k < 4; k++) { int i = e + n + k; bool ok = i < to; b[k] = ok ? __ldg((const float4*)(v + (long long)__ldg(other + i) * 64) + threadIdx.x) : make_float4(0, 0, 0, 0); }
    #pragma unroll
    for (int k = 0; k < 4; k++) d[k] = a.x * b[k].x + a.y * b[k].y + a.z * b[k].z + a.w * b[k].w;
    #pragma unroll
    for (int m = 8; m; m >>= 1) for (int k = 0; k < 4; k++) d[k] += __shfl_xor_sync(~0u, d[k], m);
    #pragma unroll
    for (int k = 0; k < 4; k++) { int i = e + n + k; if (i < to) { d[k] -= __ldg(r + i); l += (double)d[k] * d[k]; float f = 2 * d[k]; g4.x += f * b[k].x; g4.y += f * b[k].y; g4.z += f * b[k].z; g4.w += f * b[k].w; } }
  }
  if (!on) return;
  if (t >= 0) ((float4*)(g + (long long)t * 64))[threadIdx.x] = g4;
  else { double* q = part + (long long)(-1 - t) * 64 + threadIdx.x * 4; q[0] = g4.x; q[1] = g4.y; q[2] = g4.z; q[3] = g4.w; }
  if (threadIdx.x == 0) loss[p] = l;
}
// logistic regression, 25 threads of float4 a row are awkward: a warp takes a row, 25 lanes load float4
extern "C" __global__ void logreg4(const float* X, const float* y, const float* w, double* part, int n, int per) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  float4 z = make_float4(0, 0, 0, 0), W = lane < 25 ? __ldg((const float4*)w + lane) : z;
  double g0 = 0, g1 = 0, g2 = 0, g3 = 0, loss = 0;
  int lo = blockIdx.x * per, hi = min(n, lo + per);
  for (int r0 = lo + warp * 4; r0 < hi; r0 += warps * 4) {
    float4 a[4]; float d[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) a[k] = lane < 25 && r0 + k < hi ? __ldcs((const float4*)(X + (long long)(r0 + k) * 100) + lane) : z;
    #pragma unroll
    for (int k = 0; k < 4; k++) d[k] = a[k].x * W.x + a[k].y * W.y + a[k].z * W.z + a[k].w * W.w;
    #pragma unroll
    for (int m = 16; m; m >>= 1) for (int k = 0; k < 4; k++) d[k] += __shfl_xor_sync(~0u, d[k], m);
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, sl = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++) if (r0 + k < hi) {
      float t = __ldg(y + r0 + k), p = 1 / (1 + expf(-d[k])), e = p - t;
      s0 += e * a[k].x; s1 += e * a[k].y; s2 += e * a[k].z; s3 += e * a[k].w; sl += fmaxf(d[k], 0) - d[k] * t + log1pf(expf(-fabsf(d[k])));
    }
    g0 += s0; g1 += s1; g2 += s2; g3 += s3; loss += sl;
  }
  __shared__ double sum[8][104];
  if (lane < 25) { sum[warp][lane * 4] = g0; sum[warp][lane * 4 + 1] = g1; sum[warp][lane * 4 + 2] = g2; sum[warp][lane * 4 + 3] = g3; }
  if (lane == 0) sum[warp][100] = loss;
  __syncthreads();
  for (int i = threadIdx.x; i < 101; i += blockDim.x) { double s = 0; for (int k = 0; k < warps; k++) s += sum[k][i]; part[(long long)blockIdx.x * 101 + i] = s; }
}
extern "C" __global__ void columns(const double* part, double* out, int rows, int width) {
  __shared__ double s[256];
  double a = 0;
  for (int r = threadIdx.x; r < rows; r += 256) a += part[(long long)r * width + blockIdx.x];
  s[threadIdx.x] = a; __syncthreads();
  for (int k = 128; k; k >>= 1) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
'''
mod = cp.RawModule(code=SRC, options=('-std=c++17',))
k = {n: mod.get_function(n) for n in ['f4', 'f8', 'd4', 'd8', 'add', 'side', 'logreg4', 'columns']}
for n in k: say(n, 'registers', k[n].num_regs, 'local', k[n].local_size_bytes)

def pieces(start, longest):
    n = len(start)-1; length = np.diff(start)
    cnt = np.maximum(1, -(-length // longest)); first = np.zeros(n+1, np.int64); np.cumsum(cnt, out=first[1:])
    row = np.repeat(np.arange(n), cnt); k_ = np.arange(first[-1]) - first[row]
    lo = start[row] + k_*longest; frm = np.append(lo, start[-1]).astype(np.int32)
    many = cnt > 1; pos = np.cumsum(np.where(many[row], 1, 0))-1
    target = np.where(many[row], -1-pos, row).astype(np.int32)
    rows = np.nonzero(many)[0].astype(np.int32); f = np.zeros(len(rows)+1, np.int32); np.cumsum(cnt[rows], out=f[1:])
    return cp.asarray(frm), cp.asarray(target), cp.asarray(row.astype(np.int32)), cp.asarray(rows), cp.asarray(f), int(f[-1]), int(first[-1])


@section
def spmm():
    start, col, w, n = graph(); say('entries', len(col), 'largest row', np.diff(start).max())
    s, c, v = cp.asarray(start), cp.asarray(col), cp.asarray(w)
    import cupyx.scipy.sparse as sp
    A = sp.csr_matrix((v, c, s), shape=(n, n))
    At = torch.sparse_csr_tensor(torch.from_numpy(start), torch.from_numpy(col), torch.from_numpy(w), (n, n)).to(dev)
    for width in (40, 64, 128, 256):
        x = cp.random.randn(n, width, dtype=cp.float32); y = cp.empty((n, width), cp.float32); xt = torch.from_dlpack(x)
        say('width', width); say('  torch sparse_csr @ dense', timed(lambda: At @ xt))
        lanes = width//4
        for longest in (64, 128, 256):
            frm, tgt, rowof, rows, f, nparts, np_ = pieces(start, longest)
            part = cp.empty((max(nparts, 1), width))
            for name in ('f4', 'f8', 'd4', 'd8'):
                by = max(1, 128//lanes)
                def run():
                    k[name](((np_+by-1)//by,), (lanes, by), (frm, tgt, c, v, x, y, part, np.int32(width), np.int32(np_)))
                    if len(rows): k['add'](((len(rows)*width+127)//128,), (128,), (rows, f, part, y, np.int32(width), np.int32(len(rows))))
                t = ctimed(run); ref = A[:2000] @ x.astype(cp.float64)
                say('  own', name, 'pieces of', longest, t, 'error %.2g' % float(cp.abs(y[:2000]-ref).max()/cp.abs(ref).max()))

@section
def nnmf():
    rng = np.random.default_rng(2); users, items, m = 200000, 20000, 10_000_000
    u = rng.integers(0, users, m).astype(np.int32); i = (items*rng.random(m)**2).astype(np.int32); r = rng.random(m).astype(np.float32)
    U, V = cp.random.rand(users, 64, dtype=cp.float32), cp.random.rand(items, 64, dtype=cp.float32)
    def one(a, b, n, P, Q, longest):
        o = np.lexsort((b, a)); st = np.zeros(n+1, np.int32); np.cumsum(np.bincount(a, minlength=n), out=st[1:])
        frm, tgt, rowof, rows, f, nparts, np_ = pieces(st, longest)
        oth, rr, g, part, loss = cp.asarray(b[o]), cp.asarray(r[o]), cp.empty((n, 64), cp.float32), cp.empty((max(nparts, 1), 64)), cp.empty(np_)
        def run():
            k['side'](((np_+7)//8,), (16, 8), (frm, tgt, rowof, oth, rr, P, Q, g, part, loss, np.int32(np_)))
            if len(rows): k['add'](((len(rows)*64+127)//128,), (128,), (rows, f, part, g, np.int32(64), np.int32(len(rows))))
        return run, g, loss
    for longest in (64, 256, 1024):
        fu, gu, lu = one(u, i, users, U, V, longest); fv, gv, lv = one(i, u, items, V, U, longest)
        say('pieces of', longest, 'by user', ctimed(fu)); say('   by item', ctimed(fv)); say('   both', ctimed(lambda: (fu(), fv())), float(lu.sum()), float(lv.sum()))

@section
def logistic():
    n = 1_000_000
    X = cp.random.randn(n, 100, dtype=cp.float32); y = (cp.random.rand(n) > .5).astype(cp.float32); w = cp.random.randn(100, dtype=cp.float32)*.1
    for threads in (128, 256):
        for per in (128, 256, 512, 1024):
            b = (n+per-1)//per; part = cp.empty((b, 101)); out = cp.empty(101)
            def run():
                k['logreg4']((b,), (threads,), (X, y, w, part, np.int32(n), np.int32(per)))
                k['columns']((101,), (256,), (part, out, np.int32(b), np.int32(101)))
            say('own pass and sum, threads', threads, 'rows a block', per, ctimed(run))
    d = X.astype(cp.float64) @ w.astype(cp.float64); p = 1/(1+cp.exp(-d)); g = (p-y) @ X.astype(cp.float64)
    say('error', float(cp.abs(out[:100]-g).max()/cp.abs(g).max()))

@section
def torch_index():
    # sums by a sorted index the fast ways of torch
    m, n, width = 2_000_000, 100_000, 64
    idx = torch.sort(torch.randint(0, n, (m,), device=dev)).values; x = torch.randn(m, width, device=dev); out = torch.zeros(n, width, device=dev)
    say('torch index_add 2M x 64', timed(lambda: out.index_add_(0, idx, x), 5))
    lens = torch.bincount(idx, minlength=n)
    say('torch segment_reduce', timed(lambda: torch.segment_reduce(x, 'sum', lengths=lens, unsafe=True), 5))
say('done')
