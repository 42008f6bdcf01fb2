//go:build cgo && linux

package blas

/*
#include <dlfcn.h>
#include <stdlib.h>
#include <stdint.h>
#include "subnormal.h"

// Declared by hand from oneDNN's documentation: https://uxlfoundation.github.io/oneDNN/group_dnnl_api_blas.html
typedef int (*dnnl_sgemm_fn)(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
	int64_t lda,
	const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

// The library's own threads are OpenMP's, whose number each thread sets for itself.
static int call_dnnl(void *f, void *threads, char ta, char tb, int m, int n, int k, float alpha, const float *a,
	int lda,
	const float *b, int ldb, float beta, float *c, int ldc) {
	if (threads) ((void (*)(int))threads)(1);
	unsigned was = without_subnormals();
	int failed = ((dnnl_sgemm_fn)f)(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
	resume(was);
	return failed;
}

typedef struct { int major, minor, patch; } dnnl_version_head;
static void version_of(void *f, int *v) {
	const dnnl_version_head *h = ((const dnnl_version_head *(*)(void))f)();
	v[0] = h->major, v[1] = h->minor, v[2] = h->patch;
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/blas"
)

// onednn multiplies large matrices of float32 by oneDNN, and leaves everything else to another implementation.
type onednn struct {
	Interface
	sgemm, threads unsafe.Pointer
}

// Multiplications and widths of matrices from which oneDNN was faster: by 5 to 45 % on a Sapphire Rapids with AVX-512,
// by 5 to 20 % on an EPYC (oneDNN 2.6 against OpenBLAS 0.3.21), except for products that OpenBLAS does not pack.
const (
	dnnlWork = 1 << 19
	dnnlSide = 16
)

// packed tells of a product for AVX2 whether OpenBLAS, which packs its operands, is faster than oneDNN 2.6, which reads
// them where they lie: on an EPYC without AVX-512 80 against 40 to 70 Gflop/s where it is large, the first operand is
// transposed or the rows of the second one are long, and 50 to 60 against 60 to 77 elsewhere.
func packed(ta, tb blas.Transpose, m, n, k int) bool {
	const large, long = 1 << 25, 512
	return ta != blas.NoTrans || tb == blas.NoTrans && n >= long || m*n > large/max(k, 1)
}

// openDNN loads a oneDNN in front of another implementation. why tells what the library lacks.
func openDNN(name string, other Interface) (impl Interface, id, why string) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	lib := C.dlopen(s, C.RTLD_NOW|C.RTLD_LOCAL)
	if lib == nil {
		return nil, "", C.GoString(C.dlerror())
	}
	o := &onednn{Interface: other, sgemm: symbol(lib, "dnnl_sgemm"), threads: symbol(lib, "omp_set_num_threads")}
	version := symbol(lib, "dnnl_version")
	if o.sgemm == nil || version == nil || o.threads == nil {
		C.dlclose(lib)
		return nil, "", "not a oneDNN with OpenMP"
	}
	var v [3]C.int
	C.version_of(version, &v[0])
	return o, fmt.Sprintf("oneDNN %d.%d.%d", v[0], v[1], v[2]), ""
}

func letter(t blas.Transpose) C.char {
	if t == blas.NoTrans {
		return 'N'
	}
	return 'T'
}

// Sgemm computes c = alpha·op(a)·op(b) + beta·c.
func (o *onednn) Sgemm(ta, tb blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	least := dnnlWork
	p, ok := o.Interface.(*openblas)
	if ok && p.narrow && packed(ta, tb, m, n, k) {
		p.Sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if ok && p.small {
		if rows, _ := pieces(ta, tb, m, n, k); rows > 0 {
			p.Sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
			return
		}
		least = packsNothing + 1
	}
	if min(m, n) >= dnnlSide && m*n >= (least+k-1)/max(k, 1) && fits(ta, tb, m, n, k, lda, ldb, ldc, len(a), len(b),
		len(c)) && C.call_dnnl(o.sgemm, o.threads, letter(ta), letter(tb), C.int(m), C.int(n), C.int(k), C.float(alpha),
		(*C.float)(&a[0]), C.int(lda), (*C.float)(&b[0]), C.int(ldb), C.float(beta), (*C.float)(&c[0]), C.int(ldc)) == 0 {
		return
	}
	o.Interface.Sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}
