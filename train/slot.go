package train

import (
	"sync/atomic"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// Slot is one value column of a parameter, with its live buffers.
type Slot struct {
	Name  string   // table.column, in messages and in relgrad.state
	Names []string // by which options mean it, the table's before the column's
	Size  int      // elements per row
	Param Floats
	// Trained tells which rows are updated; nil: all. The others keep their values whatever happens.
	Trained []bool
	// Grad returns the gradient's buffer after a step, and for each of its rows the row of Param. It is only read.
	Grad func() (Floats, []int32, error)
	// Key prints the identity of a row of Param, for messages.
	Key func(row int) string

	State []Floats // the optimizer's, in its order

	lr, decay float64
	sparse    bool
	project   []*projection

	grad  Floats // of the present step: Size elements for each of rows
	rows  []int32
	dense Floats // the gradient, one row per row of Param; not for a sparse slot
	zeros Floats // what dense is laid out in
}

// gather takes the step's gradient and refuses one that is not finite.
func (s *Slot) gather(step int64) (err error) {
	if s.grad, s.rows, err = s.Grad(); err != nil {
		return err
	}
	if s.finite() {
		return nil
	}
	for i, row := range s.rows { // which it is
		bad, at := 0.0, i*s.Size
		if s.grad.F32 != nil {
			bad = firstBad(s.grad.F32[at : at+s.Size])
		} else {
			bad = firstBad(s.grad.F64[at : at+s.Size])
		}
		if bad != 0 {
			return sqlerr.New(sqlerr.NumericOutOfRange, "the gradient is %s at step %d, parameter %s, key %s", Number(bad), step,
				s.Name, s.Key(int(row))).WithHint(smaller)
		}
	}
	return nil
}

// finite reports whether all numbers of the gradient are.
func (s *Slot) finite() bool {
	var bad atomic.Bool
	shared(0, len(s.rows)*s.Size, 1, func(lo, hi int) {
		if s.grad.F32 != nil && !cpu.Finite(s.grad.F32[lo:hi]) || s.grad.F64 != nil && !cpu.Finite(s.grad.F64[lo:hi]) {
			bad.Store(true)
		}
	})
	return !bad.Load()
}

func (s *Slot) trained(row int32) bool { return s.Trained == nil || s.Trained[row] }

// clip returns the factor that brings the norm of the gradient, over all trained rows of all parameters, down to
// clip_norm (Pascanu, Mikolov and Bengio, ICML 2013, algorithm 1). The sum runs in the order of parameters, rows and
// elements.
func clip(c *Config, slots []*Slot) float64 {
	if c.ClipNorm == 0 {
		return 1
	}
	var norms []float64
	for _, s := range slots {
		for i, row := range s.rows {
			if !s.trained(row) {
				continue
			}
			at := i * s.Size
			if s.grad.F32 != nil {
				norms = append(norms, l2(s.grad.F32[at:at+s.Size]))
			} else {
				norms = append(norms, l2(s.grad.F64[at:at+s.Size]))
			}
		}
	}
	if n := l2(norms); n > c.ClipNorm {
		return c.ClipNorm / n
	}
	return 1
}

// update applies the optimizer and the projections to the rows that are trained; of a sparse slot, to those among
// them that the gradient reaches.
func (s *Slot) update(o *optimizer, h *hyper) {
	if s.sparse {
		for i, row := range s.rows {
			if s.trained(row) {
				s.updateRows(o, h, s.grad, i, int(row), int(row)+1)
			}
		}
		return
	}
	s.spread()
	rows := s.Param.Len() / max(s.Size, 1)
	for from := 0; from < rows; {
		to := from
		for to < rows && s.trained(int32(to)) {
			to++
		}
		if s.Trained == nil {
			to = rows
		}
		if to > from {
			s.updateRows(o, h, s.dense, from, from, to)
		}
		from = to + 1
	}
}

// spread lays the gradient out over all rows of the parameter; absent rows are zero. A gradient of all rows is used as
// it is.
func (s *Slot) spread() {
	if s.whole() {
		s.dense = s.grad
		return
	}
	if s.zeros.Len() == 0 {
		s.zeros = s.Param.like()
	}
	s.dense = s.zeros
	shared(0, s.dense.Len(), 1, func(lo, hi int) {
		if s.dense.F32 != nil {
			clear(s.dense.F32[lo:hi])
		} else {
			clear(s.dense.F64[lo:hi])
		}
	})
	shared(0, len(s.rows), s.Size, func(lo, hi int) {
		for i, row := range s.rows[lo:hi] {
			at, to := (lo+i)*s.Size, int(row)*s.Size
			if s.grad.F32 != nil {
				copy(s.dense.F32[to:to+s.Size], s.grad.F32[at:])
			} else {
				copy(s.dense.F64[to:to+s.Size], s.grad.F64[at:])
			}
		}
	})
}

// whole reports whether the gradient has all rows of the parameter, in their order.
func (s *Slot) whole() bool {
	if len(s.rows)*s.Size != s.Param.Len() || s.grad.Len() < s.Param.Len() {
		return false
	}
	for i, row := range s.rows {
		if int(row) != i {
			return false
		}
	}
	return true
}

// updateRows updates rows [from, to) of the parameter with the rows of g that begin at row at.
func (s *Slot) updateRows(o *optimizer, h *hyper, g Floats, at, from, to int) {
	shift := (at - from) * s.Size
	shared(from*s.Size, to*s.Size, 1, func(lo, hi int) { s.updateElements(o, h, g, shift, lo, hi) })
	for _, j := range s.project {
		shared(from, to, s.Size, func(lo, hi int) { j.apply(s.Param, s.Size, lo, hi) })
	}
}

// shared calls f for parts of what lies from lo to hi, each of so many elements, at the same time where they are many:
// each is for itself, so that who does it does not matter.
func shared(lo, hi, size int, f func(lo, hi int)) {
	n := hi - lo
	parts := max(1, min(cpu.Processors(), n*size/updateShare))
	if parts == 1 {
		f(lo, hi)
		return
	}
	cpu.Together(parts, func(i int) { f(lo+i*n/parts, lo+(i+1)*n/parts) })
}

// updateShare is how many elements are worth a worker of their own.
const updateShare = 1 << 16

// updateElements updates the elements from lo to hi with those of g that are shift further.
func (s *Slot) updateElements(o *optimizer, h *hyper, g Floats, shift, lo, hi int) {
	if s.Param.F32 != nil {
		var buf [2][]float32
		state := buf[:0]
		for _, b := range s.State {
			state = append(state, b.F32[lo:hi])
		}
		o.f32(h, s.Param.F32[lo:hi], g.F32[lo+shift:hi+shift], state)
		return
	}
	var buf [2][]float64
	state := buf[:0]
	for _, b := range s.State {
		state = append(state, b.F64[lo:hi])
	}
	o.f64(h, s.Param.F64[lo:hi], g.F64[lo+shift:hi+shift], state)
}
