// What generated kernels call: element-wise kernels, whose Go code stands in package kernels, and draws.

// Four numbers that lie one behind the other, read and written 16 bytes at a time.
template <class T> struct alignas(16) k_four { T x[4]; };
template <class T> __device__ k_four<T> k_load(const T *from) { return *(const k_four<T> *) from; }
template <class T> __device__ void k_store(T *to, k_four<T> x) { *(k_four<T> *) to = x; }

__device__ double k_fma(double x, double y, double z) { return fma(x, y, z); }
__device__ float k_fma(float x, float y, float z) { return fmaf(x, y, z); }
__device__ double k_fabs(double x) { return fabs(x); }
__device__ float k_fabs(float x) { return fabsf(x); }
__device__ double k_exp(double x) { return exp(x); }
__device__ float k_exp(float x) { return expf(x); }
__device__ double k_expm1(double x) { return expm1(x); }
__device__ float k_expm1(float x) { return expm1f(x); }
__device__ double k_ln(double x) { return log(x); }
__device__ float k_ln(float x) { return logf(x); }
__device__ double k_log1p(double x) { return log1p(x); }
__device__ float k_log1p(float x) { return log1pf(x); }
__device__ double k_tanh(double x) { return tanh(x); }
__device__ float k_tanh(float x) { return tanhf(x); }
__device__ double k_sqrt(double x) { return sqrt(x); }
__device__ float k_sqrt(float x) { return sqrtf(x); }

