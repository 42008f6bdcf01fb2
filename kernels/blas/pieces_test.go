//go:build cgo && linux

package blas

import (
	"math"
	"math/rand"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// TestPieces: pieces are products that nothing is packed for, and no others are cut.
func TestPieces(t *testing.T) {
	cut := 0
	for _, n := range []int{0, 1, 3, 16, 50, 100, 101, 4096} {
		for _, m := range []int{0, 1, 63, 64, 65, 1000, 300000} {
			for _, k := range []int{0, 1, 63, 64, 100, 1024, 100000} {
				for _, ta := range []blas.Transpose{blas.NoTrans, blas.Trans} {
					rows, sums := pieces(ta, blas.NoTrans, m, n, k)
					if rows == 0 && sums == 0 {
						continue
					}
					if cut++; m*n*k <= packsNothing || n > 100 || rows <= 0 || sums <= 0 {
						t.Fatalf("%v %d×%d×%d is cut by %d and %d", ta, m, n, k, rows, sums)
					}
					if r, s := even(m, rows), even(k, sums); r*n*s > packsNothing || r > rows || s > sums {
						t.Fatalf("%v %d×%d×%d: pieces of %d×%d×%d", ta, m, n, k, r, n, s)
					}
				}
				if rows, _ := pieces(blas.NoTrans, blas.Trans, m, n, k); rows > 0 {
					t.Fatalf("%d×%d×%d with b transposed is cut", m, n, k)
				}
			}
		}
	}
	if cut < 50 {
		t.Errorf("only %d products are cut", cut)
	}
}

// TestInPieces: a product is that of its pieces, whatever the processor, and nothing between the rows of the result
// changes.
func TestInPieces(t *testing.T) {
	lib, _, why := open("libopenblas.so.0")
	o, ok := lib.(*openblas)
	if !ok {
		t.Skipf("there is no OpenBLAS: %s", why)
	}
	o.small = true
	rng := rand.New(rand.NewSource(4))
	for _, s := range [][3]int{{700, 50, 300}, {60, 50, 1500}, {650, 3, 1500}, {2000, 100, 90}, {200, 50, 1000}} {
		for _, ta := range []bool{false, true} {
			m, n, k := s[0], s[1], s[2]
			if rows, _ := pieces(trans(ta), blas.NoTrans, m, n, k); rows == 0 {
				continue
			}
			lda := k
			if ta {
				lda = m
			}
			a, b, c := random(rng, m*k), random(rng, k*n), random(rng, m*n)
			got := make([]float32, m*(n+2))
			for i := range got {
				if got[i] = -7; i%(n+2) < n {
					got[i] = float32(c[i/(n+2)*n+i%(n+2)])
				}
			}
			reference(ta, false, m, n, k, a, b, 0.5, c)
			o.Sgemm(trans(ta), blas.NoTrans, m, n, k, 1, narrow(a), lda, narrow(b), n, 0.5, got, n+2)
			for i, x := range got {
				if i%(n+2) >= n && x != -7 || i%(n+2) < n && math.Abs(float64(x)-c[i/(n+2)*n+i%(n+2)]) > 1e-4 {
					t.Fatalf("%v, transposed %v: element %d is %v", s, ta, i, x)
				}
			}
		}
	}
}
