package forms

import (
	"slices"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
)

// narrowNumbers bounds a narrow operand, which each worker transposes for itself.
const narrowNumbers = 1 << 18

// narrowed returns the form of a product whose operands are those of g; nil where nothing is transposed, or nothing
// narrow.
func narrowed(g *device.GEMM, products int, tune *tuning.Sizes) *device.NarrowProduct {
	p := g.P
	s := &device.NarrowProduct{Wide: g.X, Narrow: g.Y, Side: p.N, Long: p.M, Inner: p.K, Left: !p.At,
		Turn: p.Bt != p.At, Back: p.At}
	if p.M < p.N {
		s = &device.NarrowProduct{Wide: g.Y, Narrow: g.X, Side: p.M, Long: p.N, Inner: p.K, Left: p.Bt,
			Turn: p.At != p.Bt, Back: p.Bt}
	}
	if !p.At && !p.Bt || s.Side > tune.NarrowSide || s.Long < 2*s.Side || s.Inner < s.Side ||
		s.Side*s.Inner > narrowNumbers {
		return nil
	}
	s.Rows = tune.NarrowPanel
	for s.Rows > device.LeastPanel && products*((s.Long+s.Rows-1)/s.Rows) < 8 {
		s.Rows /= 2
	}
	return s
}

// Up to turnedNumbers a matrix that stays the same is kept turned, where each step makes turnedProducts with it.
const turnedNumbers, turnedProducts = 1 << 22, 8

// turnedOnce reports whether v, a transposed matrix, is worth to be kept as such: it stays the same and stands left of
// many narrow operands. On that side libraries take less time to lay out the wide matrix and its panels' results lie as
// they are stored.
func turnedOnce(l *Lowerer, v *values.Val) bool {
	return !v.Vary && v.Uniform() && !v.Type.Nullable && v.Type.Size() <= turnedNumbers &&
		slices.ContainsFunc(l.uses[v], func(u *values.Val) bool {
			if !large(l, u) || !u.Vary || u.Args[0] != v || u.Space.N < turnedProducts {
				return false
			}
			p := dims(u.Args[0], u.Args[1])
			return p.N <= l.Tune.NarrowSide && p.M >= 2*p.N
		})
}
