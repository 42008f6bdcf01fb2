package cpu

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// fence gives numbers in memory that ends where no memory is, or begins where none was.
type fence struct {
	t    *testing.T
	last bool
}

func fenced[T Float](f fence, x []T) []T {
	page := syscall.Getpagesize()
	n := len(x) * int(unsafe.Sizeof(T(0)))
	size := (n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = syscall.Munmap(mem) })
	for _, guard := range [][]byte{mem[:page], mem[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			f.t.Fatal(err)
		}
	}
	at := page
	if f.last {
		at = page + size - n
	}
	out := unsafe.Slice((*T)(unsafe.Pointer(&mem[at])), len(x))
	copy(out, x)
	return out
}

// reductionsBetween compares the reductions of rows of a size that no neighbouring memory exists of.
func reductionsBetween[T Float](t *testing.T, f fence, rng *rand.Rand, size int) {
	const rows = 5
	tol := 1e-5
	if !single[T]() {
		tol = 1e-12
	}
	check := func(what string, got, want []float64) {
		t.Helper()
		for i, w := range want {
			g := got[i]
			if g != w && !(math.IsNaN(g) && math.IsNaN(w)) &&
				!(math.Abs(g-w) <= tol*math.Max(1, math.Abs(w))*math.Sqrt(float64(size))) {
				t.Fatalf("%s of %d: %v, want %v", what, size, g, w)
			}
		}
	}
	a, b := finite[T](rng, rows*size), finite[T](rng, rows*size)
	special := []float64{math.Inf(1), math.NaN(), math.Inf(-1)}
	for r, x := range special { // in one row each, anywhere; the last row is -∞ throughout
		a[r*size+rng.Intn(size)] = T(x)
	}
	for i := range size {
		a[4*size+i] = T(math.Inf(-1))
	}
	a, b = fenced(f, a), fenced(f, b)
	x, y := make([]float64, rows), make([]float64, rows)
	for _, diff := range []bool{false, true} {
		Pairs(rows, size, diff, Rows[T]{X: a, Step: size}, Rows[T]{X: b, At: []int32{1, 0, 4, 3, 2}}, x)
		refPairs(rows, size, diff, Rows[T]{X: a, Step: size}, Rows[T]{X: b, At: []int32{1, 0, 4, 3, 2}}, y)
		check("pairs", x, y)
	}
	var last, first []int32 // of more rows than fill a list of places
	for r := range 2*64 + 3 {
		last, first = append(last, int32(rows-1)), append(first, int32(r%rows))
	}
	many, manyWant := make([]float64, len(last)), make([]float64, len(last))
	for _, p := range [][2][]int32{{last, first}, {first, last}} {
		Pairs(len(last), size, true, Rows[T]{X: b, At: p[0]}, Rows[T]{X: b, At: p[1]}, many)
		refPairs(len(last), size, true, Rows[T]{X: b, At: p[0]}, Rows[T]{X: b, At: p[1]}, manyWant)
		check("many pairs", many, manyWant)
	}
	sum, sumWant := fenced(f, slices.Clone(b)), slices.Clone(b)
	AddAt([]int32{int32(rows - 1), 0, int32(rows - 1)}, []int32{0, int32(rows - 1), int32(rows - 1)}, size, b, sum)
	for _, p := range [][2]int{{rows - 1, 0}, {0, rows - 1}, {rows - 1, rows - 1}} {
		for i := range size {
			sumWant[p[0]*size+i] += b[p[1]*size+i]
		}
	}
	same(t, "rows added", sum, sumWant, 0)
	top, topWant := make([]float64, rows), make([]float64, rows)
	LogSumExp(rows, size, a, top, x)
	refLogSumExp(rows, size, a, topWant, y)
	check("largest", top, topWant)
	for i := range top { // what is not a number is the largest
		x[i], y[i] = x[i]+top[i], y[i]+topWant[i]
	}
	check("logsumexp", x, y)
	got, want := fenced(f, make([]T, rows*size)), make([]T, rows*size)
	for _, by := range []T{1, 8, 3} {
		Softmax(rows, size, a, by, got)
		refSoftmax(rows, size, a, by, want)
		same(t, fmt.Sprintf("softmax of %v / %v", a, by), got, want, 64)
		SoftmaxGrad(rows, size, b, a, by, got)
		refSoftmaxGrad(rows, size, b, a, by, want)
		check(fmt.Sprintf("gradient of softmax of %v / %v", a, by), wide(got), wide(want))
	}
	p, q := make([]float64, 1), make([]float64, 1)
	AddRows(size, 1, a[3*size:4*size], p)
	refAddRows(size, 1, a[3*size:4*size], q)
	check("sum", p, q)
	start, at, w := []int32{0, 2, 2, 302, 305}, make([]int32, 305), finite[T](rng, 305)
	for i := range at {
		at[i] = int32(rng.Intn(rows))
	}
	clean := fenced(f, finite[T](rng, rows*size))
	held := Rows[T]{X: b, At: []int32{int32(rows - 1), 0, 1, int32(rows - 1)}, Held: true}
	for i, two := range []Rows[T]{{}, {X: b, At: at[:305:305]}, {}, {X: b, At: at[:305:305]}, held} {
		two.distant = i/2 == 0
		s, ref := fenced(f, make([]T, 4*size)), make([]T, 4*size)
		SpMM(4, start, 0, w, Rows[T]{X: clean, At: at, distant: i/2 == 0}, two, size, s)
		refSpMM(4, start, 0, w, Rows[T]{X: clean, At: at}, two, size, ref)
		for i := range s {
			if !(math.Abs(float64(s[i]-ref[i])) <= 100*tol) {
				t.Fatalf("spmm of %d: element %d is %v, want %v", size, i, s[i], ref[i])
			}
		}
	}
}

