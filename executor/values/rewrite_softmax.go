package values

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// Called reports whether v is a call of this kernel that is not in memory.
func Called(v *Val, name string) bool {
	return v.Op == OpCall && v.Data == nil && v.Expr.Def.Name == name
}

// ofSoftmax rewrites y · softmax_center(x, g), by which softmax passes on the gradient of its result y = softmax(x), so
// that it reads y but not x, which then need not be kept. The loop of softmaxGrad keeps the digits.
func ofSoftmax(g *Graph, d *kernels.Def, args []*Val) (*Val, error) {
	if d.Name != "mul" {
		return nil, nil
	}
	for i, c := range args {
		y := args[1-i]
		if !Called(c, "softmax_center") || !Alike(y, c) || !Alike(c, c.Args[1]) {
			continue
		}
		s, err := g.Call(kernels.Lookup("softmax"), kernels.Attr{}, c.Args[0])
		if s != y || err != nil {
			return nil, err
		}
		last := tensor.Shape(slices.Clone(y.Type.Shape))
		last[len(last)-1] = 1
		v := c.Args[1]
		for _, step := range []struct {
			name string
			at   kernels.Attr
		}{{"mul", kernels.Attr{}}, {"sum_to", kernels.Attr{Shape: last}}, {"sub", kernels.Attr{}}} {
			with := map[string][]*Val{"mul": {v, y}, "sum_to": {v}, "sub": {c.Args[1], v}}[step.name]
			if v, err = g.Call(kernels.Lookup(step.name), step.at, with...); err != nil {
				return nil, err
			}
		}
		return g.Call(d, kernels.Attr{}, y, v)
	}
	return nil, nil
}

// Alike reports whether v and x are chunks of one shape and kind.
func Alike(v, x *Val) bool {
	return x.Type.Shape.Equal(v.Type.Shape) && column.KindOf(x.Type) == column.KindOf(v.Type)
}