template <class T> __device__ T k_neg(T x) { return -x; }
template <class T> __device__ T k_abs(T x) { return k_fabs(x); }
template <class T> __device__ T k_square(T x) { return x * x; }
template <class T> __device__ T k_relu(T x) { return x <= 0 ? 0 : x; }
template <class T> __device__ T k_sign(T x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

template <class T> __device__ T k_sigmoid(T x)
{
	T e = k_exp(-k_fabs(x));

	return x >= 0 ? 1 / (1 + e) : x < 0 ? e / (1 + e) : x;
}

template <class T> __device__ T k_softplus(T x) { return (x > 0 ? x : x <= 0 ? 0 : x) + k_log1p(k_exp(-k_fabs(x))); }
template <class T> __device__ T k_silu(T x) { return x * k_sigmoid(x); }

template <class T> __device__ T k_sigmoid_slope(T x)
{
	T e = k_exp(-k_fabs(x));

	return e / (1 + e) / (1 + e);
}

template <class T> __device__ T k_sech2(T x) { return 4 * k_sigmoid_slope(2 * x); }

// The square is computed in two parts, since the exponential multiplies its error.
__device__ double k_bell(double x, double c)
{
	x = fabs(x);
	if (x > 64)
		x = 64;
	double hi = __longlong_as_double(__double_as_longlong(x) & ~((1ll << 27) - 1));

	return exp(-c * hi * hi) * exp(-c * (x - hi) * (x + hi));
}

template <class T> __device__ T k_gauss(T x) { return (T) k_bell(x, 1); }
template <class T> __device__ T k_normal_pdf(T x) { return (T) (k_bell(x, 0.5) * 0.3989422804014327); }

__device__ double k_normal_cdf(double x)
{
	double z = -x * 0.7071067811865476, lo = fma(-x, 0.7071067811865476, -z) - x * -4.833646656726457e-17,
		y = erfc(z) / 2;

	return fabs(x) < 40 ? y - k_bell(z, 1) * lo * 0.5641895835477563 : y;
}

template <class T> __device__ T k_add(T x, T y) { return x + y; }
template <class T> __device__ T k_sub(T x, T y) { return x - y; }
template <class T> __device__ T k_mul(T x, T y) { return x * y; }
template <class T> __device__ T k_div(T x, T y) { return x / y; }
template <class T> __device__ T k_maximum(T x, T y) { return x != x ? x : y != y ? y : x > y ? x : y > x ? y : x + (x == 0 && 1 / x < 0 ? y : 0); }
template <class T> __device__ T k_minimum(T x, T y) { return -k_maximum(-x, -y); }
template <class T> __device__ T k_greater(T x, T y) { return x > y; }
template <class T> __device__ T k_eq_mask(T x, T y) { return x == y; }
template <class T> __device__ T k_ratio(T x, T y) { return y == 0 ? 0 : x / y; }
template <class T> __device__ T k_select(T m, T x, T y) { return m != 0 ? x : y; }

template <class T> __device__ T k_bce_slope(T z, T y)
{
	T e = k_exp(-k_fabs(z));

	return (z < 0 ? (1 - y) * e - y : 1 - y - y * e) / (1 + e);
}

__device__ double k_bce_with_logits(double z, double y)
{
	return z > 0 ? z * (1 - y) + log1p(exp(-z)) : log1p(exp(z)) - z * y;
}

__device__ double k_huber(double x, double d) { return fabs(x) > d ? d * (fabs(x) - d / 2) : x * x / 2; }
__device__ double k_softsign(double x) { return isinf(x) ? (x > 0 ? 1 : -1) : x / (1 + fabs(x)); }
__device__ double k_elu(double x) { return x > 0 ? x : expm1(x); }
__device__ double k_gelu(double x) { return x * k_normal_cdf(x); }
__device__ double k_asin(double x) { return atan2(x, sqrt((1 - x) * (1 + x))); }
__device__ double k_acos(double x) { return 2 * atan2(sqrt(1 - x), sqrt(1 + x)); }
__device__ double k_asin_slope(double x) { return 1 / sqrt((1 - x) * (1 + x)); }
__device__ double k_atan_slope(double x) { return fabs(x) > 1 ? (1 / x) * (1 / x) / (1 + (1 / x) * (1 / x)) : 1 / (1 + x * x); }

// k_compare is -1, 0 or 1; NaN equals itself and is above all numbers.
__device__ int k_compare(double x, double y)
{
	return x < y ? -1 : x > y ? 1 : x == y ? 0 : x != x ? (y != y ? 0 : 1) : -1;
}

__device__ int k_compare(long long x, long long y) { return x < y ? -1 : x > y; }

// k_mix is the finaliser of SplitMix64.
__device__ unsigned long long k_mix(unsigned long long h)
{
	h += 0x9e3779b97f4a7c15ull;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 27) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

struct k_words {
	unsigned w[4];
};

// k_philox is block i of a stream, Philox4x32-10.
__device__ k_words k_philox(long long seed, unsigned long long key, unsigned long long i)
{
	unsigned k0 = (unsigned) seed, k1 = (unsigned) ((unsigned long long) seed >> 32);
	k_words c = {{(unsigned) i, (unsigned) (i >> 32), (unsigned) key, (unsigned) (key >> 32)}};

	for (int round = 0; round < 10; round++) {
		unsigned hi0 = __umulhi(0xD2511F53u, c.w[0]), lo0 = 0xD2511F53u * c.w[0], hi1 = __umulhi(0xCD9E8D57u, c.w[2]),
			lo1 = 0xCD9E8D57u * c.w[2];

		c = k_words{{hi1 ^ c.w[1] ^ k0, lo1, hi0 ^ c.w[3] ^ k1, lo0}};
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return c;
}

// k_bits are the upper 53 of 64 bits.
__device__ double k_bits(unsigned hi, unsigned lo)
{
	return (double) (long long) (((unsigned long long) hi << 32 | lo) >> 11);
}

__device__ double k_uniform(long long seed, unsigned long long key, unsigned long long i)
{
	k_words c = k_philox(seed, key, i);

	return k_bits(c.w[0], c.w[1]) * 0x1p-53;
}

// k_normal is a draw of the standard normal distribution (Box-Muller).
__device__ double k_normal(long long seed, unsigned long long key, unsigned long long i)
{
	k_words c = k_philox(seed, key, i);
	double u = (k_bits(c.w[0], c.w[1]) + 1) * 0x1p-53, v = k_bits(c.w[2], c.w[3]) * 0x1p-53;

	return sqrt(-2 * log(u)) * cospi(2 * v);
}

// k_kept reports whether a mask of dropout keeps an element.
__device__ bool k_kept(long long seed, unsigned long long key, int i, unsigned limit)
{
	k_words c = k_philox(seed, key, i / 4);

	return (i & 2 ? i & 1 ? c.w[3] : c.w[2] : i & 1 ? c.w[1] : c.w[0]) >= limit;
}

// k_fail notes that something is an error: the host finds out what.
__device__ void k_fail(unsigned long long *at, unsigned long long what) { atomicMin(at, what); }

// k_scale is a power of two, 1 for usual numbers, with which squares of numbers up to most stay in range.
__device__ double k_scale(double most) { return most > 1e150 ? 0x1p-540 : most < 1e-140 ? 0x1p540 : 1; }

// k_length is the Euclidean norm of a lane.
template <class T> __device__ double k_length(const T *x, int n)
{
	double most = 0, sum = 0;

	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		most = fmax(most, fabs((double) x[i]));
	double scale = k_scale(most);
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		sum += (double) x[i] * scale * ((double) x[i] * scale);
	return sqrt(sum) / scale;
}

template <class T> __device__ void k_l2_normalize(const T *x, T *out, int n)
{
	double length = k_length(x, n);

	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		out[i] = length == 0 ? 0 : (T) ((double) x[i] / length);
}

template <class T> __device__ void k_l2_length(const T *x, T *out, int n) { out[0] = (T) k_length(x, n); }

template <class T> __device__ void k_l2_normalize_slope(const T *x, const T *g, T *out, int n)
{
	double length = k_length(x, n), sum = 0;
	int m = 0;

	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		out[i] = 0;
	if (length == 0)
		return;
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		if (fabs((double) x[i]) > fabs((double) x[m]) || x[i] != x[i])
			m = i;
	double r = (double) g[m] / ((double) x[m] / length);
	_Pragma("unroll 4") for (int i = 0; i < n; i++) {
		double y = (double) x[i] / length;

		if (i != m)
			sum += y * ((double) g[i] - y * r);
	}
	_Pragma("unroll 4") for (int i = 0; i < n; i++) {
		double y = (double) x[i] / length, h = i == m ? 0 : (double) g[i] - y * r;

		out[i] = (T) ((h - y * sum) / length);
	}
}

// k_center says how a lane is centered: its numbers less the mean, which has two parts, times a scale.
struct k_center {
	double mean, rest, scale, sd;
};

template <class T> __device__ double k_centered(const T *x, int i, k_center c)
{
	return ((double) x[i] - c.mean - c.rest) * c.scale;
}

template <class T> __device__ k_center k_centers(const T *x, int n)
{
	k_center c = {0, 0, 1, 0};
	double most = 0, sum = 0;

	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		c.mean += (double) x[i] / n;
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		c.rest += ((double) x[i] - c.mean) / n;
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		most = fmax(most, fabs(k_centered(x, i, c)));
	c.scale = fmin(1, k_scale(most));
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		sum += k_centered(x, i, c) * k_centered(x, i, c);
	c.sd = sqrt(sum / n + 1e-5 * c.scale * c.scale);
	return c;
}

template <class T> __device__ void k_layer_norm(const T *x, T *out, int n)
{
	k_center c = k_centers(x, n);

	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		out[i] = (T) (k_centered(x, i, c) / c.sd);
}

template <class T> __device__ void k_layer_norm_deviation(const T *x, T *out, int n)
{
	k_center c = k_centers(x, n);

	out[0] = (T) (c.sd / c.scale);
}

// Of g less a line in y through two of its elements, far apart, what is orthogonal to 1 and to y is the same.
template <class T> __device__ void k_layer_norm_slope(const T *x, const T *g, T *out, int n)
{
	k_center c = k_centers(x, n);
	double most = 0, sum = 0, mean = 0, along = 0, left = 0;
	int m = 0, k = 0;

	_Pragma("unroll 4") for (int i = 0; i < n; i++) {
		most = fmax(most, fabs(k_centered(x, i, c)));
		mean += (double) g[i] / n;
	}
	double scale = k_scale(most);
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		sum += k_centered(x, i, c) * scale * (k_centered(x, i, c) * scale);
	double length = sqrt(sum) / scale;
	if (length == 0) {
		_Pragma("unroll 4") for (int i = 0; i < n; i++)
			out[i] = (T) (((double) g[i] - mean) / c.sd * c.scale);
		return;
	}
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		if (fabs(k_centered(x, i, c)) > fabs(k_centered(x, m, c)))
			m = i;
	double ym = k_centered(x, m, c) / length;
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		if (fabs(k_centered(x, i, c) / length - ym) > fabs(k_centered(x, k, c) / length - ym))
			k = i;
	double slope = ((double) g[m] - (double) g[k]) / (ym - k_centered(x, k, c) / length);
	mean = 0;
	_Pragma("unroll 4") for (int i = 0; i < n; i++) {
		double y = k_centered(x, i, c) / length, d = (double) g[i] - (double) g[m],
			h = i == k || i == m ? 0 : d - slope * (y - ym);

		along += y * d;
		mean += h / n;
		left += h * y;
	}
	along *= 1e-5 * c.scale * c.scale / (c.sd * c.sd);
	_Pragma("unroll 4") for (int i = 0; i < n; i++) {
		double y = k_centered(x, i, c) / length, d = (double) g[i] - (double) g[m],
			h = i == k || i == m ? 0 : d - slope * (y - ym);

		out[i] = (T) ((h - mean - y * left + y * along) / c.sd * c.scale);
	}
}

template <class T> __device__ void k_softmax_center(const T *x, const T *g, T *out, int n)
{
	double total = 0, sum = 0;
	int m = 0;

	_Pragma("unroll 4") for (int i = 1; i < n; i++)
		if (x[m] == x[m] && (x[i] > x[m] || x[i] != x[i]))
			m = i;
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		total += exp((double) x[i] - (double) x[m]);
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		sum += exp((double) x[i] - (double) x[m]) / total * ((double) g[i] - (double) g[m]);
	_Pragma("unroll 4") for (int i = 0; i < n; i++)
		out[i] = (T) (((double) g[i] - (double) g[m]) - sum);
}

// The Euclidean norm of numbers, computed by a block; memory has two numbers for each thread. If squares overflow or
// vanish, the numbers are first divided by the largest.
template <class T> __device__ double k_norm(const T *x, int n, double *memory)
{
	double sum = 0, most = 0;

	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		sum += (double) x[i] * (double) x[i];
		most = k_maximum(most, fabs((double) x[i]));
	}
	memory[2 * threadIdx.x] = sum;
	memory[2 * threadIdx.x + 1] = most;
	__syncthreads();
	for (int i = sum = most = 0; i < blockDim.x; i++) {
		sum += memory[2 * i];
		most = k_maximum(most, memory[2 * i + 1]);
	}
	__syncthreads();
	if (sum >= 1e-280 && !isinf(sum) || most == 0 || isinf(most))
		return sqrt(sum);
	sum = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		sum += (double) x[i] / most * ((double) x[i] / most);
	memory[threadIdx.x] = sum;
	__syncthreads();
	for (int i = sum = 0; i < blockDim.x; i++)
		sum += memory[i];
	__syncthreads();
	return most * sqrt(sum);
}

// The nearest nonnegative chunk of sum 1 is what exceeds a level. The level rises until it is that of the numbers above
// it (Michelot, J. Optim. Theory Appl. 50, 1986).
template <class T> __device__ void k_simplex(T *x, int n)
{
	double level = 0;
	int above = -1;

	for (;;) {
		double sum = 0;
		int many = 0;

		for (int i = 0; i < n; i++)
			if (above < 0 || (double) x[i] > level) {
				sum += (double) x[i];
				many++;
			}
		if (above >= 0 && many >= above || many == 0) // more only by rounding
			break;
		above = many;
		level = (sum - 1) / many;
	}
	for (int i = 0; i < n; i++)
		x[i] = (T) k_maximum((double) x[i] - level, 0.0);
}

// Whether something has been found that one of the flags notes.
__device__ bool k_found(const unsigned long long *flags, int n)
{
	for (int i = 0; i < n; i++)
		if (flags[i] != ~0ull)
			return true;
	return false;
}

// Products of matrices: tiles of 64 by 64 numbers, each computed by a block of 128 threads, of which each has 8 by 4. A
// piece is a sum of terms; it is a result, or a part of one in double precision.
template <class T> struct k_product {
	const T *x, *y;
	T *out;
	unsigned char *valid;
	char *partials;
	long long m, n, k, counts;
	const int *row_x, *row_y, *from, *to, *first, *last, *dest;
};

template <class T, bool AT, bool BT> __device__ void k_tile(const k_product<T> &p, T *memory, long long task)
{
	const long long down = (p.m + 63) / 64, across = (p.n + 63) / 64;
	const long long piece = task / (down * across), at = task % (down * across);
	const long long i0 = at / across * 64, j0 = at % across * 64, to = p.dest[piece];
	const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
	T *const a = memory, *const b = memory + 16 * 68;
	T sum[8][4] = {};

	for (int t = p.first[piece]; t < p.last[piece]; t++) {
		const T *const x = p.x + p.row_x[t] * p.m * p.k, *const y = p.y + p.row_y[t] * p.k * p.n;

		for (long long k0 = p.from[t]; k0 < p.to[t]; k0 += 16) {
			const int deep = (int) (p.to[t] - k0 < 16 ? p.to[t] - k0 : 16);

			_Pragma("unroll") for (int e = threadIdx.x; e < 1024; e += 128) {
				const int i = AT ? e % 64 : e / 16, q = AT ? e / 64 : e % 16;

				a[q * 68 + i] = i0 + i < p.m && q < deep ? x[AT ? (k0 + q) * p.m + i0 + i : (i0 + i) * p.k + k0 + q] : 0;
			}
			_Pragma("unroll") for (int e = threadIdx.x; e < 1024; e += 128) {
				const int j = BT ? e / 16 : e % 64, q = BT ? e % 16 : e / 64;

				b[q * 68 + j] = j0 + j < p.n && q < deep ? y[BT ? (j0 + j) * p.k + k0 + q : (k0 + q) * p.n + j0 + j] : 0;
			}
			__syncthreads();
			_Pragma("unroll") for (int q = 0; q < 16; q++) {
				const k_four<T> lo = k_load(a + q * 68 + ty * 8), hi = k_load(a + q * 68 + ty * 8 + 4),
					right = k_load(b + q * 68 + tx * 4);

				_Pragma("unroll") for (int i = 0; i < 4; i++)
					_Pragma("unroll") for (int j = 0; j < 4; j++) {
						sum[i][j] = k_fma(lo.x[i], right.x[j], sum[i][j]);
						sum[i + 4][j] = k_fma(hi.x[i], right.x[j], sum[i + 4][j]);
					}
			}
			__syncthreads();
		}
	}
	_Pragma("unroll") for (int r = 0; r < 8; r++)
		_Pragma("unroll") for (int c = 0; c < 4; c++) {
			const long long i = i0 + ty * 8 + r, j = j0 + tx * 4 + c;

			if (i >= p.m || j >= p.n)
				continue;
			if (to >= 0)
				p.out[(to * p.m + i) * p.n + j] = sum[r][c];
			else
				((double *) p.partials)[((-1 - to) * p.m + i) * p.n + j] = sum[r][c];
		}
	if (at > 0 || threadIdx.x > 0)
		return;
	if (to < 0)
		((long long *) (p.partials + p.counts))[-1 - to] = 1;
	else if (p.valid)
		p.valid[to] = p.first[piece] < p.last[piece];
}

// What cuBLASLt has made of products: parts of sums, of so many numbers each. They are added in double precision, in
// order; dest says to which result. A sum that does not end here is kept (dest < 0); one that goes on begins with what
// the launch before has kept.
template <class T> __device__ void k_parts(char *partials, long long before, long long keep, T *out, const int *dest,
	const int *first, const int *last, const int *goes_on, long long n, long long size)
{
	const T *const parts = (const T *) partials;
	const double *const was = (const double *) (partials + before);
	double *const kept = (double *) (partials + keep);

	for (long long e = (long long) blockIdx.x * blockDim.x + threadIdx.x; e < n * size;
		e += (long long) gridDim.x * blockDim.x) {
		const long long i = e / size, j = e - i * size;
		double sum = goes_on[i] ? was[j] : 0;

		for (int k = first[i]; k < last[i]; k++)
			sum += (double) parts[k * size + j];
		if (dest[i] < 0)
			kept[j] = sum;
		else
			out[dest[i] * size + j] = (T) sum;
	}
}

// How many nodes of a level of sums make one of the next (fan in frames.go).
static constexpr int k_fan = 8;

// k_tree sums nodes lo to hi of a level of n nodes, number j of size of each. Behind the level lie those above it, of
// which there are so many with it: each node of one is the sum of eight of the one below.
template <class T> __device__ T k_tree(const T *x, long long n, long long levels, long long lo, long long hi, int size, int j)
{
	T sum = 0;

	for (;; levels--) {
		bool all = levels <= 1 || hi - lo <= 2 * k_fan;
		long long up = all ? hi : (lo + k_fan - 1) / k_fan * k_fan, down = all ? hi : hi / k_fan * k_fan;

		for (; lo < up; lo++)
			sum += x[lo * size + j];
		for (long long i = down; i < hi; i++)
			sum += x[i * size + j];
		if (all)
			return sum;
		x += n * size;
		n = (n + k_fan - 1) / k_fan;
		lo = up / k_fan;
		hi = down / k_fan;
	}
}
