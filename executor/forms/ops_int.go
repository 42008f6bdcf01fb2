package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// emitExtreme compiles GREATEST and LEAST of numbers, row by row: NULLs are skipped, NaN is above all numbers.
func emitExtreme(c *compiler, v *values.Val, mask int) (int, error) {
	k := column.KindOf(v.Type)
	if k == column.Str {
		return reference(c, v, mask)
	}
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	for i := range args {
		if k != column.I64 {
			args[i] = c.convert(args[i], k)
		}
	}
	sign := 1
	if v.Expr.Def.Name == "least" {
		sign = -1
	}
	o := &device.Op{Code: device.OpExtreme, Kind: k, Name: v.Expr.Def.Name, Args: args, Mask: -1, V: v, Aux: sign}
	o.Out = c.cell(v.Type, c.allUniform(args))
	return c.add(o), nil
}
