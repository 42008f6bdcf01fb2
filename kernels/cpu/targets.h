// Includes BODY once per element type and instruction set. BODY defines functions named N(f) over T, with
// vectors of VB bytes.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "cpu.h"
#ifdef RG_X86
#include <immintrin.h>
#endif

#ifdef RG_X86
// What loops need to become vectors, and no result can show: errno and floating-point traps.
#pragma GCC optimize("no-math-errno", "no-trapping-math")
#endif

#define T float
#define SINGLE 1
#define VB 16
#define N(f) f##_f32_base
#include BODY
#undef T
#undef SINGLE
#undef N
#define T double
#define SINGLE 0
#define N(f) f##_f64_base
#include BODY
#undef T
#undef SINGLE
#undef N
#undef VB

#ifdef RG_X86
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define VB 32
#define T float
#define SINGLE 1
#define N(f) f##_f32_avx2
#include BODY
#undef T
#undef SINGLE
#undef N
#define T double
#define SINGLE 0
#define N(f) f##_f64_avx2
#include BODY
#undef T
#undef SINGLE
#undef N
#undef VB
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")
#define VB 64
#define T float
#define SINGLE 1
#define N(f) f##_f32_avx512
#include BODY
#undef T
#undef SINGLE
#undef N
#define T double
#define SINGLE 0
#define N(f) f##_f64_avx512
#include BODY
#undef T
#undef SINGLE
#undef N
#undef VB
#pragma GCC pop_options

#define PICK(f, args) \
	(rg_level() == 2 ? f##_avx512 args : rg_level() == 1 ? f##_avx2 args : f##_base args)
#else
#define PICK(f, args) f##_base args
#endif
