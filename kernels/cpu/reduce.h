#include "mathfn.h"
#include "transpose.h"

typedef T N(vec) __attribute__((vector_size(VB)));
#define V (VB / (long)sizeof(T))

// An integer of T's size, and lanes of it that are all zeros, then all ones.
#if SINGLE
typedef int32_t N(word);
#define WIDES 2 // vectors of as many numbers in double
#else
typedef int64_t N(word);
#define WIDES 1
#endif
typedef T N(part) __attribute__((vector_size(VB / WIDES), aligned(sizeof(T)), may_alias));
typedef N(word) N(words) __attribute__((vector_size(VB)));
static const N(word) N(ends)[2 * V] = {[V ... 2 * V - 1] = -1};

typedef double N(wide) __attribute__((vector_size(VB)));
typedef int64_t N(words64) __attribute__((vector_size(VB)));

// The numbers of lanes, twice.
#define LANES(i) (i) % V, ((i) + 1) % V, ((i) + 2) % V, ((i) + 3) % V
static const N(word) N(ring)[32] = {LANES(0), LANES(4), LANES(8), LANES(12), LANES(16), LANES(20), LANES(24), LANES(28)};
#undef LANES

// N(turned) is c with its lanes moved by w.
static inline __attribute__((always_inline)) N(vec) N(turned)(N(vec) c, long w) {
	N(words) at;
	memcpy(&at, N(ring) + w, VB);
	return __builtin_shuffle(c, at);
}

// N(widened) adds the halves of a vector, in double.
static inline __attribute__((always_inline)) N(wide) N(widened)(N(vec) c) {
#if SINGLE && VB == 64
	__m512d d = _mm512_castps_pd((__m512)c); // the general form goes through memory
	return (N(wide))_mm512_add_pd(_mm512_cvtps_pd(_mm256_castpd_ps(_mm512_castpd512_pd256(d))), _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(d, 1))));
#elif SINGLE
	N(part) l, h;
	memcpy(&l, &c, VB / 2);
	memcpy(&h, (char *)&c + VB / 2, VB / 2);
	return __builtin_convertvector(l, N(wide)) + __builtin_convertvector(h, N(wide));
#else
	return c;
#endif
}

// N(across) is the sum of a vector's elements.
static inline __attribute__((always_inline)) double N(across)(N(wide) d) {
#if VB == 64
	d += __builtin_shuffle(d, (N(words64)){4, 5, 6, 7, 0, 1, 2, 3});
	d += __builtin_shuffle(d, (N(words64)){2, 3, 0, 1, 6, 7, 4, 5});
	d += __builtin_shuffle(d, (N(words64)){1, 0, 3, 2, 5, 4, 7, 6});
#elif VB == 32
	d += __builtin_shuffle(d, (N(words64)){2, 3, 0, 1});
	d += __builtin_shuffle(d, (N(words64)){1, 0, 3, 2});
#else
	d += __builtin_shuffle(d, (N(words64)){1, 0});
#endif
	return d[0];
}

static inline __attribute__((always_inline)) double N(total)(N(vec) c) { return N(across)(N(widened)(c)); }

// N(pair1) is Σ a·b, or Σ (a-b)² where diff: in T over 256 elements at a time (four chains of vectors), in double beyond.
static inline __attribute__((always_inline)) double N(pair1)(long n, int diff, const T *a, const T *b) {
	double s = 0;
#define TERM(c, at) (memcpy(&x, a + (at), VB), memcpy(&y, b + (at), VB), x = diff ? x - y : x, c += x * (diff ? x : y))
	for (long lo = 0; lo < n; lo += 256) {
		long hi = lo + 256 < n ? lo + 256 : n, i = lo;
		N(vec) c0 = {0}, c1 = {0}, c2 = {0}, c3 = {0}, x, y;
		for (; i + 4 * V <= hi; i += 4 * V) {
			TERM(c0, i);
			TERM(c1, i + V);
			TERM(c2, i + 2 * V);
			TERM(c3, i + 3 * V);
		}
		for (; i + V <= hi; i += V)
			TERM(c0, i);
		if (i < hi && n >= V) { // the last vector of elements, but for those that are counted
			N(words) m;
			memcpy(&m, N(ends) + (hi - i), VB);
			memcpy(&x, a + hi - V, VB);
			memcpy(&y, b + hi - V, VB);
			x = (N(vec))((N(words))x & m);
			y = (N(vec))((N(words))y & m);
			x = diff ? x - y : x;
			c1 += x * (diff ? x : y);
			i = hi;
		}
		s += N(total)((c0 + c1) + (c2 + c3));
		for (; i < hi; i++) {
			T d = a[i] - b[i];
			s += diff ? (double)d * d : (double)a[i] * b[i];
		}
	}
#undef TERM
	return s;
}

