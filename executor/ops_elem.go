package executor

import (
	"github.com/relgrad/relgrad/tensor"
)

// elementwise compiles an element-wise float kernel with broadcasting.
func (c *compiler) elementwise(v *val, mask int) (int, error) {
	if minusLabel(v) != nil {
		return c.emitMinusLabel(v, mask)
	}
	if r, err := c.emitSoftmaxGrad(v, mask); r >= 0 {
		return r, err
	}
	if x, y := ratioOrZero(v); x != nil {
		return c.emitRatio(v, x, y, mask)
	}
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	name := v.expr.Def.Name
	e := &elem{size: v.typ.Size(), at: make([][]int32, len(args)), each: make([]int, len(args))}
	plain := true
	for i, a := range v.args {
		n := a.typ.Size()
		switch {
		case n == 1:
		case n == e.size:
			e.each[i] = 1
		default:
			plain = false
		}
	}
	if name == "power" && isTwo(v.args[1]) && v.args[0].typ.Size() == e.size {
		return c.strict(opUnary, kindOf(v.typ), v, args[:1], -1, &elem{loop: "square"}), nil
	}
	isUnary, isBinary := unary[name], binary[name]
	switch {
	case isUnary && len(args) == 1:
		return c.strict(opUnary, kindOf(v.typ), v, args, -1, &elem{loop: name}), nil
	case isBinary && plain:
		e.loop = name
		return c.strict(opBinary, kindOf(v.typ), v, args, -1, e), nil
	case name == "select" && plain:
		return c.strict(opSelect, kindOf(v.typ), v, args, -1, e), nil
	}
	if isBinary || name == "select" {
		shapes := make([]tensor.Shape, len(args))
		for i, a := range v.args {
			shapes[i] = a.typ.Shape
		}
		var ok bool
		if e.m, e.n, e.sides, ok = rowsOf(v.typ.Shape, shapes); ok {
			e.loop = name
			return c.strict(opBroadcast, kindOf(v.typ), v, args, -1, e), nil
		}
	}
	for i, a := range v.args {
		e.at[i] = broadcastOffsets(a.typ.Shape, v.typ.Shape)
	}
	return c.strict(opElem, kindOf(v.typ), v, args, -1, e), nil
}

// ratioOrZero finds the scalars x and y where v is x / y, and zero where y is, as derivatives of norms and roots write
// it: select(eq_mask(y, 0), 0, x / select(eq_mask(y, 0), 1, y)).
func ratioOrZero(v *val) (x, y *val) {
	if v.expr.Def.Name != "select" || v.typ.Size() != 1 || v.typ.Nullable || !isThe(v.args[1], 0) {
		return nil, nil
	}
	zero, div := v.args[0], v.args[2]
	if !isCall(zero, "eq_mask") || !isThe(zero.args[1], 0) || !isCall(div, "div") {
		return nil, nil
	}
	x, y = div.args[0], div.args[1]
	if !isCall(y, "select") || y.args[0] != zero || y.args[2] != zero.args[0] || !isThe(y.args[1], 1) ||
		kindOf(y.typ) != kindOf(v.typ) ||
		kindOf(zero.args[0].typ) != kindOf(v.typ) {
		return nil, nil
	}
	return x, zero.args[0]
}

func (c *compiler) emitRatio(v, x, y *val, mask int) (int, error) {
	args := make([]int, 2)
	e := &elem{loop: ratio, size: 1, each: []int{0, 0}}
	for i, a := range []*val{x, y} {
		r, err := c.emit(a, mask)
		if err != nil {
			return 0, err
		}
		args[i] = c.convert(r, kindOf(v.typ))
	}
	return c.strict(opBinary, kindOf(v.typ), v, args, -1, e), nil
}

// emitDropMask draws a block of masks at once.
func emitDropMask(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opDropMask, kindOf(v.typ), v, args, -1, nil), nil
}

// emitRowKey hashes integer keys; other keys go through the reference code.
func emitRowKey(c *compiler, v *val, mask int) (int, error) {
	for _, a := range v.args {
		if kindOf(a.typ) != i64 {
			return c.reference(v, mask)
		}
	}
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opRowKey, i64, v, args, -1, nil), nil
}

// lanes compiles a kernel of lanes by its reference code, lane by lane.
func (c *compiler) lanes(v *val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opLanes, kindOf(v.typ), v, args, -1, nil), nil
}
