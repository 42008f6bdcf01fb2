package executor

// emitSoftmax compiles softmax and its logarithm over the last axis. Softmax of quotients by one number (attention's
// scores) divides in the loop itself.
func emitSoftmax(c *compiler, v *val, mask int) (int, error) {
	last := v.typ.Shape[len(v.typ.Shape)-1]
	if v.expr.Def.Name == "softmax" {
		args, err := c.emitQuotient(v, v.args[0], mask)
		if err != nil {
			return 0, err
		}
		return c.strict(opSoftmax, kindOf(v.typ), v, args, -1, last), nil
	}
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opLogSoftmax, kindOf(v.typ), v, args, -1, last), nil
}

// emitQuotient emits x, an argument of v, or where it is a quotient by one number for all rows, what is divided and
// that number.
func (c *compiler) emitQuotient(v, x *val, mask int) ([]int, error) {
	xs := []*val{x}
	if called(x, "div") && oneNumber(x) {
		xs = x.args
	}
	args := make([]int, len(xs))
	for i, x := range xs {
		a, err := c.emit(x, mask)
		if err != nil {
			return nil, err
		}
		args[i] = c.convert(a, kindOf(v.typ))
	}
	return args, nil
}

// oneNumber reports whether both arguments of v are as many as it is, or the second is one number for all rows.
func oneNumber(v *val) bool {
	return kindOf(v.args[0].typ) == kindOf(v.typ) && v.args[0].typ.Shape.Equal(v.typ.Shape) &&
		v.args[1].typ.Shape == nil &&
		v.args[1].typ.IsFloat() &&
		v.args[1].uniform()
}

// emitLogSoftmaxSlope compiles g - p·Σ g for p = softmax(x).
func emitLogSoftmaxSlope(c *compiler, v *val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	if c.t.cells[args[0]].uniform != c.t.cells[args[1]].uniform {
		return c.reference(v, mask)
	}
	return c.strict(opLogSoftmaxSlope, kindOf(v.typ), v, args, -1, v.typ.Shape[len(v.typ.Shape)-1]), nil
}

// softmaxGrad gives y and g where v is y (g - Σ y g) with sums over the last axis, which nothing else of the tree has
// computed: what softmax passes on of the gradient of its result y.
func softmaxGrad(v *val) (y, g *val) {
	if v.op != vCall || v.expr.Def.Name != "mul" || v.typ.Shape == nil {
		return nil, nil
	}
	for i, d := range v.args {
		y := v.args[1-i]
		if !called(d, "sub") || !called(d.args[1], "sum_to") || !called(d.args[1].args[0], "mul") {
			continue
		}
		g, sum := d.args[0], d.args[1]
		last := len(v.typ.Shape) - 1
		if p := sum.args[0].args; !(p[0] == y && p[1] == g || p[0] == g && p[1] == y) ||
			sum.typ.Size()*v.typ.Shape[last] != v.typ.Size() ||
			len(sum.typ.Shape) != last+1 ||
			sum.typ.Shape[last] != 1 {
			continue
		}
		if alike(v, y) && alike(v, g) && alike(v, d) && alike(v, sum.args[0]) && kindOf(sum.typ) == kindOf(v.typ) {
			return y, g
		}
	}
	return nil, nil
}

// emitSoftmaxGrad compiles v as softmaxGrad, or as a quotient of that by one number for all rows; -1 where it is
// neither.
func (c *compiler) emitSoftmaxGrad(v *val, mask int) (int, error) {
	by := []*val(nil)
	p := v
	if v.expr.Def.Name == "div" && oneNumber(v) && called(v.args[0], "mul") {
		p, by = v.args[0], v.args[1:]
	}
	y, g := softmaxGrad(p)
	if y == nil {
		return -1, nil
	}
	var args []int
	for _, x := range append([]*val{y, g}, by...) {
		a, err := c.emit(x, mask)
		if err != nil {
			return 0, err
		}
		args = append(args, c.convert(a, kindOf(v.typ)))
	}
	last := v.typ.Shape[len(v.typ.Shape)-1]
	if c.t.cells[args[0]].uniform != c.t.cells[args[1]].uniform {
		return c.strict(opSoftmaxGradOfOne, kindOf(v.typ), v, args, -1, last), nil
	}
	return c.strict(opSoftmaxGrad, kindOf(v.typ), v, args, -1, last), nil
}