static inline double N(dot1)(long n, const T *a, const T *b) { return N(pair1)(n, 0, a, b); }

#define AHEAD 8      // rows that are prefetched where they are read through an index
#define STREAM 1024  // bytes that are prefetched where rows follow each other
#define AT_ONCE 64   // rows whose places are listed at a time

// N(operands) are the rows of rg_pairs: a[at[r]] and b[bt[r]], or without at and bt those that follow each other, ar and br elements apart.
typedef struct {
	long rows, size, ar, br;
	const T *a, *b;
	const int32_t *at, *bt;
	int stream; // a is read as it lies
} N(operands);

#define INLINE static inline __attribute__((always_inline))

// N(places) lists where the next rows of an operand are, from row r on, and the AHEAD rows behind them, the last one again where there are none.
INLINE void N(places)(const T *x, const int32_t *at, long apart, long size, long r, long rows, long n, const T **out) {
	long m = rows - r < n + AHEAD ? rows - r : n + AHEAD;
	if (at)
		for (long i = 0; i < m; i++)
			out[i] = x + at[r + i] * size;
	else
		for (long i = 0; i < m; i++)
			out[i] = x + (r + i) * apart;
	for (long i = m; i < n + AHEAD; i++)
		out[i] = out[m - 1];
}

INLINE N(vec) N(term)(int diff, N(vec) c, N(vec) x, N(vec) y) {
	x = diff ? x - y : x;
	return c + x * (diff ? x : y);
}

// FETCH prefetches a row of so many vectors, and the elements behind them.
#define FETCH(NV, row)                                                                      \
	_Pragma("GCC unroll 16") for (long j = 0; j < (NV * V + tail) * (long)sizeof(T); j += 64) \
		__builtin_prefetch((const char *)(row) + j)

