package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// emitSoftmax compiles softmax and its logarithm over the last axis. For the softmax of quotients by one number (the
// scores of attention) the loop itself divides.
func emitSoftmax(c *compiler, v *values.Val, mask int) (int, error) {
	last := v.Type.Shape[len(v.Type.Shape)-1]
	if v.Expr.Def.Name == "softmax" {
		args, err := emitQuotient(c, v, v.Args[0], mask)
		if err != nil {
			return 0, err
		}
		return c.strict(device.OpSoftmax, column.KindOf(v.Type), v, args, -1, last), nil
	}
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(device.OpLogSoftmax, column.KindOf(v.Type), v, args, -1, last), nil
}

// emitQuotient emits x, an argument of v. If x is a quotient by one number for all rows, it emits the dividend and that
// number.
func emitQuotient(c *compiler, v, x *values.Val, mask int) ([]int, error) {
	xs := []*values.Val{x}
	if values.Called(x, "div") && oneNumber(x) {
		xs = x.Args
	}
	args := make([]int, len(xs))
	for i, x := range xs {
		a, err := c.emit(x, mask)
		if err != nil {
			return nil, err
		}
		args[i] = c.convert(a, column.KindOf(v.Type))
	}
	return args, nil
}

// oneNumber reports whether v's arguments both have its shape, or the second is one number for all rows.
func oneNumber(v *values.Val) bool {
	return column.KindOf(v.Args[0].Type) == column.KindOf(v.Type) && v.Args[0].Type.Shape.Equal(v.Type.Shape) &&
		v.Args[1].Type.Shape == nil && v.Args[1].Type.IsFloat() && v.Args[1].Uniform()
}

// emitLogSoftmaxSlope compiles g - p·Σ g for p = softmax(x).
func emitLogSoftmaxSlope(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	if c.t.Cells[args[0]].Uniform != c.t.Cells[args[1]].Uniform {
		return reference(c, v, mask)
	}
	return c.strict(device.OpLogSoftmaxSlope, column.KindOf(v.Type), v, args, -1, v.Type.Shape[len(v.Type.Shape)-1]), nil
}

// softmaxGrad returns y and g if v is y (g - Σ y g), with sums over the last axis that nothing else in the tree has
// computed. So softmax passes on the gradient of its result y.
func softmaxGrad(v *values.Val) (y, g *values.Val) {
	if v.Op != values.OpCall || v.Expr.Def.Name != "mul" || v.Type.Shape == nil {
		return nil, nil
	}
	for i, d := range v.Args {
		y := v.Args[1-i]
		if !values.Called(d, "sub") || !values.Called(d.Args[1], "sum_to") || !values.Called(d.Args[1].Args[0], "mul") {
			continue
		}
		g, sum := d.Args[0], d.Args[1]
		last := len(v.Type.Shape) - 1
		if p := sum.Args[0].Args; !(p[0] == y && p[1] == g || p[0] == g && p[1] == y) ||
			sum.Type.Size()*v.Type.Shape[last] != v.Type.Size() || len(sum.Type.Shape) != last+1 || sum.Type.Shape[last] != 1 {
			continue
		}
		if values.Alike(v, y) && values.Alike(v, g) && values.Alike(v, d) && values.Alike(v, sum.Args[0]) &&
			column.KindOf(sum.Type) == column.KindOf(v.Type) {
			return y, g
		}
	}
	return nil, nil
}

// emitSoftmaxGrad compiles v if it is softmaxGrad, or a quotient of that by one number for all rows; -1 where it is
// neither.
func emitSoftmaxGrad(c *compiler, v *values.Val, mask int) (int, error) {
	by := []*values.Val(nil)
	p := v
	if v.Expr.Def.Name == "div" && oneNumber(v) && values.Called(v.Args[0], "mul") {
		p, by = v.Args[0], v.Args[1:]
	}
	y, g := softmaxGrad(p)
	if y == nil {
		return -1, nil
	}
	var args []int
	for _, x := range append([]*values.Val{y, g}, by...) {
		a, err := c.emit(x, mask)
		if err != nil {
			return 0, err
		}
		args = append(args, c.convert(a, column.KindOf(v.Type)))
	}
	last := v.Type.Shape[len(v.Type.Shape)-1]
	if c.t.Cells[args[0]].Uniform != c.t.Cells[args[1]].Uniform {
		return c.strict(device.OpSoftmaxGradOfOne, column.KindOf(v.Type), v, args, -1, last), nil
	}
	return c.strict(device.OpSoftmaxGrad, column.KindOf(v.Type), v, args, -1, last), nil
}
