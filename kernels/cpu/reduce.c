// Reductions of rows: dot products, sums, softmax.
#define BODY "reduce.h"
#include "targets.h"

#define EXPORT(S, T, OTHER)                                                                                \
	void rg_dot_##S(long rows, long size, const T *a, long ar, const T *b, long br, double *out) {  \
		PICK(rg_dot_##S, (rows, size, a, ar, b, br, out));                                          \
	}                                                                                               \
	void rg_pairs_##S(long rows, long size, int diff, const T *a, const int32_t *at, long ar, const T *b, const int32_t *bt, long br, double *out) { \
		PICK(rg_pairs_##S, (rows, size, diff, a, at, ar, b, bt, br, out));                          \
	}                                                                                               \
	void rg_add_rows_##S(long rows, long size, const T *a, double *acc) {                           \
		PICK(rg_add_rows_##S, (rows, size, a, acc));                                                \
	}                                                                                               \
	void rg_convert_##S(long n, const OTHER *x, T *out) { PICK(rg_convert_##S, (n, x, out)); }      \
	void rg_products_##S(long rows, long m, long k, long n, const T *a, long ar, const T *b, long br, T *out, long or) { \
		PICK(rg_products_##S, (rows, m, k, n, a, ar, b, br, out, or));                              \
	}                                                                                               \
	void rg_softmax_##S(long rows, long size, const T *x, T by, T *out) {                           \
		PICK(rg_softmax_##S, (rows, size, x, by, out));                                             \
	}                                                                                               \
	void rg_softmax_grad_##S(long rows, long size, const T *y, const T *g, T by, T *out) {          \
		PICK(rg_softmax_grad_##S, (rows, size, y, g, by, out));                                     \
	}                                                                                               \
	void rg_logsumexp_##S(long rows, long size, const T *x, double *top, double *out) {             \
		PICK(rg_logsumexp_##S, (rows, size, x, top, out));                                          \
	}
EXPORT(f32, float, double)
EXPORT(f64, double, float)