// PAIRS(NV) is for rows of NV vectors and the elements behind them, as N(pair1) adds them up, with the loops unrolled. A row of a that
// many of b meet, one after the other, stays in registers. Rows that are not those just read are on their way to the cache.
#define PAIRS(NV)                                                                                               \
	INLINE void N(rows##NV)(const N(operands) *p, int diff, int tail, double *out) {                            \
		const T *a[AT_ONCE + AHEAD], *b[AT_ONCE + AHEAD], *last = 0;                                            \
		N(words) m = {0};                                                                                       \
		N(vec) held[NV] = {{0}}, rest = {0};                                                                    \
		long size = tail ? p->size : NV * V;                                                                    \
		if (tail)                                                                                               \
			memcpy(&m, N(ends) + (size - NV * V), VB);                                                          \
		for (long lo = 0; lo < p->rows; lo += AT_ONCE) {                                                        \
			long n = p->rows - lo < AT_ONCE ? p->rows - lo : AT_ONCE;                                           \
			if (!p->stream || p->bt) {                                                                          \
				N(places)(p->a, p->at, p->ar, size, lo, p->rows, n, a);                                         \
				N(places)(p->b, p->bt, p->br, size, lo, p->rows, n, b);                                         \
			}                                                                                                   \
			for (long r = 0; r < n; r++) {                                                                      \
				int lies = p->stream && !p->bt; /* both operands as they lie */                                 \
				const T *x = lies ? p->a + (lo + r) * size : a[r], *z = lies ? p->b + (lo + r) * p->br : b[r];  \
				N(vec) c[4] = {{0}, {0}, {0}, {0}}, y;                                                          \
				if (x != last) {                                                                                \
					last = x;                                                                                   \
					_Pragma("GCC unroll 16") for (int j = 0; j < NV; j++)                                       \
						memcpy(&held[j], x + j * V, VB);                                                        \
					if (tail)                                                                                   \
						memcpy(&rest, x + size - V, VB);                                                        \
					rest = (N(vec))((N(words))rest & m);                                                        \
				}                                                                                               \
				if (p->stream)                                                                                  \
					FETCH(NV, (const char *)x + STREAM);                                                        \
				else if (a[r + AHEAD] != a[r + AHEAD - 1])                                                      \
					FETCH(NV, a[r + AHEAD]);                                                                    \
				if (!lies && b[r + AHEAD] != b[r + AHEAD - 1])                                                  \
					FETCH(NV, b[r + AHEAD]);                                                                    \
				_Pragma("GCC unroll 16") for (int j = 0; j < NV; j++) {                                         \
					memcpy(&y, z + j * V, VB);                                                                  \
					c[j < NV / 4 * 4 ? j % 4 : 0] = N(term)(diff, c[j < NV / 4 * 4 ? j % 4 : 0], held[j], y);   \
				}                                                                                               \
				if (tail) {                                                                                     \
					memcpy(&y, z + size - V, VB);                                                               \
					c[1] = N(term)(diff, c[1], rest, (N(vec))((N(words))y & m));                                \
				}                                                                                               \
				out[lo + r] = N(total)((c[0] + c[1]) + (c[2] + c[3]));                                          \
			}                                                                                                   \
		}                                                                                                       \
	}                                                                                                           \
	static __attribute__((noinline)) void N(pairs##NV)(const N(operands) *p, int diff, double *out) { \
		if (p->size == NV * V)                                                                        \
			diff ? N(rows##NV)(p, 1, 0, out) : N(rows##NV)(p, 0, 0, out);                             \
		else                                                                                          \
			diff ? N(rows##NV)(p, 1, 1, out) : N(rows##NV)(p, 0, 1, out);                             \
	}
PAIRS(1)
PAIRS(2)
PAIRS(3)
PAIRS(4)
PAIRS(5)
PAIRS(6)
PAIRS(7)
PAIRS(8)
#undef PAIRS
#undef FETCH

// N(ahead) prefetches longer rows, or shorter ones.
INLINE void N(ahead)(const T *row, long size) {
	for (long j = 0; j < size; j += 64 / (long)sizeof(T))
		__builtin_prefetch(row + j);
}

static void N(rg_pairs)(long rows, long size, int diff, const T *a, const int32_t *at, long ar, const T *b, const int32_t *bt, long br, double *out) {
	N(operands) p = {rows, size, ar, br, a, b, at, bt, !at && ar == size && size * (long)sizeof(T) >= 64};
	switch (size / V) {
#define CASE(NV)                     \
	case NV:                         \
		N(pairs##NV)(&p, diff, out); \
		return;
		CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
	}
	for (long r = 0; r < rows; r++) {
		if (p.stream)
			N(ahead)(a + r * size + STREAM / (long)sizeof(T), size);
		if (r + AHEAD < rows && at && (r == 0 || at[r + AHEAD] != at[r + AHEAD - 1]))
			N(ahead)(a + at[r + AHEAD] * size, size);
		if (r + AHEAD < rows && bt && (r == 0 || bt[r + AHEAD] != bt[r + AHEAD - 1]))
			N(ahead)(b + bt[r + AHEAD] * size, size);
		out[r] = N(pair1)(size, diff, a + (at ? at[r] * size : r * ar), b + (bt ? bt[r] * size : r * br));
	}
}

static void N(rg_dot)(long rows, long size, const T *a, long ar, const T *b, long br, double *out) {
	N(rg_pairs)(rows, size, 0, a, 0, ar, b, 0, br, out);
}
#undef AHEAD
#undef STREAM
#undef AT_ONCE

#if SINGLE
#define OTHER double
#else
#define OTHER float
#endif
// The other type's numbers as T.
static void N(rg_convert)(long n, const OTHER *restrict x, T *restrict out) {
	for (long i = 0; i < n; i++)
		out[i] = (T)x[i];
}

#undef OTHER

static void N(rg_add_rows)(long rows, long size, const T *restrict a, double *restrict acc) {
	if (size == 1) {
		N(wide) s0 = {0}, s1 = {0};
		N(vec) x, y;
		double s = 0;
		long r = 0;
		for (; r + 2 * V <= rows; r += 2 * V) {
			memcpy(&x, a + r, VB);
			memcpy(&y, a + r + V, VB);
			s0 += N(widened)(x);
			s1 += N(widened)(y);
		}
		for (; r < rows; r++)
			s += a[r];
		acc[0] += N(across)(s0 + s1) + s;
		return;
	}
	long r = 0;
	for (; r + 4 <= rows; r += 4, a += 4 * size) // four at a time: each sum is read and written once for them
		for (long i = 0; i < size; i++)
			acc[i] = (((acc[i] + a[i]) + a[size + i]) + a[2 * size + i]) + a[3 * size + i];
	for (; r < rows; r++, a += size)
		for (long i = 0; i < size; i++)
			acc[i] += a[i];
}

static void N(rg_products)(long rows, long m, long k, long n, const T *restrict a, long ar, const T *restrict b, long br, T *restrict out, long or) {
	for (long r = 0; r < rows; r++)
		for (long i = 0; i < m; i++) {
			T *o = out + r * or + i * n;
			const T *x = a + r * ar + i * k, *y = b + r * br;
			if (n == 1) {
				o[0] = (T)N(dot1)(k, x, y);
				continue;
			}
			for (long j = 0; j < n; j++)
				o[j] = x[0] * y[j];
			for (long p = 1; p < k; p++)
				for (long j = 0; j < n; j++)
					o[j] += x[p] * y[p * n + j];
		}
}

// N(larger) is the element-wise maximum; NaN is above all numbers.
static inline __attribute__((always_inline)) N(vec) N(larger)(N(vec) m, N(vec) x) {
	N(words) k = (N(words))(x > m) | (N(words))(x != x);
	return (N(vec))(((N(words))x & k) | ((N(words))m & ~k));
}

// N(tail) makes a vector of the elements of a row that fill none and of -∞, in its last lanes where the row fills one; 0 where there are none.
static inline __attribute__((always_inline)) long N(tail)(long size, const T *a, T *t) {
	long n = size % V;
	if (n == 0)
		return 0;
	for (long j = 0; j < V; j++)
		t[j] = -INFINITY;
	if (size < V) {
		memcpy(t, a, n * sizeof(T));
		return n;
	}
	N(vec) x, none;
	N(words) m;
	memcpy(&x, a + size - V, VB);
	memcpy(&none, t, VB);
	memcpy(&m, N(ends) + n, VB);
	x = (N(vec))(((N(words))x & m) | ((N(words))none & ~m));
	memcpy(t, &x, VB);
	return n;
}

// N(behind) writes the n elements that N(tail) has made a vector of to the end of a row.
static inline __attribute__((always_inline)) void N(behind)(long size, long n, const T *t, T *out) {
	if (size < V) {
		memcpy(out, t, n * sizeof(T));
		return;
	}
	N(vec) x, y;
	N(words) m;
	memcpy(&x, t, VB);
	memcpy(&y, out + size - V, VB);
	memcpy(&m, N(ends) + n, VB);
	x = (N(vec))(((N(words))x & m) | ((N(words))y & ~m));
	memcpy(out + size - V, &x, VB);
}

// N(largest) is the maximum of n elements, a multiple of V, and of those of t where it counts.
static inline __attribute__((always_inline)) T N(largest)(long n, const T *a, long more, const T *t) {
	N(vec) c, d, x, y;
	memcpy(&c, n ? a : t, VB);
	d = c;
	long i = 0;
	for (; i + 2 * V <= n; i += 2 * V) { // two chains: each comparison waits for the one before it
		memcpy(&x, a + i, VB);
		memcpy(&y, a + i + V, VB);
		c = N(larger)(c, x);
		d = N(larger)(d, y);
	}
	if (i < n) {
		memcpy(&x, a + i, VB);
		c = N(larger)(c, x);
	}
	c = N(larger)(c, d);
	if (more) {
		memcpy(&x, t, VB);
		c = N(larger)(c, x);
	}
	for (long w = V / 2; w > 0; w /= 2)
		c = N(larger)(c, N(turned)(c, w));
	return c[0];
}

// N(sum1) adds n elements, a multiple of V, and those of t where it counts, in double.
static inline __attribute__((always_inline)) double N(sum1)(long n, const T *a, long more, const T *t) {
	N(wide) s = {0}, u = {0};
	N(vec) x, y;
	long i = 0;
	for (; i + 2 * V <= n; i += 2 * V) {
		memcpy(&x, a + i, VB);
		memcpy(&y, a + i + V, VB);
		s += N(widened)(x);
		u += N(widened)(y);
	}
	if (i < n) {
		memcpy(&x, a + i, VB);
		s += N(widened)(x);
	}
	if (more) {
		memcpy(&x, t, VB);
		u += N(widened)(x);
	}
	return N(across)(s + u);
}

// FEW columns of V rows are read as columns of V numbers, each row in a lane of its own. More are faster row by row, which
// makes one vector of a few numbers, too. That is for columns alone to decide: sums are added in another order.
#define PIECE 96 // vectors of a longer row at a time
#if SINGLE && VB == 64
#define FEW PIECE
#else
#define FEW V
#endif

#if SINGLE && VB == 64
// N(exps) is e^x with the bits of N(rexp), whose last two factors are one instruction.
INLINE __m512 N(exps)(__m512 x) {
	const __m512 whole = _mm512_set1_ps(12582912.0f);
	x = _mm512_max_ps(_mm512_set1_ps(-104.0f), _mm512_min_ps(_mm512_set1_ps(89.0f), x)); // the second where one is NaN
	__m512 k = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(1.44269504f), whole), whole);
	__m512 r = _mm512_fnmadd_ps(k, _mm512_set1_ps(0.693359375f), x), p = _mm512_set1_ps(1.0f / 5040);
	r = _mm512_fmadd_ps(k, _mm512_set1_ps(2.12194440e-4f), r);
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 720));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
	return _mm512_scalef_ps(p, k);
}
#endif

