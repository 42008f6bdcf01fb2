//go:build cgo && linux

package blas

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

// Declared by hand from the CBLAS standard, so that no header or library is needed to build.
typedef void (*sgemm_fn)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
	const float *b, int ldb, float beta, float *c, int ldc);
typedef void (*dgemm_fn)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
	const double *b, int ldb, double beta, double *c, int ldc);

static void call_sgemm(void *f, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
	const float *b, int ldb, float beta, float *c, int ldc) {
	((sgemm_fn)f)(101, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
static void call_dgemm(void *f, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
	const double *b, int ldb, double beta, double *c, int ldc) {
	((dgemm_fn)f)(101, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
static void call_threads(void *f, int n) { ((void (*)(int))f)(n); }
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

// openblas overrides the products; everything else is gonum's.
type openblas struct {
	gonum.Implementation
	sgemm, dgemm unsafe.Pointer
}

func symbol(lib unsafe.Pointer, name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.dlsym(lib, s)
}

// open loads a library and sets it to one thread; why says what it lacks.
func open(name string) (impl Interface, id, why string) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	lib := C.dlopen(s, C.RTLD_NOW|C.RTLD_LOCAL)
	if lib == nil {
		return nil, "", C.GoString(C.dlerror())
	}
	o := &openblas{sgemm: symbol(lib, "cblas_sgemm"), dgemm: symbol(lib, "cblas_dgemm")}
	threads, config := symbol(lib, "openblas_set_num_threads"), symbol(lib, "openblas_get_config")
	if o.sgemm == nil || o.dgemm == nil || threads == nil || config == nil {
		C.dlclose(lib)
		return nil, "", "not an OpenBLAS with CBLAS"
	}
	id = strings.TrimSpace(C.GoString(C.call_config(config)))
	if strings.Contains(id, "USE64BITINT") {
		C.dlclose(lib)
		return nil, "", "built for 64-bit integers"
	}
	C.call_threads(threads, 1)
	return o, id, ""
}

// fits reports whether the sizes are those that gonum's checks would let pass and C's int can hold; what
// does not fit is left to gonum, which panics on wrong sizes.
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

// Sgemm computes c = alpha·op(a)·op(b) + beta·c.
func (o *openblas) Sgemm(ta, tb blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !fits(ta, tb, m, n, k, lda, ldb, ldc, len(a), len(b), len(c)) {
		o.Implementation.Sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	C.call_sgemm(o.sgemm, code(ta), code(tb), C.int(m), C.int(n), C.int(k), C.float(alpha), (*C.float)(&a[0]), C.int(lda),
		(*C.float)(&b[0]), C.int(ldb), C.float(beta), (*C.float)(&c[0]), C.int(ldc))
}

// Dgemm computes c = alpha·op(a)·op(b) + beta·c.
func (o *openblas) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !fits(ta, tb, m, n, k, lda, ldb, ldc, len(a), len(b), len(c)) {
		o.Implementation.Dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	C.call_dgemm(o.dgemm, code(ta), code(tb), C.int(m), C.int(n), C.int(k), C.double(alpha), (*C.double)(&a[0]), C.int(lda),
		(*C.double)(&b[0]), C.int(ldb), C.double(beta), (*C.double)(&c[0]), C.int(ldc))
}
