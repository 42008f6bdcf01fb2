// Sparse times dense, and rows of dense alone.
#include "lists.h"
#define BODY "spmm.h"
#include "targets.h"

#define EXPORT(S, T)                                                                                                            \
	void rg_spmm_##S(long groups, const int32_t *start, long base, const T *w, const T *x, const int32_t *at, int far,          \
		const T *y, const int32_t *yt, int yfar, int held, long size, T *out) {                                                           \
		PICK(rg_spmm_##S, (groups, start, base, w, x, at, far, y, yt, yfar, held, size, out));                                        \
	}                                                                                                                           \
	void rg_add_at_##S(long n, const int32_t *to, const int32_t *at, long size, const T *x, T *sum) {                           \
		PICK(rg_add_at_##S, (n, to, at, size, x, sum));                                                                         \
	}                                                                                                                           \
	void rg_gather_##S(long rows, long size, const T *x, const int32_t *at, T *out) {                                           \
		PICK(rg_gather_##S, (rows, size, x, at, out));                                                                          \
	}
EXPORT(f32, float)
EXPORT(f64, double)