// N(exp_less) makes n numbers e^(f x - m), a multiple of V, with m the same for all, or as many as a vector has. f is a power of two.
// out may be x.
INLINE void N(exp_less)(long n, const T *x, T f, const T *m, int each, T *out) {
#if SINGLE && VB == 64
	__m512 less = each ? _mm512_loadu_ps(m) : _mm512_set1_ps(*m), times = _mm512_set1_ps(f);
	for (long i = 0; i < n; i += V)
		_mm512_storeu_ps(out + i, N(exps)(_mm512_fmsub_ps(_mm512_loadu_ps(x + i), times, less)));
#else
	const T *restrict from = x;
	T *restrict to = out, least = *m;
	if (each)
		for (long j = 0; j < n; j += V)
			for (long i = 0; i < V; i++)
				out[j + i] = N(rexp)(out[j + i] * f - m[i]);
	else if (x == out)
		for (long i = 0; i < n; i++)
			out[i] = N(rexp)(out[i] * f - least);
	else
		for (long i = 0; i < n; i++)
			to[i] = N(rexp)(from[i] * f - least);
#endif
}

// N(apart) makes e = exp(x - m) of the V rows that lie side by side in e: m is the largest number of each and s their sums.
static inline __attribute__((always_inline)) void N(apart)(long size, T *restrict e, T *restrict m, double *restrict s) {
	N(vec) c, x;
	memcpy(&c, e, VB);
	for (long j = 1; j < size; j++) {
		memcpy(&x, e + j * V, VB);
		c = N(larger)(c, x);
	}
	memcpy(m, &c, VB);
	N(wide) sum[WIDES] = {0};
	N(exp_less)(size * V, e, 1, m, 1, e);
	for (long j = 0; j < size; j++)
		for (long i = 0; i < WIDES; i++)
			sum[i] += __builtin_convertvector(*(const N(part) *)(e + (j * WIDES + i) * V / WIDES), N(wide));
	memcpy(s, sum, sizeof sum);
}

