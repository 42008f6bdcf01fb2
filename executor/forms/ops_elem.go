package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/tensor"
)

// elementwise compiles an element-wise float kernel with broadcasting.
func elementwise(c *compiler, v *values.Val, mask int) (int, error) {
	if minusLabel(v) != nil {
		return emitMinusLabel(c, v, mask)
	}
	if r, err := emitSoftmaxGrad(c, v, mask); r >= 0 {
		return r, err
	}
	if x, y := ratioOrZero(v); x != nil {
		return emitRatio(c, v, x, y, mask)
	}
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	name := v.Expr.Def.Name
	e := &device.Elem{Size: v.Type.Size(), At: make([][]int32, len(args)), Each: make([]int, len(args))}
	plain := true
	for i, a := range v.Args {
		n := a.Type.Size()
		switch {
		case n == 1:
		case n == e.Size:
			e.Each[i] = 1
		default:
			plain = false
		}
	}
	if name == "power" && values.IsTwo(v.Args[1]) && v.Args[0].Type.Size() == e.Size {
		return c.strict(device.OpUnary, column.KindOf(v.Type), v, args[:1], -1, &device.Elem{Loop: "square"}), nil
	}
	isUnary, isBinary := device.Unary[name], device.Binary[name]
	switch {
	case isUnary && len(args) == 1:
		return c.strict(device.OpUnary, column.KindOf(v.Type), v, args, -1, &device.Elem{Loop: name}), nil
	case isBinary && plain:
		e.Loop = name
		return c.strict(device.OpBinary, column.KindOf(v.Type), v, args, -1, e), nil
	case name == "select" && plain:
		return c.strict(device.OpSelect, column.KindOf(v.Type), v, args, -1, e), nil
	}
	if isBinary || name == "select" {
		shapes := make([]tensor.Shape, len(args))
		for i, a := range v.Args {
			shapes[i] = a.Type.Shape
		}
		var ok bool
		if e.M, e.N, e.Sides, ok = rowsOf(v.Type.Shape, shapes); ok {
			e.Loop = name
			return c.strict(device.OpBroadcast, column.KindOf(v.Type), v, args, -1, e), nil
		}
	}
	for i, a := range v.Args {
		e.At[i] = values.BroadcastOffsets(a.Type.Shape, v.Type.Shape)
	}
	return c.strict(device.OpElem, column.KindOf(v.Type), v, args, -1, e), nil
}

// ratioOrZero finds the scalars x and y if v is x / y, or zero where y is zero. Derivatives of norms and roots have
// this form: select(eq_mask(y, 0), 0, x / select(eq_mask(y, 0), 1, y)).
func ratioOrZero(v *values.Val) (x, y *values.Val) {
	if v.Expr.Def.Name != "select" || v.Type.Size() != 1 || v.Type.Nullable || !values.IsThe(v.Args[1], 0) {
		return nil, nil
	}
	zero, div := v.Args[0], v.Args[2]
	if !values.IsCall(zero, "eq_mask") || !values.IsThe(zero.Args[1], 0) || !values.IsCall(div, "div") {
		return nil, nil
	}
	x, y = div.Args[0], div.Args[1]
	if !values.IsCall(y, "select") || y.Args[0] != zero || y.Args[2] != zero.Args[0] || !values.IsThe(y.Args[1], 1) ||
		column.KindOf(y.Type) != column.KindOf(v.Type) || column.KindOf(zero.Args[0].Type) != column.KindOf(v.Type) {
		return nil, nil
	}
	return x, zero.Args[0]
}

func emitRatio(c *compiler, v, x, y *values.Val, mask int) (int, error) {
	args := make([]int, 2)
	e := &device.Elem{Loop: device.Ratio, Size: 1, Each: []int{0, 0}}
	for i, a := range []*values.Val{x, y} {
		r, err := c.emit(a, mask)
		if err != nil {
			return 0, err
		}
		args[i] = c.convert(r, column.KindOf(v.Type))
	}
	return c.strict(device.OpBinary, column.KindOf(v.Type), v, args, -1, e), nil
}

// emitDropMask draws a block of masks at once.
func emitDropMask(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(device.OpDropMask, column.KindOf(v.Type), v, args, -1, nil), nil
}

// emitRowKey hashes integer keys; other keys go through the reference code.
func emitRowKey(c *compiler, v *values.Val, mask int) (int, error) {
	for _, a := range v.Args {
		if column.KindOf(a.Type) != column.I64 {
			return reference(c, v, mask)
		}
	}
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(device.OpRowKey, column.I64, v, args, -1, nil), nil
}

// lanes compiles a kernel over the last axis by its reference code, vector by vector.
func lanes(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(device.OpLanes, column.KindOf(v.Type), v, args, -1, nil), nil
}
