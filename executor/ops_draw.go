package executor

func registerDraws() {
	emitters["random_uniform"] = drawing(0, opUniform)
	emitters["random_int"] = drawing(1, opRandomInt)
	emitters["int_array"] = emitIntArray
	emitters["subscript"] = emitSubscript
}

// drawing compiles a draw whose arguments are some numbers, the seed and the key. A key that is written as ARRAY[…] is
// read part by part. A seed of each row goes through the reference code.
func drawing(numbers int, code opcode) emitter {
	return func(c *compiler, v *val, mask int) (int, error) {
		parts := v.args[: numbers+1 : numbers+1]
		if key := v.args[numbers+1]; key.op == vCall && key.expr.Def.Name == "int_array" && key.data == nil {
			parts = append(parts, key.args...)
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
		if !c.t.cells[args[numbers]].uniform {
			return c.reference(v, mask)
		}
		if !fallibleCall(v) {
			mask = -1
		}
		return c.strict(code, kindOf(v.typ), v, args, mask, nil), nil
	}
}

// emitIntArray compiles ARRAY[…] of bigint.
func emitIntArray(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opIntArray, i64, v, args, -1, nil), nil
}

// emitSubscript compiles x[i]… of constant indices; others run through the reference code.
func emitSubscript(c *compiler, v *val, mask int) (int, error) {
	x, from := v.args[0], v.expr.Attr.From
	if from == nil {
		return c.reference(v, mask)
	}
	a, err := c.emit(x, mask)
	if err != nil {
		return 0, err
	}
	a = c.convert(a, kindOf(v.typ))
	off := 0
	for d, n := range x.typ.Shape {
		off = off*n + from[d]
	}
	return c.strict(opSubscript, kindOf(v.typ), v, []int{a}, -1, off), nil
}

// emitToInt compiles a cast of a float to bigint: half to even; what is out of range is an error.
func emitToInt(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	args[0] = c.convert(args[0], f64)
	return c.strict(opToInt, i64, v, args, mask, nil), nil
}
