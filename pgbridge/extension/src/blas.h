// Matrix products of an OpenBLAS found at run time.
#ifndef RELGRAD_BLAS_H
#define RELGRAD_BLAS_H
#include <stdbool.h>

// rg_has_gemm reports whether there is a library.
bool rg_has_gemm(void);

// c = a·b for row-major a [m,k], b [k,n], c [m,n]; false where no library is there.
bool rg_gemm(bool single, int m, int n, int k, const void *a, const void *b, void *c);

#endif
