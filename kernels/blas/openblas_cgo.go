//go:build cgo && linux

package blas

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include "subnormal.h"

// Declared by hand from the CBLAS standard, so that no header or library is needed to build.
typedef void (*sgemm_fn)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
	const float *b, int ldb, float beta, float *c, int ldc);
typedef void (*dgemm_fn)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
	const double *b, int ldb, double beta, double *c, int ldc);

static void call_sgemm(void *f, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
	const float *b, int ldb, float beta, float *c, int ldc) {
	unsigned was = without_subnormals();
	((sgemm_fn)f)(101, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
	resume(was);
}
static void call_dgemm(void *f, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
	const double *b, int ldb, double beta, double *c, int ldc) {
	((dgemm_fn)f)(101, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
static void call_threads(void *f, int n) { ((void (*)(int))f)(n); }
static int is_amd(void) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
	__builtin_cpu_init();
	return __builtin_cpu_is("amd");
#else
	return 0;
#endif
}
// core is the name by which OpenBLAS is asked for the kernels of the processor's widest vectors; NULL: of none that are
// wider than its least ones.
static const char *core(void) {
#if defined(__x86_64__) && defined(__GNUC__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vl"))
		return "SkylakeX";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "Haswell";
#endif
	return NULL;
}
static const char *call_config(void *f) { return ((const char *(*)(void))f)(); }
*/
import "C"

import (
	"math"
	"strings"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// openblas multiplies by OpenBLAS and leaves everything else to gonum.
type openblas struct {
	gonum.Implementation
	sgemm, dgemm unsafe.Pointer
	small        bool // small products are fastest here
	narrow       bool // its kernels are those of AVX2
}

func symbol(lib unsafe.Pointer, name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.dlsym(lib, s)
}

// open loads a library and sets it to one thread. why tells what it lacks.
func open(name string) (impl Interface, id, why string) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	lib := C.dlopen(s, C.RTLD_NOW|C.RTLD_LOCAL)
	if lib == nil {
		return nil, "", C.GoString(C.dlerror())
	}
	o, id, why := use(lib)
	if core := C.core(); o != nil && core != nil && strings.Contains(id, "Prescott") && C.getenv(coreType) == nil {
		C.dlclose(lib)
		C.setenv(coreType, core, 0)
		defer C.unsetenv(coreType)
		if lib = C.dlopen(s, C.RTLD_NOW|C.RTLD_LOCAL); lib == nil {
			return nil, "", C.GoString(C.dlerror())
		}
		o, id, why = use(lib)
	}
	if o == nil {
		C.dlclose(lib)
		return nil, "", why
	}
	return o, id, ""
}

// coreType is the variable that tells OpenBLAS which kernels to use. It has those of SSE3 (Prescott) for processors
// that are newer than itself, such as an Emerald Rapids for OpenBLAS 0.3.21 of Debian 12: products of float64 at a
// third of the speed, of small ones at a fifth.
var coreType = C.CString("OPENBLAS_CORETYPE")

// use sets a library to one thread. It is nil where it is not one that can be used; why tells what it lacks.
func use(lib unsafe.Pointer) (o *openblas, id, why string) {
	o = &openblas{sgemm: symbol(lib, "cblas_sgemm"), dgemm: symbol(lib, "cblas_dgemm")}
	threads, config := symbol(lib, "openblas_set_num_threads"), symbol(lib, "openblas_get_config")
	if o.sgemm == nil || o.dgemm == nil || threads == nil || config == nil {
		return nil, "", "not an OpenBLAS with CBLAS"
	}
	id = strings.TrimSpace(C.GoString(C.call_config(config)))
	if strings.Contains(id, "USE64BITINT") {
		return nil, "", "built for 64-bit integers"
	}
	C.call_threads(threads, 1)
	o.small = C.is_amd() != 0 && (strings.Contains(id, "SkylakeX") || strings.Contains(id, "Cooperlake"))
	o.narrow = strings.Contains(id, "Haswell") || strings.Contains(id, "Zen")
	return o, id, ""
}

// fits reports whether sizes pass gonum's checks and fit into C's int. Others are left to gonum, which panics on wrong
// sizes.
func fits(ta, tb blas.Transpose, m, n, k, lda, ldb, ldc, la, lb, lc int) bool {
	ra, ca, rb, cb := m, k, k, n
	if ta != blas.NoTrans {
		ra, ca = k, m
	}
	if tb != blas.NoTrans {
		rb, cb = n, k
	}
	return m > 0 && n > 0 && k > 0 && max(m, n, k, lda, ldb, ldc) <= math.MaxInt32 && lda >= ca && ldb >= cb && ldc >= n &&
		la >= (ra-1)*lda+ca && lb >= (rb-1)*ldb+cb && lc >= (m-1)*ldc+n
}

func code(t blas.Transpose) C.int {
	if t == blas.NoTrans {
		return 111
	}
	return 112
}

// packsNothing is the multiplications up to which OpenBLAS does not pack on processors with AVX-512. On AMD's it then
// reaches 97 % of the peak instead of 70 to 90 %; on a Sapphire Rapids oneDNN is faster (docs/adr/0015).
const packsNothing = 1e6

// pieces tells how to cut a product into such pieces: by so many rows, and so many of the numbers that are summed; 0:
// it is not cut. The second operand of a piece stays in the first-level cache. Measured on one processor of an EPYC
// (oneDNN 2.6, OpenBLAS 0.3.21): 68 to 105 → 94 to 117 Gflop/s; wider products are not faster in pieces.
func pieces(ta, tb blas.Transpose, m, n, k int) (rows, sums int) {
	const width, operand, least = 100, 8192, 64
	switch {
	case tb != blas.NoTrans || n == 0 || k == 0 || n > width || m*n <= packsNothing/max(k, 1):
		return 0, 0
	case ta == blas.NoTrans && m >= least:
		if sums = k; n*k > 2*operand {
			sums = operand / n
		}
		return packsNothing / (n * sums), sums
	case ta != blas.NoTrans && m*n <= operand && k >= least:
		return m, packsNothing / (m * n)
	}
	return 0, 0
}

// inPieces computes c = alpha·op(a)·b + beta·c by products of pieces.
func (o *openblas) inPieces(ta blas.Transpose, rows, sums, m, n, k int, alpha float32, a []float32, lda int,
	b []float32, ldb int, beta float32, c []float32, ldc int) {
	rows, sums = even(m, rows), even(k, sums)
	for i := 0; i < m; i += rows {
		for j := 0; j < k; j += sums {
			x, keep := a[i*lda+j:], float32(1)
			if ta != blas.NoTrans {
				x = a[j*lda+i:]
			}
			if j == 0 {
				keep = beta
			}
			o.Sgemm(ta, blas.NoTrans, min(rows, m-i), n, min(sums, k-j), alpha, x, lda, b[j*ldb:], ldb, keep, c[i*ldc:], ldc)
		}
	}
}

// even cuts n into pieces of one size, which is at most most.
func even(n, most int) int {
	count := (n + most - 1) / most
	return (n + count - 1) / count
}

// Sgemm computes c = alpha·op(a)·op(b) + beta·c.
func (o *openblas) Sgemm(ta, tb blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	if !fits(ta, tb, m, n, k, lda, ldb, ldc, len(a), len(b), len(c)) {
		o.Implementation.Sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if rows, sums := pieces(ta, tb, m, n, k); rows > 0 && o.small {
		o.inPieces(ta, rows, sums, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	sums := k
	if min(m, n) < fewRows {
		sums = even(k, longSum)
	}
	for j := 0; j < k; j += sums {
		from, to := j, j*ldb
		if ta != blas.NoTrans {
			from = j * lda
		}
		if tb != blas.NoTrans {
			to = j
		}
		x, y := a[from:], b[to:]
		C.call_sgemm(o.sgemm, code(ta), code(tb), C.int(m), C.int(n), C.int(min(sums, k-j)), C.float(alpha),
			(*C.float)(&x[0]), C.int(lda), (*C.float)(&y[0]), C.int(ldb), C.float(beta), (*C.float)(&c[0]), C.int(ldc))
		beta = 1
	}
}

// longSum is how many terms a sum of a product with few rows or columns has at once, fewRows how many are few:
// OpenBLAS's kernels for AVX-512 add all of them in order, each with a rounding.
const (
	longSum = 512
	fewRows = 64
)

// Dgemm computes c = alpha·op(a)·op(b) + beta·c.
func (o *openblas) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	if !fits(ta, tb, m, n, k, lda, ldb, ldc, len(a), len(b), len(c)) {
		o.Implementation.Dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	C.call_dgemm(o.dgemm, code(ta), code(tb), C.int(m), C.int(n), C.int(k), C.double(alpha), (*C.double)(&a[0]),
		C.int(lda), (*C.double)(&b[0]), C.int(ldb), C.double(beta), (*C.double)(&c[0]), C.int(ldc))
}
