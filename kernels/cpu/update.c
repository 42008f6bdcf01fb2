// Updates of parameters.
#define BODY "update.h"
#include "targets.h"

#define EXPORT(S, T)                                                                                                              \
	int rg_finite_##S(long n, const T *x) { return PICK(rg_finite_##S, (n, x)); }                                                 \
	void rg_sgd_##S(long n, T lr, T decay, T scale, const T *g, T *p) { PICK(rg_sgd_##S, (n, lr, decay, scale, g, p)); }          \
	void rg_adam_##S(long n, T rate, T correct, T b1, T b2, T eps, T decay, T scale, const T *g, T *m, T *s, T *p) {              \
		PICK(rg_adam_##S, (n, rate, correct, b1, b2, eps, decay, scale, g, m, s, p));                                             \
	}
EXPORT(f32, float)
EXPORT(f64, double)
