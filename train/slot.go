package train

import (
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
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

	state32 [][]float32 // scratch of updateRows
	state64 [][]float64
}

// gather takes the step's gradient and refuses one that is not finite.
func (s *Slot) gather(step int64) (err error) {
	if s.grad, s.rows, err = s.Grad(); err != nil {
		return err
	}
	for i, row := range s.rows {
		bad, at := 0.0, i*s.Size
		if s.grad.F32 != nil {
			bad = firstBad(s.grad.F32[at : at+s.Size])
		} else {
			bad = firstBad(s.grad.F64[at : at+s.Size])
		}
		if bad != 0 {
			return sqlerr.New(sqlerr.NumericOutOfRange, "the gradient is %s at step %d, parameter %s, key %s", Number(bad), step, s.Name, s.Key(int(row))).WithHint(smaller)
		}
	}
	return nil
}

func (s *Slot) trained(row int32) bool { return s.Trained == nil || s.Trained[row] }

// clip returns the factor that brings the norm of the gradient, over all trained rows of all parameters, down to
// clip_norm (Pascanu, Mikolov and Bengio, ICML 2013, algorithm 1). The sum runs in the order of parameters, rows and
// elements.
func (c *Config) clip(slots []*Slot) float64 {
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

// spread lays the gradient out over all rows of the parameter; absent rows are zero.
func (s *Slot) spread() {
	if s.dense.Len() == 0 {
		s.dense = s.Param.like()
	}
	clear(s.dense.F32)
	clear(s.dense.F64)
	for i, row := range s.rows {
		at, to := i*s.Size, int(row)*s.Size
		if s.grad.F32 != nil {
			copy(s.dense.F32[to:to+s.Size], s.grad.F32[at:])
		} else {
			copy(s.dense.F64[to:to+s.Size], s.grad.F64[at:])
		}
	}
}

// updateRows updates rows [from, to) of the parameter with the rows of g that begin at row at.
func (s *Slot) updateRows(o *optimizer, h *hyper, g Floats, at, from, to int) {
	n, lo, hi := (to-from)*s.Size, from*s.Size, to*s.Size
	if s.Param.F32 != nil {
		s.state32 = s.state32[:0]
		for _, b := range s.State {
			s.state32 = append(s.state32, b.F32[lo:hi])
		}
		o.f32(h, s.Param.F32[lo:hi], g.F32[at*s.Size:at*s.Size+n], s.state32)
	} else {
		s.state64 = s.state64[:0]
		for _, b := range s.State {
			s.state64 = append(s.state64, b.F64[lo:hi])
		}
		o.f64(h, s.Param.F64[lo:hi], g.F64[at*s.Size:at*s.Size+n], s.state64)
	}
	for _, j := range s.project {
		j.apply(s.Param, s.Size, from, to)
	}
}

// windowEpochs is how many epochs' losses tolerance compares with as many before.
const windowEpochs = 10

// Window is the mean loss of windowEpochs epochs, and that of as many before.
type Window struct {
	sum, n       float64
	before, mean float64
	full         int // windows that are over
}

// Observe adds the loss of a step and reports whether a window ended with it.
func (c *Config) Observe(w *Window, step int64, loss float64) bool {
	w.sum, w.n = w.sum+loss, w.n+1
	if epoch, ends := c.epoch(step); !ends || epoch%windowEpochs != 0 {
		return false
	}
	w.before, w.mean, w.sum, w.n = w.mean, w.sum/w.n, 0, 0
	w.full++
	return true
}

// settled reports whether the last window's mean loss is not below the one before by more than tolerance, relative.
func (w *Window) settled(tolerance float64) bool {
	return w.full > 1 && w.before-w.mean <= tolerance*math.Abs(w.before)
}
