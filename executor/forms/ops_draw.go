package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

func registerDraws() {
	emitters["random_uniform"] = drawing(0, device.OpUniform)
	emitters["random_int"] = drawing(1, device.OpRandomInt)
	emitters["int_array"] = emitIntArray
	emitters["subscript"] = emitSubscript
}

// drawing compiles a draw with so many numeric arguments, the seed and the key. A key written as ARRAY[…] is read part
// by part. Seeds that differ by row go through the reference code.
func drawing(numbers int, code device.Opcode) emitter {
	return func(c *compiler, v *values.Val, mask int) (int, error) {
		parts := v.Args[: numbers+1 : numbers+1]
		if key := v.Args[numbers+1]; key.Op == values.OpCall && key.Expr.Def.Name == "int_array" && key.Data == nil {
			parts = append(parts, key.Args...)
		} else {
			parts = append(parts, key)
		}
		args := make([]int, len(parts))
		for i, a := range parts {
			var err error
			if args[i], err = c.emit(a, mask); err != nil {
				return 0, err
			}
		}
		if !c.t.Cells[args[numbers]].Uniform {
			return reference(c, v, mask)
		}
		if !fallibleCall(v) {
			mask = -1
		}
		return c.strict(code, column.KindOf(v.Type), v, args, mask, nil), nil
	}
}

// emitIntArray compiles ARRAY[…] of bigint.
func emitIntArray(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(device.OpIntArray, column.I64, v, args, -1, nil), nil
}

// emitSubscript compiles x[i]… with constant indices; others run by the reference code.
func emitSubscript(c *compiler, v *values.Val, mask int) (int, error) {
	x, from := v.Args[0], v.Expr.Attr.From
	if from == nil {
		return reference(c, v, mask)
	}
	a, err := c.emit(x, mask)
	if err != nil {
		return 0, err
	}
	a = c.convert(a, column.KindOf(v.Type))
	off := 0
	for d, n := range x.Type.Shape {
		off = off*n + from[d]
	}
	return c.strict(device.OpSubscript, column.KindOf(v.Type), v, []int{a}, -1, off), nil
}

// emitToInt compiles a cast of a float to bigint: it rounds half to even, and fails out of range.
func emitToInt(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	args[0] = c.convert(args[0], column.F64)
	return c.strict(device.OpToInt, column.I64, v, args, mask, nil), nil
}
