package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/tuning"
)

// narrowNumbers bounds a narrow operand, which each worker transposes for itself.
const narrowNumbers = 1 << 18

// narrowed returns the form of a product whose operands are those of g; nil where nothing is transposed, or nothing
// narrow.
func (g *gemm) narrowed(products int, tune *tuning.Sizes) *narrowProduct {
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
