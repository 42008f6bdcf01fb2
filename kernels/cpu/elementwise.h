#include "mathfn.h"

#define LOOP(E)                                            \
	do {                                                   \
		for (long r = 0; r < rows; r++) {                  \
			const T *restrict p = a + r * ar;              \
			const T *restrict q = b + r * br;              \
			T *restrict o = out + r * size;                \
			if (ae && be) {                                \
				for (long i = 0; i < size; i++) {          \
					T x = p[i], y = q[i];                  \
					o[i] = E;                              \
				}                                          \
			} else if (ae) {                               \
				T y = q[0];                                \
				for (long i = 0; i < size; i++) {          \
					T x = p[i];                            \
					o[i] = E;                              \
				}                                          \
			} else if (be) {                               \
				T x = p[0];                                \
				for (long i = 0; i < size; i++) {          \
					T y = q[i];                            \
					o[i] = E;                              \
				}                                          \
			} else {                                       \
				T x = p[0], y = q[0];                      \
				for (long i = 0; i < size; i++)            \
					o[i] = E;                              \
			}                                              \
		}                                                  \
	} while (0)

static void N(rg_binary)(int op, long rows, long size, const T *a, long ar, int ae, const T *b, long br, int be, T *out) {
	switch (op) {
	case 0: LOOP(x + y); break;
	case 1: LOOP(x - y); break;
	case 2: LOOP(x * y); break;
	case 3: LOOP(x / y); break;
	case 4: LOOP((x > y) | (x != x) ? x : y); break;
	case 5: LOOP((x < y) | (x != x) ? x : y); break;
	case 6: LOOP((T)(x > y)); break;
	case 7: LOOP((T)(x == y)); break;
	case 8: LOOP(y == 0 ? 0 : x / y); break;
	case 9: LOOP(N(rbceslope)(x, y)); break;
	}
}
#undef LOOP

#define MAP(E)                           \
	do {                                 \
		for (long i = 0; i < n; i++) {   \
			T x = a[i];                  \
			out[i] = E;                  \
		}                                \
		return 1;                        \
	} while (0)

// N(roots) makes square roots. Compilers leave the instruction's vector form alone: they think that it is slow.
static int N(roots)(long n, const T *a, T *out) {
	long i = 0;
#if VB == 64 && SINGLE
	for (; i + 16 <= n; i += 16)
		_mm512_storeu_ps(out + i, _mm512_sqrt_ps(_mm512_loadu_ps(a + i)));
#elif VB == 64
	for (; i + 8 <= n; i += 8)
		_mm512_storeu_pd(out + i, _mm512_sqrt_pd(_mm512_loadu_pd(a + i)));
#elif VB == 32 && SINGLE
	for (; i + 8 <= n; i += 8)
		_mm256_storeu_ps(out + i, _mm256_sqrt_ps(_mm256_loadu_ps(a + i)));
#elif VB == 32
	for (; i + 4 <= n; i += 4)
		_mm256_storeu_pd(out + i, _mm256_sqrt_pd(_mm256_loadu_pd(a + i)));
#endif
	for (; i < n; i++)
#if SINGLE
		out[i] = __builtin_sqrtf(a[i]);
#else
		out[i] = __builtin_sqrt(a[i]);
#endif
	return 1;
}

// N(rg_unary) returns 0 for an operation that it leaves to the reference code.
static int N(rg_unary)(int op, long n, const T *restrict a, T *restrict out) {
	switch (op) {
	case 0: MAP(-x);
	case 1: MAP(x < 0 ? -x : x + (T)0);
	case 2: MAP(x * x);
	case 3: return N(roots)(n, a, out);
	case 4: MAP(x <= 0 ? 0 : x);
	case 6: MAP(N(rexp)(x));
	case 9: MAP(N(rsigmoid)(x));
	case 10: MAP(N(rsoftplus)(x));
	case 11: MAP(x * N(rsigmoid)(x));
	case 12: MAP(4 * N(rslope)(2 * x));
	case 13: MAP(N(rslope)(x));
	case 14: MAP(N(rbell)(x, 1));
	case 15: MAP(N(rbell)(x, (T)0.5) * (T)0.3989422804014327);
#if SINGLE
	case 7: MAP(N(rlog)(x));
	case 8: MAP(N(rtanh)(x));
#endif
	}
	return 0;
}
#undef MAP

#define EACH(first, second)                \
	for (long i = 0; i < size; i++) {      \
		first, second;                     \
		o[i] = k[i] != 0 ? x : y;          \
	}
static void N(rg_select)(long rows, long size, const T *m, long mr, int me, const T *a, long ar, int ae, const T *b, long br, int be, T *out) {
	for (long r = 0; r < rows; r++) {
		const T *restrict k = m + r * mr, *restrict p = a + r * ar, *restrict q = b + r * br;
		T *restrict o = out + r * size;
		T x = p[0], y = q[0];
		if (me && ae && be)
			EACH(x = p[i], y = q[i])
		else if (me && ae)
			EACH(x = p[i], (void)0)
		else if (me && be)
			EACH((void)0, y = q[i])
		else if (me)
			EACH((void)0, (void)0)
		else if (k[0] != 0 ? ae : be)
			memmove(o, k[0] != 0 ? p : q, size * sizeof(T));
		else
			for (long i = 0; i < size; i++)
				o[i] = k[0] != 0 ? x : y;
	}
}
#undef EACH
