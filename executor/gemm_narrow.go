package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// narrowProduct lowers products of a wide matrix and a narrow one of which either is transposed, such as the heads'
// projections of attention. Libraries lay a transposed operand out badly beside a narrow one. The wide matrix is
// therefore taken as it is stored, on the side of the product where it needs no turning, and what is narrow is turned
// instead: the other operand, and the result where it comes out transposed.
type narrowProduct struct {
	wide, narrow *val
	side, long   int  // of the narrow operand and of the result: narrow numbers beside so many
	inner        int  // numbers that are summed
	left         bool // the wide matrix stands left of the narrow one
	turn, back   bool // the narrow operand is turned, and the result
	rows         int  // of the result's long side in a panel
}

// narrowNumbers bounds a narrow operand, which each worker transposes for itself.
const narrowNumbers = 1 << 18

// narrowed returns the form of a product whose operands are those of g; nil where nothing is transposed, or nothing
// narrow.
func (g *gemm) narrowed(products int, tune *device.Tuning) *narrowProduct {
	p := g.p
	s := &narrowProduct{
		wide:   g.x,
		narrow: g.y,
		side:   p.n,
		long:   p.m,
		inner:  p.k,
		left:   !p.at,
		turn:   p.bt != p.at,
		back:   p.at,
	}
	if p.m < p.n {
		s = &narrowProduct{
			wide:   g.y,
			narrow: g.x,
			side:   p.m,
			long:   p.n,
			inner:  p.k,
			left:   p.bt,
			turn:   p.at != p.bt,
			back:   p.bt,
		}
	}
	if !p.at && !p.bt || s.side > tune.NarrowSide || s.long < 2*s.side || s.inner < s.side ||
		s.side*s.inner > narrowNumbers {
		return nil
	}
	s.rows = tune.NarrowPanel
	for s.rows > leastPanel && products*((s.long+s.rows-1)/s.rows) < 8 {
		s.rows /= 2
	}
	return s
}

// Up to turnedNumbers a matrix that stays the same is kept turned, where each step makes turnedProducts with it.
const turnedNumbers, turnedProducts = 1 << 22, 8

// turnedOnce reports whether v, a transposed matrix, is worth to be kept as such: it stays the same and stands left of
// many narrow operands. On that side libraries take less time to lay out the wide matrix and its panels' results lie as
// they are stored.
func turnedOnce(l *lowerer, v *val) bool {
	return !v.vary && v.uniform() && !v.typ.Nullable && v.typ.Size() <= turnedNumbers &&
		slices.ContainsFunc(l.uses[v], func(u *val) bool {
			if !large(l, u) || !u.vary || u.args[0] != v || u.sp.N < turnedProducts {
				return false
			}
			p := dims(u.args[0], u.args[1])
			return p.n <= l.tune.NarrowSide && p.m >= 2*p.n
		})
}

// scratch is how many numbers a worker needs: the narrow operand turned, and a panel of the result before it is.
func (s *narrowProduct) scratch() (operand, result int) {
	if s.turn {
		operand = s.side * s.inner
	}
	if s.back {
		result = s.side * min(s.rows, s.long)
	}
	return operand, result
}

func (s *narrowProduct) run(in *task) error {
	m := in.m
	panels := (s.long + s.rows - 1) / s.rows
	return cpu.Parallel(m.ctx, m.workers, in.rows*panels, func(w, task int) error {
		operand, result := s.scratch()
		d := place(m.scratch[w], 0, in.v.data.kind, operand+result, 1, false)
		if in.v.data.kind == f32 {
			runNarrow(in, s, task/panels, task%panels*s.rows, d.f32)
		} else {
			runNarrow(in, s, task/panels, task%panels*s.rows, d.f64)
		}
		return nil
	})
}

// runNarrow computes one product's result from lo on, on its long side.
func runNarrow[T float](in *task, s *narrowProduct, row, lo int, scratch []T) {
	n, operand := min(s.rows, s.long-lo), 0
	wide, narrow := part[T](s.wide, row, s.long*s.inner), part[T](s.narrow, row, s.side*s.inner)
	out := of[T](in.v.data)[row*s.side*s.long : (row+1)*s.side*s.long]
	if s.turn {
		operand, _ = s.scratch()
		rows, cols := s.side, s.inner
		if !s.left { // what is side × inner beside the wide matrix is stored as inner × side
			rows, cols = cols, rows
		}
		cpu.Transpose(rows, cols, narrow, cols, scratch[:operand], rows)
		narrow = scratch[:operand]
	}
	to, ld := out[lo*s.side:], s.side
	if !s.left {
		to, ld = out[lo:], s.long
	}
	if s.back {
		to = scratch[operand:]
		if !s.left {
			ld = n
		}
	}
	if s.left {
		blas.Gemm(false, false, n, s.side, s.inner, wide[lo*s.inner:], s.inner, narrow, s.side, 0, to, ld)
	} else {
		blas.Gemm(false, false, s.side, n, s.inner, narrow, s.inner, wide[lo:], s.long, 0, to, ld)
	}
	switch {
	case s.back && s.left:
		cpu.Transpose(n, s.side, to, s.side, out[lo:], s.long)
	case s.back:
		cpu.Transpose(s.side, n, to, n, out[lo*s.side:], s.side)
	}
}
