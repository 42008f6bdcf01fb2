// Package blas multiplies matrices behind gonum's interfaces: by an OpenBLAS and a oneDNN found at run time, or by
// gonum's own code.
//
// # What
//
// Gemm multiplies. Use is gonum's interface for other callers (blas32.Use, blas64.Use). Name tells which implementation
// runs. The library is searched for once: first the names in the environment variable OPENBLAS (separated by colons;
// "off" for none), then libopenblas.so.0 and libopenblas.so. Large products of float32 matrices go to oneDNN if there
// is one, found by the variable ONEDNN or the names libdnnl.so.3 and libdnnl.so.2. On AMD's processors with AVX-512,
// products with narrow results go to OpenBLAS, in pieces so small that it does not pack them; without AVX-512, products
// that are large or read an operand across its rows go to OpenBLAS. An OpenBLAS that takes a newer processor than
// itself for an old one is told which vectors that has.
//
// # Invariants
//
// Every call runs on the caller's thread only (openblas_set_num_threads(1), omp_set_num_threads(1)). The executor runs
// panels of fixed size in parallel, so that results do not depend on the number of workers. Nothing is linked against
// the libraries; without them everything works, but slower. In single precision subnormal numbers count as zero
// in a library (subnormal.h), where the processor can do that.
//
// # Errors
//
// None. A library that cannot be used counts as absent; Tried gives the reason.
//
// # Where to add
//
// Another library: its shim beside openblas_cgo.go, tried in load.
package blas

import (
	"os"
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Interface is the part of gonum's interfaces that relgrad uses. Use returns one.
type Interface interface {
	blas.Float32
	blas.Float64
}

var load = sync.OnceValue(func() *loaded {
	l := &loaded{impl: gonum.Implementation{}, name: "gonum"}
	if name := l.first("OPENBLAS", open, "libopenblas.so.0", "libopenblas.so"); name != "" {
		l.name = name
	}
	if name := l.first("ONEDNN", func(n string) (Interface, string, string) { return openDNN(n, l.impl) }, "libdnnl.so.3",
		"libdnnl.so.2"); name != "" {
		l.name += ", " + name
	}
	return l
})

// first opens the first usable library, of those listed in the environment variable and then of names. It returns its
// name with its version, "" where there is none.
func (l *loaded) first(variable string, open func(string) (Interface, string, string), names ...string) string {
	if v := os.Getenv(variable); v == "off" {
		return ""
	} else if v != "" {
		names = append(strings.Split(v, ":"), names...)
	}
	for _, n := range names {
		impl, name, why := open(n)
		if impl != nil {
			l.impl = impl
			return name
		}
		l.tried = append(l.tried, n+": "+why)
	}
	return ""
}

type loaded struct {
	impl  Interface
	name  string
	tried []string
}

// Use returns the implementation in use.
func Use() Interface { return load().impl }

// Name is the implementation in use, with its version.
func Name() string { return load().name }

// Tried lists the libraries that could not be used, with the reason.
func Tried() []string { return load().tried }

func trans(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

// Gemm computes c = op(a)·op(b) + beta·c for row-major matrices: op(a) is m×k, op(b) k×n, c m×n; op
// transposes where ta or tb is set; lda, ldb, ldc are the elements from row to row as stored.
func Gemm[T float32 | float64](ta, tb bool, m, n, k int, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := range m {
			for j := range n {
				c[i*ldc+j] *= beta
			}
		}
		return
	}
	switch a := any(a).(type) {
	case []float32:
		Use().Sgemm(trans(ta), trans(tb), m, n, k, 1, a, lda, any(b).([]float32), ldb, any(beta).(float32),
			any(c).([]float32), ldc)
	case []float64:
		Use().Dgemm(trans(ta), trans(tb), m, n, k, 1, a, lda, any(b).([]float64), ldb, any(beta).(float64),
			any(c).([]float64), ldc)
	}
}
