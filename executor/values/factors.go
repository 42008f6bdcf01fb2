package values

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra/einsum"
)

// Factor is a scalar that multiplies or divides a chunk.
type Factor = einsum.Factor[*Val]

// Factors splits v into scalars and one chunk whose product is v. There are no scalars if v is no such product.
func Factors(g *Graph, v *Val) (scalars []Factor, chunk *Val) {
	if v.Op != OpCall || v.Data != nil || v.Type.Size() == 1 {
		return nil, v
	}
	s, ok := v.Expr.Def.Spec(v.argTypes(), v.Expr.Attr)
	if !ok {
		return nil, v
	}
	for i, a := range v.Args {
		switch {
		case a.Type.Shape == nil:
			scalars = append(scalars, Factor{V: a, Divide: s.Divide[i]})
		case chunk != nil || s.In[i] != s.Out:
			return nil, v
		default:
			chunk = a
		}
	}
	if s.Neg {
		scalars = append(scalars, Factor{V: g.Constant(kernels.Value{Type: kernels.Type{Kind: v.Type.Kind}, X: -1})})
	}
	if len(scalars) == 0 {
		return nil, v
	}
	rest, chunk := Factors(g, chunk)
	return append(rest, scalars...), chunk
}
