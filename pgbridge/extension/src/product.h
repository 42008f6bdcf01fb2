// Matrix products.
#ifndef RELGRAD_PRODUCT_H
#define RELGRAD_PRODUCT_H
#include "postgres.h"

// The number of multiplications from which calling a library is worth while.
#define RG_BLAS_FROM 4096

// rg_multiply computes c = a·b for batch pairs of dense row-major a [m,k] and b [k,n].
void rg_multiply(bool single, int64 batch, int m, int k, int n, const void *a, const void *b, void *c);

// Matrix products by an OpenBLAS that is found at run time (blas.c).

// rg_has_gemm reports whether a library is found.
bool rg_has_gemm(void);

// rg_gemm computes c = a·b for row-major a [m,k], b [k,n], c [m,n]. It returns false if no library is found.
bool rg_gemm(bool single, int m, int n, int k, const void *a, const void *b, void *c);

#endif