// N(sides) puts up to V rows side by side, the others zero; how many there are.
static inline __attribute__((always_inline)) long N(sides)(long rows, long size, const T *x, T *e) {
	long n = rows < V ? rows : V;
	if (n < V)
		memset(e, 0, size * VB);
	N(rg_transpose)(n, size, x, size, e, V);
	return n;
}

// N(inverse) is 1 / by where to multiply by it gives what to divide gives: by is a power of two; else 0.
static inline T N(inverse)(T by) {
	int e;
	double m = frexp(by, &e);
	return (m == 0.5 || m == -0.5) && e > -100 && e < 100 ? 1 / by : 0;
}

static void N(rg_softmax)(long rows, long size, const T *restrict x, T by, T *restrict out) {
	T t[V], e[FEW * V], m[V], inverse = N(inverse)(by);
	double s[V];
	for (long r = 0; size <= FEW && r < rows; r += V) {
		long n = N(sides)(rows - r, size, x + r * size, e);
		for (long i = 0; by != 1 && i < size * V; i++)
			e[i] /= by;
		N(apart)(size, e, m, s);
		for (long i = 0; i < V; i++)
			m[i] = (T)(1 / s[i]);
		for (long j = 0; j < size; j++)
			for (long i = 0; i < V; i++)
				e[j * V + i] *= m[i];
		N(rg_transpose)(size, n, e, V, out + r * size, size);
	}
	for (long r = 0; size > FEW && r < rows; r++) {
		T *o = out + r * size;
		const T *a = inverse > 0 ? x + r * size : o; // a row of quotients is in the first-level cache
		if (a == o)
			for (long i = 0; i < size; i++)
				o[i] = x[r * size + i] / by;
		long more = N(tail)(size, a, t), n = size - more;
		T times = a == o ? 1 : inverse, m = times * N(largest)(n, a, more, t);
		N(exp_less)(n, a, times, &m, 0, o);
		if (more)
			N(exp_less)(V, t, times, &m, 0, t);
		T f = (T)(1 / N(sum1)(n, o, more, t));
		for (long i = 0; i < n; i++)
			o[i] *= f;
		if (more) {
			for (long j = 0; j < V; j++)
				t[j] *= f;
			N(behind)(size, more, t, o);
		}
	}
}