// TestBounds: rows of any width are reduced as by the reference code, also with infinite numbers and NaN among them,
// and nothing before or behind them is read or written.
func TestBounds(t *testing.T) {
	defer limit(9)
	sizes := []int{127, 128, 129, 255, 256, 257, 271, 300, 1025}
	for n := 1; n <= 70; n++ {
		sizes = append(sizes, n)
	}
	for level := range 3 {
		if limit(level) != level {
			continue
		}
		for _, last := range []bool{true, false} {
			rng := rand.New(rand.NewSource(2))
			for _, size := range sizes {
				reductionsBetween[float32](t, fence{t, last}, rng, size)
				reductionsBetween[float64](t, fence{t, last}, rng, size)
			}
		}
	}
}

// TestTranspose: matrices of any shape are turned as by the reference code, also parts of larger ones, and nothing
// before or behind them is read or written.
func TestTranspose(t *testing.T) {
	defer limit(9)
	for level := range 3 {
		if limit(level) != level {
			continue
		}
		for _, last := range []bool{true, false} {
			for rows := 1; rows <= 18; rows++ {
				for _, cols := range []int{1, 3, 4, 5, 7, 8, 9, 16, 19, 40} {
					transposed[float32](t, fence{t, last}, rows, cols)
					transposed[float64](t, fence{t, last}, rows, cols)
				}
			}
		}
	}
}

func transposed[T Float](t *testing.T, f fence, rows, cols int) {
	t.Helper()
	for _, more := range []int{0, 3} { // numbers between a row and the next, which stay
		x := fenced(f, finite[T](rand.New(rand.NewSource(3)), (rows-1)*(cols+more)+cols))
		got, want := fenced(f, make([]T, (cols-1)*(rows+more)+rows)), make([]T, (cols-1)*(rows+more)+rows)
		Transpose(rows, cols, x, cols+more, got, rows+more)
		refTranspose(rows, cols, x, cols+more, want, rows+more)
		same(t, "transpose", got, want, 0)
	}
}
