package blas

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/relgrad/relgrad/kernels/cpu"
)

func reference(ta, tb bool, m, n, k int, a, b []float64, beta float64, c []float64) {
	at := func(x []float64, t bool, rows, cols, i, j int) float64 {
		if t {
			return x[j*rows+i]
		}
		return x[i*cols+j]
	}
	for i := range m {
		for j := range n {
			s := beta * c[i*n+j]
			for p := range k {
				s += at(a, ta, m, k, i, p) * at(b, tb, k, n, p, j)
			}
			c[i*n+j] = s
		}
	}
}

func TestGemm(t *testing.T) {
	t.Logf("blas is %s %v", Name(), Tried())
	rng := rand.New(rand.NewSource(1))
	for _, s := range [][3]int{{1, 1, 1}, {3, 4, 5}, {17, 1, 9}, {1, 8, 33}, {64, 7, 16}, {5, 6, 0}, {200, 50, 100},
		{33, 128, 300}, {1, 1024, 600}, {700, 50, 300}, {61, 50, 3000}, {650, 3, 3000}} {
		for mode := range 4 {
			ta, tb, m, n, k := mode&1 != 0, mode&2 != 0, s[0], s[1], s[2]
			a, b, c := random(rng, m*k), random(rng, k*n), random(rng, m*n)
			lda, ldb := k, n
			if ta {
				lda = m
			}
			if tb {
				ldb = k
			}
			single := narrow(c)
			want := append([]float64(nil), c...)
			reference(ta, tb, m, n, k, a, b, 0.5, want)
			Gemm(ta, tb, m, n, k, a, max(lda, 1), b, max(ldb, 1), 0.5, c, n)
			Gemm(ta, tb, m, n, k, narrow(a), max(lda, 1), narrow(b), max(ldb, 1), 0.5, single, n)
			for i := range c {
				if math.Abs(c[i]-want[i]) > 1e-12 || math.Abs(float64(single[i])-want[i]) > 1e-4 {
					t.Fatalf("%v, mode %d, element %d: %v and %v, want %v", s, mode, i, c[i], single[i], want[i])
				}
			}
		}
	}
}

// TestSameInParallel: a product does not depend on what other threads do.
func TestSameInParallel(t *testing.T) {
	const m, n, k = 256, 256, 128
	rng := rand.New(rand.NewSource(1))
	a, b, want := narrow(random(rng, m*k)), narrow(random(rng, k*n)), make([]float32, m*n)
	Gemm(false, false, m, n, k, a, k, b, n, 0, want, n)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				c := make([]float32, m*n)
				if Gemm(false, false, m, n, k, a, k, b, n, 0, c, n); !slices.Equal(c, want) {
					t.Error("another result")
				}
			}
		})
	}
	all.Wait()
}

// TestChoice: a variable turns a library off, and one that cannot be loaded is noted.
func TestChoice(t *testing.T) {
	t.Setenv("ONEDNN", "off")
	l := &loaded{impl: gonum.Implementation{}}
	if name := l.first("ONEDNN", func(string) (Interface, string, string) { return l.impl, "x", "" }, "x"); name != "" {
		t.Errorf("off means %s", name)
	}
	t.Setenv("ONEDNN", "nowhere.so")
	if name := l.first("ONEDNN", func(n string) (Interface, string, string) { return openDNN(n, l.impl) }); name != "" ||
		len(l.tried) != 1 {
		t.Errorf("%s, %q", name, l.tried)
	}
}

func random(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

func BenchmarkGemmPanel(b *testing.B) {
	for _, s := range [][3]int{{1024, 16, 7}, {1024, 128, 256}, {256, 256, 40}, {512, 512, 512}} {
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			rng := rand.New(rand.NewSource(1))
			x, y, z := narrow(random(rng, s[0]*s[1])), narrow(random(rng, s[1]*s[2])), make([]float32, s[0]*s[2])
			for b.Loop() {
				Gemm(false, false, s[0], s[2], s[1], x, s[1], y, s[2], 0, z, s[2])
			}
			b.ReportMetric(2*float64(s[0]*s[1]*s[2])*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

// TestSubnormals: products in single precision by a library count numbers below 1.2e-38 as zero, of large matrices and
// small ones; behind them the thread computes with these numbers as before.
func TestSubnormals(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if Name() == "gonum" || runtime.GOARCH != "amd64" {
		t.Skip("needs a library, and a processor of the x86 family")
	}
	for _, n := range []int{4, 200} {
		if n == 4 && strings.HasPrefix(Name(), "gonum") {
			continue // oneDNN, without an OpenBLAS, leaves small products to gonum, which counts all numbers
		}
		x, y, z := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
		for i := range x {
			x[i], y[i], z[i] = 1e-40, 0.25, 1
		}
		Gemm(false, false, n, n, n, x, n, y, n, 0, z, n)
		if i := slices.IndexFunc(z, func(x float32) bool { return x != 0 }); i >= 0 {
			t.Errorf("%d × %d: element %d is %v, not 0", n, n, i, z[i])
		}
		if half := x[0] / 2; half == 0 || half == x[0] {
			t.Errorf("half of %v is %v behind a product", x[0], half)
		}
	}
}

// TestWidestVectors: a processor that OpenBLAS does not know computes with its vectors, not those of all processors.
func TestWidestVectors(t *testing.T) {
	if os.Getenv("OPENBLAS_CORETYPE") == "" && (cpu.Name() == "C AVX2" || cpu.Name() == "C AVX-512") {
		if strings.Contains(Name(), "Prescott") {
			t.Errorf("%s, but %s", cpu.Name(), Name())
		}
	} else {
		t.Skip("needs vectors: the processor has no AVX2, no C was compiled, or OPENBLAS_CORETYPE is set")
	}
}
