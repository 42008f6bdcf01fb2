package plain

import (
	"context"
	"math"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// train runs an instruction of a step of training. is reports whether in is one.
func (c *plainCode) train(ctx context.Context, in *device.Instr) (is bool, err error) {
	switch f := in.Form.(type) {
	case *device.Finite:
		for i := range in.V.Data.Len() * in.V.Data.Size() {
			if x := in.V.Data.Float(i); math.IsNaN(x) || math.IsInf(x, 0) {
				return true, &device.NotFinite{Slot: f.Slot, Row: i / in.V.Data.Size(), X: x}
			}
		}
	case *device.Clip:
		clip(f)
	case *device.Update:
		return true, c.update(ctx, f, in)
	default:
		return false, nil
	}
	return true, nil
}

// clip computes the common norm of the gradients, and the factor that bounds it.
func clip(f *device.Clip) {
	norm := 0.0
	for i, g := range f.Gradients {
		for at := range g.Data.Len() * g.Data.Size() {
			if f.Rows[i] == nil {
				norm = math.Hypot(norm, g.Data.Float(at))
			}
		}
		for _, r := range f.Rows[i] {
			for at := range g.Data.Size() {
				norm = math.Hypot(norm, g.Data.Float(int(r)*g.Data.Size()+at))
			}
		}
	}
	for _, n := range f.Numbers {
		switch n.Data.SetFloat(0, 1); {
		case f.Measure:
			n.Data.SetFloat(0, norm)
		case norm > f.Bound:
			n.Data.SetFloat(0, f.Bound/norm)
		}
	}
}

// update computes the rows of an update by its expressions. Each reads the values from before the update.
func (c *plainCode) update(ctx context.Context, u *device.Update, in *device.Instr) error {
	outs := u.Changed(in)
	for _, run := range u.Runs {
		for r := int(run[0]); r < int(run[1]); r++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			var next []kernels.Value
			for _, v := range u.New {
				x, err := c.row(v, r, nil, map[*values.Val]kernels.Value{})
				if err != nil {
					return err
				}
				next = append(next, x)
			}
			if u.New == nil {
				f := projections[u.Loop.Name]
				if f == nil {
					return sqlerr.Broken("executor", "%q has no expressions", u.Loop.Name)
				}
				x := in.V.Data.ValueAs(r, in.V.Type)
				next = append(next, kernels.Value{Type: x.Type, F: f(x.Floats())})
			}
			for i, x := range next {
				outs[i].Data.Put(r, x)
			}
		}
	}
	return nil
}

// projections are the projections that have no expressions.
var projections = map[string]func(x []float64) []float64{"simplex": onSimplex}

// onSimplex is the nearest nonnegative chunk of sum 1. It is what exceeds a level, which bisection finds.
func onSimplex(x []float64) []float64 {
	above := func(level float64) (out []float64, sum float64) {
		for _, v := range x {
			out = append(out, max(v-level, 0))
			sum += out[len(out)-1]
		}
		return out, sum
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		lo, hi = min(lo, v-1), max(hi, v)
	}
	for range 200 {
		if mid := lo + (hi-lo)/2; mid > lo && mid < hi {
			if _, sum := above(mid); sum > 1 {
				lo = mid
			} else {
				hi = mid
			}
		}
	}
	out, _ := above(hi)
	return out
}
