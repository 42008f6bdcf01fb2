// Matrix products by an OpenBLAS that is found at run time.
#ifndef RELGRAD_BLAS_H
#define RELGRAD_BLAS_H
#include <stdbool.h>

// rg_has_gemm reports whether a library is found.
bool rg_has_gemm(void);

// rg_gemm computes c = a·b for row-major a [m,k], b [k,n], c [m,n]. It returns false if no library is found.
bool rg_gemm(bool single, int m, int n, int k, const void *a, const void *b, void *c);

#endif
