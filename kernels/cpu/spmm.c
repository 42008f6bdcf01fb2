// Sparse times dense.
#define BODY "spmm.h"
#include "targets.h"

void rg_spmm_f32(long groups, const int32_t *start, long base, const int32_t *at, const float *w, const float *x, long size, float *out) {
	PICK(rg_spmm_f32, (groups, start, base, at, w, x, size, out));
}
void rg_spmm_f64(long groups, const int32_t *start, long base, const int32_t *at, const double *w, const double *x, long size, double *out) {
	PICK(rg_spmm_f64, (groups, start, base, at, w, x, size, out));
}
