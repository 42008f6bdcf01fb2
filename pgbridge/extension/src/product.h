// Matrix products.
#ifndef RELGRAD_PRODUCT_H
#define RELGRAD_PRODUCT_H
#include "postgres.h"

// The number of multiplications from which calling a library is worth while.
#define RG_BLAS_FROM 4096

// rg_multiply computes c = a·b for batch pairs of dense row-major a [m,k] and b [k,n].
void rg_multiply(bool single, int64 batch, int m, int k, int n, const void *a, const void *b, void *c);

#endif
