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

// N(rg_unary) returns 0 for an operation that it leaves to the reference code.
static int N(rg_unary)(int op, long n, const T *restrict a, T *restrict out) {
	switch (op) {
	case 0: MAP(-x);
	case 1: MAP(x < 0 ? -x : x + (T)0);
	case 2: MAP(x * x);
#if SINGLE
	case 3: MAP(__builtin_sqrtf(x));
#else
	case 3: MAP(__builtin_sqrt(x));
#endif
	case 4: MAP(x <= 0 ? 0 : x);
	case 6: MAP(N(rexp)(x));
	case 9: MAP(N(rsigmoid)(x));
	case 10: MAP(N(rsoftplus)(x));
	case 11: MAP(x * N(rsigmoid)(x));
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
