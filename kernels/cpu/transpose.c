// Transposing matrices.
#define BODY "transpose.h"
#include "targets.h"

#define EXPORT(S, T)                                                                                       \
	void rg_transpose_##S(long rows, long cols, const T *x, long ldx, T *out, long ldo) {                   \
		PICK(rg_transpose_##S, (rows, cols, x, ldx, out, ldo));                                            \
	}
EXPORT(f32, float)
EXPORT(f64, double)
