package executor

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// called reports whether v is a call of a kernel that is not in memory.
func called(v *val, name string) bool {
	return v.op == vCall && v.data == nil && v.expr.Def.Name == name
}

// ofSoftmax writes y · softmax_center(x, g), what softmax passes on of the gradient of its result y = softmax(x), over
// y alone: x need not stay until then. See softmaxGrad, whose loop keeps the digits.
func (g *graph) ofSoftmax(d *kernels.Def, args []*val) (*val, error) {
	if d.Name != "mul" {
		return nil, nil
	}
	for i, c := range args {
		y := args[1-i]
		if !called(c, "softmax_center") || !alike(y, c) || !alike(c, c.args[1]) {
			continue
		}
		s, err := g.call(kernels.Lookup("softmax"), kernels.Attr{}, c.args[0])
		if s != y || err != nil {
			return nil, err
		}
		last := tensor.Shape(slices.Clone(y.typ.Shape))
		last[len(last)-1] = 1
		v := c.args[1]
		for _, step := range []struct {
			name string
			at   kernels.Attr
		}{{"mul", kernels.Attr{}}, {"sum_to", kernels.Attr{Shape: last}}, {"sub", kernels.Attr{}}} {
			with := map[string][]*val{"mul": {v, y}, "sum_to": {v}, "sub": {c.args[1], v}}[step.name]
			if v, err = g.call(kernels.Lookup(step.name), step.at, with...); err != nil {
				return nil, err
			}
		}
		return g.call(d, kernels.Attr{}, y, v)
	}
	return nil, nil
}

// alike reports whether v and x are chunks of one shape and kind.
func alike(v, x *val) bool {
	return x.typ.Shape.Equal(v.typ.Shape) && kindOf(x.typ) == kindOf(v.typ)
}
