package forms

import (
	"slices"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
)

// narrowNumbers bounds a narrow operand, since each worker transposes it for itself.
const narrowNumbers = 1 << 18

// narrowed returns the form of a product with the operands of g; nil where none is transposed or none is narrow.
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

// A matrix of at most turnedNumbers numbers that stays the same is kept transposed if each step multiplies it at least
// turnedProducts times.
const turnedNumbers, turnedProducts = 1 << 22, 8

// turnedOnce reports whether v, a transposed matrix, should be kept transposed, because it stays the same and stands
// left of many narrow operands. On that side libraries lay out the wide matrix faster, and the results of panels lie as
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
