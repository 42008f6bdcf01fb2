package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
)

// comparisons maps a kernel to the outcomes of a comparison for which it holds (-1, 0, 1, shifted by one).
var comparisons = map[string][3]int64{
	"eq": {0, 1, 0}, "ne": {1, 0, 1}, "lt": {1, 0, 0}, "le": {1, 1, 0}, "gt": {0, 0, 1}, "ge": {0, 1, 1},
}

// emitCompare compares numbers, booleans or texts; NaN equals NaN and is above all numbers.
func emitCompare(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	k := column.I64
	switch a, b := c.t.Cells[args[0]].Kind, c.t.Cells[args[1]].Kind; {
	case a == column.Str:
		k = column.Str
	case a != column.I64 || b != column.I64:
		k = column.F64
		args = []int{c.convert(args[0], column.F64), c.convert(args[1], column.F64)}
	}
	return c.strict(device.OpCompare, k, v, args, -1, comparisons[v.Expr.Def.Name]), nil
}

// boolOp adds an operation that computes for each row one boolean, or NULL, from those of the arguments.
func boolOp(c *compiler, name string, t kernels.Type, args []int, f func(x [2]device.Tri) device.Tri) int {
	t.Kind = kernels.Bool
	out := c.cell(t, c.allUniform(args))
	x := &device.Truths{}
	for i := range x.Table {
		for j := range x.Table[i] {
			x.Table[i][j] = f([2]device.Tri{device.Tri(i), device.Tri(j)})
		}
	}
	for i := range x.Plain {
		if x.Table[i&1][i>>1] == device.Yes {
			x.Plain[i] = 1
		}
	}
	return c.add(&device.Op{Code: device.OpTruth, Name: name, Out: out, Args: args, Mask: -1, Aux: x})
}

// refine makes the mask of those rows of mask where cond is true (is = yes), or is not (is = no).
func refine(c *compiler, mask, cond int, is device.Tri) int {
	args := []int{cond}
	if mask >= 0 {
		args = append(args, mask)
	}
	m := boolOp(c, "mask", kernels.Type{}, args, func(x [2]device.Tri) device.Tri {
		return device.Truth((x[0] == device.Yes) == (is == device.Yes) && (len(args) == 1 || x[1] == device.Yes))
	})
	c.up[m] = mask
	return m
}

// emitLogic compiles AND and OR. The second argument cannot fail in rows where the first decides.
func emitLogic(c *compiler, v *values.Val, mask int) (int, error) {
	and := v.Expr.Def.Name == "and"
	a, err := c.emit(v.Args[0], mask)
	if err != nil {
		return 0, err
	}
	decides := device.Truth(!and)
	if c.fallible(v.Args[1]) {
		open := boolOp(c, "mask", kernels.Type{}, []int{a},
			func(x [2]device.Tri) device.Tri { return device.Truth(x[0] != decides) })
		mask = refine(c, mask, open, device.Yes)
	}
	b, err := c.emit(v.Args[1], mask)
	if err != nil {
		return 0, err
	}
	return boolOp(c, v.Expr.Def.Name, v.Type, []int{a, b}, func(x [2]device.Tri) device.Tri {
		switch {
		case x[0] == decides || x[1] == decides:
			return decides
		case x[0] == device.Unknown || x[1] == device.Unknown:
			return device.Unknown
		}
		return device.Truth(and)
	}), nil
}

func emitNot(c *compiler, v *values.Val, mask int) (int, error) {
	a, err := c.emit(v.Args[0], mask)
	return boolOp(c, "not", v.Type, []int{a}, func(x [2]device.Tri) device.Tri {
		if x[0] == device.Unknown {
			return device.Unknown
		}
		return device.Truth(x[0] == device.No)
	}), err
}

func emitIsTrue(c *compiler, v *values.Val, mask int) (int, error) {
	a, err := c.emit(v.Args[0], mask)
	return boolOp(c, "is_true", v.Type, []int{a},
		func(x [2]device.Tri) device.Tri { return device.Truth(x[0] == device.Yes) }), err
}

