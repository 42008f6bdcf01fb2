package executor

// emitExtreme compiles GREATEST and LEAST of numbers, row by row: NULLs are skipped, NaN is above all numbers.
func emitExtreme(c *compiler, v *val, mask int) (int, error) {
	k := kindOf(v.typ)
	if k == str {
		return c.reference(v, mask)
	}
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	for i := range args {
		if k != i64 {
			args[i] = c.convert(args[i], k)
		}
	}
	sign := 1
	if v.expr.Def.Name == "least" {
		sign = -1
	}
	o := &op{code: opExtreme, kind: k, name: v.expr.Def.Name, args: args, mask: -1, v: v, aux: sign}
	o.out = c.cell(v.typ, c.allUniform(args))
	return c.add(o), nil
}
