package values

import "github.com/relgrad/relgrad/kernels"

// Factor is a scalar by which a chunk is multiplied, or divided.
type Factor struct {
	V      *Val
	Divide bool
}

// Factors splits v into scalars and one chunk: v is the chunk times the scalars.
func Factors(g *Graph, v *Val) (scalars []Factor, chunk *Val) {
	if v.Op != OpCall || v.Data != nil || v.Type.Size() == 1 {
		return nil, v
	}
	a := v.Args
	part := func(s *Val, c int, divide bool) ([]Factor, *Val) {
		rest, chunk := Factors(g, a[c])
		return append(rest, Factor{s, divide}), chunk
	}
	switch name := v.Expr.Def.Name; {
	case name == "mul" && a[0].Type.Shape == nil && a[1].Type.Size() == v.Type.Size():
		return part(a[0], 1, false)
	case name == "mul" && a[1].Type.Shape == nil && a[0].Type.Size() == v.Type.Size():
		return part(a[1], 0, false)
	case name == "div" && a[1].Type.Shape == nil:
		return part(a[1], 0, true)
	case name == "neg":
		return part(g.Constant(kernels.Value{Type: kernels.Type{Kind: v.Type.Kind}, X: -1}), 0, false)
	}
	return nil, v
}