// emitIsNull tests the validity of an argument of any type.
func emitIsNull(c *compiler, v *values.Val, mask int) (int, error) {
	a, err := c.emit(v.Args[0], mask)
	if err != nil {
		return 0, err
	}
	out := c.cell(v.Type, c.t.Cells[a].Uniform)
	return isNull(c, v.Expr.Def.Name, out, a, v.Expr.Def.Name == "is_null"), nil
}

// isNull adds an operation that tells whether cell a is NULL, or with is = false whether it is not.
func isNull(c *compiler, name string, out, a int, is bool) int {
	return c.add(&device.Op{Code: device.OpIsNull, Name: name, Out: out, Args: []int{a}, Mask: -1, Aux: is})
}

// emitCase evaluates all branches, and copies the chosen ones. A branch that can fail is evaluated only in the rows
// that choose it.
func emitCase(c *compiler, v *values.Val, mask int) (int, error) {
	var conds, values []int
	for i := 0; i+1 < len(v.Args); i += 2 {
		cond, err := c.emit(v.Args[i], mask)
		if err != nil {
			return 0, err
		}
		then := mask
		if c.fallible(v.Args[i+1]) {
			then = refine(c, mask, cond, device.Yes)
		}
		value, err := c.emit(v.Args[i+1], then)
		if err != nil {
			return 0, err
		}
		conds, values = append(conds, cond), append(values, like(c, value, v.Type))
		if rest := v.Args[i+2:]; c.anyFallible(rest) {
			mask = refine(c, mask, cond, device.No)
		}
	}
	last, err := c.emit(v.Args[len(v.Args)-1], mask)
	if err != nil {
		return 0, err
	}
	values = append(values, like(c, last, v.Type))
	args := append(conds[:len(conds):len(conds)], values...)
	return choose(c, v, args, len(conds)), nil
}

// like converts a number to the kind of t.
func like(c *compiler, r int, t kernels.Type) int {
	if t.IsFloat() {
		return c.convert(r, column.KindOf(t))
	}
	return r
}

func emitCoalesce(c *compiler, v *values.Val, mask int) (int, error) {
	var args []int
	for i, a := range v.Args {
		r, err := c.emit(a, mask)
		if err != nil {
			return 0, err
		}
		args = append(args, like(c, r, v.Type))
		if !c.t.Cells[r].Nullable {
			break
		}
		if c.anyFallible(v.Args[i+1:]) {
			null := c.cell(kernels.Type{Kind: kernels.Bool}, c.t.Cells[r].Uniform)
			isNull(c, "mask", null, r, true)
			mask = refine(c, mask, null, device.Yes)
		}
	}
	if len(args) == 1 && !c.t.Cells[args[0]].Nullable {
		return args[0], nil
	}
	return choose(c, v, args, 0), nil
}

// choose adds an operation that copies for each row one of the arguments after the conditions: that of the first true
// condition, or the last one. Without conditions it copies the first argument that is not NULL.
func choose(c *compiler, v *values.Val, args []int, conds int) int {
	out := c.cell(v.Type, c.allUniform(args))
	return c.add(&device.Op{Code: device.OpChoose, Name: v.Expr.Def.Name, Out: out, Args: args, Mask: -1,
		V: v, Aux: conds})
}

// emitCast converts between numbers; other casts run through the reference code.
func emitCast(c *compiler, v *values.Val, mask int) (int, error) {
	if from := v.Args[0].Type; !v.Type.IsFloat() || !from.IsFloat() && from.Kind != kernels.Int {
		if from.IsFloat() && from.Shape == nil && v.Type.Kind == kernels.Int {
			return emitToInt(c, v, mask)
		}
		if from.Kind != kernels.Bool || v.Type.Kind != kernels.Int {
			return reference(c, v, mask)
		}
	}
	a, err := c.emit(v.Args[0], mask)
	if err != nil {
		return 0, err
	}
	return c.convert(a, column.KindOf(v.Type)), nil
}

// emitSame compiles kernels that do not change the data.
func emitSame(c *compiler, v *values.Val, mask int) (int, error) { return c.emit(v.Args[0], mask) }
