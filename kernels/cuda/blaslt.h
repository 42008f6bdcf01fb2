// The functions of cuBLASLt that are called, as NVIDIA's documentation of cuBLAS declares them.
#ifndef RELGRAD_CUDA_BLASLT_H
#define RELGRAD_CUDA_BLASLT_H

#include "driver.h"

// What the library has found for a product: the algorithm, and the workspace that it needs.
typedef struct {
	uint64_t algorithm[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
} rg_found;

// X(result, name, arguments)
#define RG_BLASLT(X) \
	X(size_t, cublasLtGetVersion, (void)) \
	X(const char *, cublasLtGetStatusString, (int)) \
	X(int, cublasLtCreate, (void **)) \
	X(int, cublasLtDestroy, (void *)) \
	X(int, cublasLtMatmulDescCreate, (void **, int, int)) \
	X(int, cublasLtMatmulDescDestroy, (void *)) \
	X(int, cublasLtMatmulDescSetAttribute, (void *, int, const void *, size_t)) \
	X(int, cublasLtMatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t)) \
	X(int, cublasLtMatrixLayoutDestroy, (void *)) \
	X(int, cublasLtMatrixLayoutSetAttribute, (void *, int, const void *, size_t)) \
	X(int, cublasLtMatmulPreferenceCreate, (void **)) \
	X(int, cublasLtMatmulPreferenceDestroy, (void *)) \
	X(int, cublasLtMatmulPreferenceSetAttribute, (void *, int, const void *, size_t)) \
	X(int, cublasLtMatmulAlgoGetHeuristic, (void *, void *, void *, void *, void *, void *, void *, int, rg_found *, int *)) \
	X(int, cublasLtMatmul, (void *, void *, const void *, const void *, void *, const void *, void *, const void *, \
		const void *, void *, void *, void *, const void *, void *, size_t, void *))

// rg_open_blaslt opens the library; it returns NULL, or why it cannot be used, to be freed.
char *rg_open_blaslt(const char *name);

// rg_matrices are those of products that are made at once: out = x * y, m rows of n numbers, sums of k.
typedef struct {
	int wide;          // numbers are of double precision
	int xt, yt;        // x lies in memory as k rows of m numbers, y as n rows of k
	int64_t m, n, k;
	int64_t ldx, ldy;  // numbers from a row in memory to the next
	int batch;         // so many products
	int64_t step[3];   // numbers from a product's matrix to the next one's: of x, y and out
	uint32_t align[3]; // what their addresses are multiples of
} rg_matrices;

// rg_multiplier is what the library needs to know of them, and the algorithm that it has chosen.
typedef struct {
	void *what, *x, *y, *out;
	void *wish; // what the algorithm may need, until it is chosen
	int wide;
	rg_found found;
} rg_multiplier;

// These return the library's status, 0 where nothing is wrong, or the driver's error with a minus sign.
int rg_blaslt_begin(rg_device *d, void **handle);
int rg_blaslt_end(rg_device *d, void *handle);
// rg_describe_product describes a product, whose algorithm may use so much workspace; no device is needed.
// rg_drop_product drops what it has made.
int rg_describe_product(const rg_matrices *m, size_t workspace, rg_multiplier *out);
void rg_drop_product(rg_multiplier *p);
// rg_choose has the library choose an algorithm; *found tells whether it has one.
int rg_choose(rg_device *d, void *handle, rg_multiplier *p, int *found);
// rg_multiply computes out = x * y, or adds that to out.
int rg_multiply(rg_device *d, void *handle, const rg_multiplier *p, uint64_t x, uint64_t y, uint64_t out, int add,
	uint64_t workspace, size_t bytes);

size_t rg_blaslt_version(void);
const char *rg_blaslt_message(int status);

#endif
