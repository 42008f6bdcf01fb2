package executor

import (
	"github.com/relgrad/relgrad/kernels"
)

// factor is a scalar by which a chunk is multiplied, or divided.
type factor struct {
	v      *val
	divide bool
}

// factors splits v into scalars and one chunk: v is the chunk times the scalars.
func (g *graph) factors(v *val) (scalars []factor, chunk *val) {
	if v.op != vCall || v.data != nil || v.typ.Size() == 1 {
		return nil, v
	}
	a := v.args
	part := func(s *val, c int, divide bool) ([]factor, *val) {
		rest, chunk := g.factors(a[c])
		return append(rest, factor{s, divide}), chunk
	}
	switch name := v.expr.Def.Name; {
	case name == "mul" && a[0].typ.Shape == nil && a[1].typ.Size() == v.typ.Size():
		return part(a[0], 1, false)
	case name == "mul" && a[1].typ.Shape == nil && a[0].typ.Size() == v.typ.Size():
		return part(a[1], 0, false)
	case name == "div" && a[1].typ.Shape == nil:
		return part(a[1], 0, true)
	case name == "neg":
		return part(g.constant(kernels.Value{Type: kernels.Type{Kind: v.typ.Kind}, X: -1}), 0, false)
	}
	return nil, v
}
