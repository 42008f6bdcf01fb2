// Random masks and draws.
#define BODY "philox.h"
#include "targets.h"

void rg_drop_mask_f32(long rows, long size, uint64_t seed, const uint64_t *key, uint32_t limit, float keep, float *out) {
	PICK(rg_drop_mask_f32, (rows, size, seed, key, limit, keep, out));
}
void rg_drop_mask_f64(long rows, long size, uint64_t seed, const uint64_t *key, uint32_t limit, double keep, double *out) {
	PICK(rg_drop_mask_f64, (rows, size, seed, key, limit, keep, out));
}
void rg_uniform_f64(long rows, long size, uint64_t seed, const uint64_t *key, double *out) {
	PICK(rg_uniform_f64, (rows, size, seed, key, out));
}
void rg_below(long n, int64_t below, const double *u, int64_t *out) {
	PICK(rg_below_f64, (n, below, u, out));
}
void rg_mix(long n, const int64_t *x, uint64_t *key) {
	PICK(rg_mix_f64, (n, x, key));
}
