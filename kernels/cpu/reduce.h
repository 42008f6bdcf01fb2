#include "mathfn.h"

typedef T N(vec) __attribute__((vector_size(VB)));
#define V (VB / (long)sizeof(T))

// N(total) is the sum of a vector's elements, in double.
static inline __attribute__((always_inline)) double N(total)(N(vec) c) {
	double h[V];
	for (long j = 0; j < V; j++)
		h[j] = c[j];
	for (long w = V / 2; w > 0; w /= 2)
		for (long j = 0; j < w; j++)
			h[j] += h[j + w];
	return h[0];
}

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

static void N(rg_dot)(long rows, long size, const T *a, long ar, const T *b, long br, double *out) {
	for (long r = 0; r < rows; r++)
		out[r] = N(dot1)(size, a + r * ar, b + r * br);
}

#define AHEAD 8 // rows that are prefetched where they are read through an index

static inline __attribute__((always_inline)) void N(pairs)(long rows, long size, int diff, const T *a, const int32_t *at, long ar, const T *b,
	const int32_t *bt, long br, double *out) {
	for (long r = 0; r < rows; r++) {
		if (r + AHEAD < rows)
			for (long j = 0; j < size; j += 64 / (long)sizeof(T)) {
				if (at)
					__builtin_prefetch(a + at[r + AHEAD] * size + j);
				if (bt)
					__builtin_prefetch(b + bt[r + AHEAD] * size + j);
			}
		out[r] = N(pair1)(size, diff, a + (at ? at[r] * size : r * ar), b + (bt ? bt[r] * size : r * br));
	}
}

static void N(rg_pairs)(long rows, long size, int diff, const T *a, const int32_t *at, long ar, const T *b, const int32_t *bt, long br, double *out) {
	if (diff)
		N(pairs)(rows, size, 1, a, at, ar, b, bt, br, out);
	else
		N(pairs)(rows, size, 0, a, at, ar, b, bt, br, out);
}
#undef AHEAD

static void N(rg_add_rows)(long rows, long size, const T *restrict a, double *restrict acc) {
	if (size == 1) {
		double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
		long r = 0;
		for (; r + 4 <= rows; r += 4)
			s0 += a[r], s1 += a[r + 1], s2 += a[r + 2], s3 += a[r + 3];
		for (; r < rows; r++)
			s0 += a[r];
		acc[0] += (s0 + s1) + (s2 + s3);
		return;
	}
	for (long r = 0; r < rows; r++)
		for (long i = 0; i < size; i++)
			acc[i] += a[r * size + i];
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

static void N(rg_softmax)(long rows, long size, const T *restrict x, T *restrict out) {
	for (long r = 0; r < rows; r++) {
		const T *a = x + r * size;
		T *o = out + r * size, m = a[0];
		double s = 0;
		for (long i = 1; i < size; i++)
			m = (a[i] > m) | (a[i] != a[i]) ? a[i] : m;
		for (long i = 0; i < size; i++)
			o[i] = N(rexp)(a[i] - m);
		for (long i = 0; i < size; i++)
			s += o[i];
		T f = (T)(1 / s);
		for (long i = 0; i < size; i++)
			o[i] *= f;
	}
}

static void N(rg_logsumexp)(long rows, long size, const T *restrict x, double *restrict out) {
	for (long r = 0; r < rows; r++) {
		const T *a = x + r * size;
		T m = a[0];
		double s = 0;
		for (long i = 1; i < size; i++)
			m = (a[i] > m) | (a[i] != a[i]) ? a[i] : m;
		for (long i = 0; i < size; i++)
			s += N(rexp)(a[i] - m);
		out[r] = m - m == 0 ? m + log(s) : m;
	}
}
#undef V
