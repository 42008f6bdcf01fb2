// Element-wise arithmetic.
#define BODY "elementwise.h"
#include "targets.h"

#define EXPORT(S, T)                                                                                                    \
	void rg_binary_##S(int op, long rows, long size, const T *a, long ar, int ae, const T *b, long br, int be, T *out) { \
		PICK(rg_binary_##S, (op, rows, size, a, ar, ae, b, br, be, out));                                               \
	}                                                                                                                   \
	int rg_unary_##S(int op, long n, const T *a, T *out) { return PICK(rg_unary_##S, (op, n, a, out)); }                \
	void rg_select_##S(long rows, long size, const T *m, long mr, int me, const T *a, long ar, int ae, const T *b,          \
		long br, int be, T *out) {                                                                                      \
		PICK(rg_select_##S, (rows, size, m, mr, me, a, ar, ae, b, br, be, out));                                        \
	}
EXPORT(f32, float)
EXPORT(f64, double)
