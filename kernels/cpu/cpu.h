// The loops' C interface: see cpu.go for what each computes. f32 and f64 forms differ in T only.
#ifndef RELGRAD_CPU_H
#define RELGRAD_CPU_H
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define RG_X86 1
#endif

int rg_level(void);     // 0 baseline, 1 AVX2 with FMA, 2 AVX-512
int rg_limit(int most); // for tests: use at most that one; returns what is used

#define RG_DECLARE(S, T)                                                                                          \
	void rg_binary_##S(int op, long rows, long size, const T *a, long ar, int ae, const T *b, long br, int be, T *out); \
	int rg_unary_##S(int op, long n, const T *a, T *out);                                                         \
	void rg_select_##S(long rows, long size, const T *m, long mr, int me, const T *a, long ar, int ae, const T *b,    \
		long br, int be, T *out);                                                                                 \
	void rg_transpose_##S(long rows, long cols, const T *x, long ldx, T *out, long ldo);                          \
	void rg_dot_##S(long rows, long size, const T *a, long ar, const T *b, long br, double *out);                 \
	void rg_add_rows_##S(long rows, long size, const T *a, double *acc);                                          \
	void rg_pairs_##S(long rows, long size, int diff, const T *a, const int32_t *at, long ar, const T *b, const int32_t *bt, long br, double *out); \
	void rg_spmm_##S(long groups, const int32_t *start, long base, const T *w, const T *x, const int32_t *at, int far,        \
		const T *y, const int32_t *yt, int yfar, int held, long size, T *out);                                                          \
	void rg_gather_##S(long rows, long size, const T *x, const int32_t *at, T *out);                                          \
	void rg_add_at_##S(long n, const int32_t *to, const int32_t *at, long size, const T *x, T *sum);                          \
	int rg_finite_##S(long n, const T *x);                                                                                    \
	void rg_sgd_##S(long n, T lr, T decay, T scale, const T *g, T *p);                                                        \
	void rg_adam_##S(long n, T rate, T correct, T b1, T b2, T eps, T decay, T scale, const T *g, T *m, T *s, T *p);           \
	void rg_products_##S(long rows, long m, long k, long n, const T *a, long ar, const T *b, long br, T *out, long or);    \
	void rg_softmax_##S(long rows, long size, const T *x, T by, T *out);                                          \
	void rg_softmax_grad_##S(long rows, long size, const T *y, const T *g, T by, T *out);                         \
	void rg_logsumexp_##S(long rows, long size, const T *x, double *top, double *out);                            \
	void rg_drop_mask_##S(long rows, long size, uint64_t seed, const uint64_t *key, uint32_t limit, T keep, T *out);
RG_DECLARE(f32, float)
RG_DECLARE(f64, double)
void rg_convert_f32(long n, const double *x, float *out);
void rg_convert_f64(long n, const float *x, double *out);
void rg_uniform_f64(long rows, long size, uint64_t seed, const uint64_t *key, double *out);
int rg_tally(long n, const int32_t *codes, int32_t last, int32_t *count);
long rg_offsets(long span, long pieces, int32_t *count, int32_t *start, int32_t *rank, int32_t *most);
void rg_cross(long lo, long n, long each, int32_t *first, int32_t *second);
void rg_place(long n, const int32_t *codes, int32_t first, int32_t *at, int32_t *order);
int rg_places(long n, const int64_t *x, int64_t low, uint64_t count, int32_t first, int32_t *p);
void rg_through(long n, const int32_t *a, const int32_t *b, int32_t *out);
// rg_differs looks at *state until it is not what it is, for so many nanoseconds at most.
void rg_differs(const uint32_t *state, uint32_t is, int64_t ns);
void rg_below(long n, int64_t below, const double *u, int64_t *out);
void rg_mix(long n, const int64_t *x, uint64_t *key);
#endif