// N(rg_softmax_grad) is the gradient of softmax, y, from that of its result, g. Of a row that one number outweighs g is taken from that
// one's, so that what is left of the others keeps its digits.
static void N(rg_softmax_grad)(long rows, long size, const T *restrict y, const T *restrict g, T by, T *restrict out) {
	T inverse = N(inverse)(by);
	for (long r = 0; r < rows; r++, y += size, g += size, out += size) {
		N(word) heavy = 0;
		for (long i = 0; i < size; i++)
			heavy |= y[i] > (T)0.5;
		const T *h = g;
		if (heavy) {
			long m = 0;
			while (!(y[m] > (T)0.5))
				m++;
			T less = g[m];
			for (long i = 0; i < size; i++)
				out[i] = g[i] - less;
			h = out;
		}
		T s = (T)N(dot1)(size, y, h);
		if (inverse != 0)
			for (long i = 0; i < size; i++)
				out[i] = y[i] * (h[i] - s) * inverse;
		else
			for (long i = 0; i < size; i++)
				out[i] = y[i] * (h[i] - s) / by;
	}
}

// N(beneath) takes the ones, e^0 of the largest number, out of n numbers e: how many there are.
INLINE double N(beneath)(long n, T *e) {
	N(word) ones = 0;
	for (long i = 0; i < n; i++) {
		N(word) one = e[i] >= 1;
		ones += one;
		e[i] = one ? 0 : e[i];
	}
	return ones;
}

static void N(rg_logsumexp)(long rows, long size, const T *restrict x, double *restrict top, double *restrict out) {
	T e[PIECE * V], t[V], m[V];
	double sums[V];
	for (long r = 0; size <= FEW && r < rows; r += V) {
		long n = N(sides)(rows - r, size, x + r * size, e);
		N(apart)(size, e, m, sums);
		for (long i = 0; i < V; i++)
			sums[i] = -1;
		for (long j = 0; j < size; j++)
			for (long i = 0; i < V; i++)
				sums[i] += e[j * V + i];
		for (long i = 0; i < n; i++) {
			double s = sums[i];
			if (s < 0.5) { // the ones apart
				s = -1;
				double rest = 0;
				for (long j = 0; j < size; j++)
					if (e[j * V + i] >= 1)
						s++;
					else
						rest += e[j * V + i];
				s += rest;
			}
			top[r + i] = m[i];
			out[r + i] = m[i] - m[i] == 0 ? log1p(s) : 0;
		}
	}
	for (long r = 0; size > FEW && r < rows; r++) {
		const T *a = x + r * size;
		long more = N(tail)(size, a, t), n = size - more;
		T m = N(largest)(n, a, more, t);
		double s = 0, ones = -1;
		for (long lo = 0; lo < n; lo += PIECE * V) {
			long k = n - lo < PIECE * V ? n - lo : PIECE * V;
			N(exp_less)(k, a + lo, 1, &m, 0, e);
			ones += N(beneath)(k, e);
			s += N(sum1)(k, e, 0, t);
		}
		if (more) {
			N(exp_less)(V, t, 1, &m, 0, t);
			ones += N(beneath)(V, t);
		}
		s += N(sum1)(0, e, more, t);
		top[r] = m;
		out[r] = m - m == 0 ? log1p(s + ones) : 0;
	}
}
#undef V
#undef FEW
#undef PIECE
#undef WIDES
#undef INLINE
