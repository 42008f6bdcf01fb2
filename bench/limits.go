package bench

import (
	"cmp"
	"math/rand/v2"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// yardstick is work that bounds a step's, done by as many threads as there are processors.
type yardstick struct {
	amount  float64 // bytes or operations of one run
	run     func()
	buffers []*tensor.Buffer
}

// seconds is the time of one run.
func (y *yardstick) seconds() float64 {
	begin := time.Now()
	y.run()
	return time.Since(begin).Seconds()
}

func (y *yardstick) free() {
	for _, b := range y.buffers {
		b.Free()
	}
	y.buffers = nil
}

// memoryOf allocates n elements, set by f, which are freed with y.
func memoryOf[T float32 | int32 | int64](y *yardstick, n int, f func(i int) T) ([]T, error) {
	var t T
	b, err := tensor.NewBuffer(n * int(unsafe.Sizeof(t)))
	if err != nil {
		return nil, err
	}
	y.buffers = append(y.buffers, b)
	x := tensor.View[T](b, 0, n)
	for i := range x {
		x[i] = f(i)
	}
	return x, nil
}

// parts runs f for each of n parts, on all processors.
func parts(n int, f func(part int)) {
	var next atomic.Int64
	cpu.Together(cpu.Processors(), func(int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	})
}

// gathering sums weighted rows as a step does, from tables of the same sizes, with the executor's own kernel. The rows
// are uniformly random and all groups have the same size. Gathers of the same sizes share memory and run as often as
// they occur.
func gathering(list []executor.Gather) (y *yardstick, err error) {
	y = &yardstick{}
	defer func() {
		if err != nil {
			y.free()
		}
	}()
	var runs []func()
	made := map[executor.Gather]func(){}
	for _, g := range list {
		if made[g] == nil {
			if made[g], err = y.gather(g); err != nil {
				return y, err
			}
		}
		runs = append(runs, made[g])
		y.amount += float64(g.Rows) * float64(g.Width)
	}
	y.run = func() {
		for _, r := range runs {
			r()
		}
	}
	return y, nil
}

func (y *yardstick) gather(g executor.Gather) (func(), error) {
	const lanes = 64
	r, size := rand.New(rand.NewPCG(1, 20)), g.Width/4
	at, e1 := memoryOf(y, g.Rows, func(int) int32 { return int32(r.IntN(g.Table)) })
	weight, e2 := memoryOf(y, g.Rows, func(int) float32 { return 0.5 })
	table, e3 := memoryOf(y, g.Table*size, func(i int) float32 { return float32(i & 7) })
	start, e4 := memoryOf(y, g.Groups+1, func(i int) int32 { return int32(i * g.Rows / g.Groups) })
	out, e5 := memoryOf(y, g.Groups*size, func(int) float32 { return 0 })
	if err := cmp.Or(e1, e2, e3, e4, e5); err != nil {
		return nil, err
	}
	return func() {
		parts(lanes, func(lane int) {
			lo, hi := lane*g.Groups/lanes, (lane+1)*g.Groups/lanes
			if lo == hi {
				return
			}
			from, to := int(start[lo]), int(start[hi])
			cpu.SpMM(hi-lo, start[lo:hi+1], from, weight[from:to], cpu.Rows[float32]{X: table, At: at[from:to]},
				cpu.Rows[float32]{}, size, out[lo*size:hi*size])
		})
	}, nil
}

// reading sums over so many bytes.
func reading(bytes float64) (*yardstick, error) {
	const lanes = 64
	y := &yardstick{}
	words, err := memoryOf(y, max(int(bytes)/8, 4*lanes), func(i int) int64 { return int64(i) })
	if err != nil {
		return y, err
	}
	sums := make([]int64, 8*lanes)
	y.amount = 8 * float64(len(words))
	y.run = func() {
		parts(lanes, func(lane int) {
			part := words[lane*len(words)/lanes : (lane+1)*len(words)/lanes]
			var s [4]int64
			for i := 0; i+4 <= len(part); i += 4 {
				s[0], s[1], s[2], s[3] = s[0]+part[i], s[1]+part[i+1], s[2]+part[i+2], s[3]+part[i+3]
			}
			sums[8*lane] = s[0] + s[1] + s[2] + s[3]
		})
	}
	return y, nil
}

// shape is that of a product of matrices, m × k by k × n.
type shape struct{ m, n, k int }

// multiplying multiplies whole matrices. Each product is cut along its rows for the processors.
func multiplying(shapes []shape) (*yardstick, error) {
	y := &yardstick{}
	var runs []func()
	for _, s := range shapes {
		some := func(i int) float32 { return 1 / float32(1+i&15) }
		a, e1 := memoryOf(y, s.m*s.k, some)
		b, e2 := memoryOf(y, s.k*s.n, some)
		c, e3 := memoryOf(y, s.m*s.n, some)
		if err := cmp.Or(e1, e2, e3); err != nil {
			y.free()
			return y, err
		}
		y.amount += 2 * float64(s.m) * float64(s.n) * float64(s.k)
		workers := min(cpu.Processors(), s.m)
		runs = append(runs, func() {
			parts(workers, func(i int) {
				lo, hi := i*s.m/workers, (i+1)*s.m/workers
				blas.Gemm(false, false, hi-lo, s.n, s.k, a[lo*s.k:], s.k, b, s.n, 0, c[lo*s.n:], s.n)
			})
		})
	}
	y.run = func() {
		for _, r := range runs {
			r()
		}
	}
	return y, nil
}
