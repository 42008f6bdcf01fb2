package executor

import (
	"github.com/relgrad/relgrad/kernels"
)

// comparisons maps a kernel to the outcomes (-1, 0, 1, shifted by one) for which it holds.
var comparisons = map[string][3]int64{
	"eq": {0, 1, 0}, "ne": {1, 0, 1}, "lt": {1, 0, 0}, "le": {1, 1, 0}, "gt": {0, 0, 1}, "ge": {0, 1, 1},
}

// emitCompare compares numbers, booleans or texts; NaN equals NaN and is above all numbers.
func emitCompare(c *compiler, v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	k := i64
	switch a, b := c.t.cells[args[0]].kind, c.t.cells[args[1]].kind; {
	case a == str:
		k = str
	case a != i64 || b != i64:
		k = f64
		args = []int{c.convert(args[0], f64), c.convert(args[1], f64)}
	}
	return c.strict(opCompare, k, v, args, -1, comparisons[v.expr.Def.Name]), nil
}

// boolOp adds an operation that computes one boolean (and its validity) per row from those of the arguments.
func (c *compiler) boolOp(name string, t kernels.Type, args []int, f func(x [2]tri) tri) int {
	t.Kind = kernels.Bool
	out := c.cell(t, c.allUniform(args))
	x := &truths{}
	for i := range x.table {
		for j := range x.table[i] {
			x.table[i][j] = f([2]tri{tri(i), tri(j)})
		}
	}
	for i := range x.plain {
		if x.table[i&1][i>>1] == yes {
			x.plain[i] = 1
		}
	}
	return c.add(&op{code: opTruth, name: name, out: out, args: args, mask: -1, aux: x})
}

// refine makes the mask of rows of mask where cond is true (is = yes) or is not (is = no).
func (c *compiler) refine(mask, cond int, is tri) int {
	args := []int{cond}
	if mask >= 0 {
		args = append(args, mask)
	}
	m := c.boolOp("mask", kernels.Type{}, args, func(x [2]tri) tri {
		return truth((x[0] == yes) == (is == yes) && (len(args) == 1 || x[1] == yes))
	})
	c.up[m] = mask
	return m
}

// emitLogic compiles AND and OR: the second argument does not fail where the first decides.
func emitLogic(c *compiler, v *val, mask int) (int, error) {
	and := v.expr.Def.Name == "and"
	a, err := c.emit(v.args[0], mask)
	if err != nil {
		return 0, err
	}
	decides := truth(!and)
	if c.fallible(v.args[1]) {
		open := c.boolOp("mask", kernels.Type{}, []int{a}, func(x [2]tri) tri { return truth(x[0] != decides) })
		mask = c.refine(mask, open, yes)
	}
	b, err := c.emit(v.args[1], mask)
	if err != nil {
		return 0, err
	}
	return c.boolOp(v.expr.Def.Name, v.typ, []int{a, b}, func(x [2]tri) tri {
		switch {
		case x[0] == decides || x[1] == decides:
			return decides
		case x[0] == unknown || x[1] == unknown:
			return unknown
		}
		return truth(and)
	}), nil
}

func emitNot(c *compiler, v *val, mask int) (int, error) {
	a, err := c.emit(v.args[0], mask)
	return c.boolOp("not", v.typ, []int{a}, func(x [2]tri) tri {
		if x[0] == unknown {
			return unknown
		}
		return truth(x[0] == no)
	}), err
}

func emitIsTrue(c *compiler, v *val, mask int) (int, error) {
	a, err := c.emit(v.args[0], mask)
	return c.boolOp("is_true", v.typ, []int{a}, func(x [2]tri) tri { return truth(x[0] == yes) }), err
}

// emitIsNull tests the validity of an argument of any type.
func emitIsNull(c *compiler, v *val, mask int) (int, error) {
	a, err := c.emit(v.args[0], mask)
	if err != nil {
		return 0, err
	}
	out := c.cell(v.typ, c.t.cells[a].uniform)
	return c.isNull(v.expr.Def.Name, out, a, v.expr.Def.Name == "is_null"), nil
}

// isNull adds an operation that tells whether cell a is NULL, or is not.
func (c *compiler) isNull(name string, out, a int, is bool) int {
	return c.add(&op{code: opIsNull, name: name, out: out, args: []int{a}, mask: -1, aux: is})
}

// emitCase evaluates all branches, each where it can fail only on the rows that choose it, and copies.
func emitCase(c *compiler, v *val, mask int) (int, error) {
	var conds, values []int
	for i := 0; i+1 < len(v.args); i += 2 {
		cond, err := c.emit(v.args[i], mask)
		if err != nil {
			return 0, err
		}
		then := mask
		if c.fallible(v.args[i+1]) {
			then = c.refine(mask, cond, yes)
		}
		value, err := c.emit(v.args[i+1], then)
		if err != nil {
			return 0, err
		}
		conds, values = append(conds, cond), append(values, c.like(value, v.typ))
		if rest := v.args[i+2:]; c.anyFallible(rest) {
			mask = c.refine(mask, cond, no)
		}
	}
	last, err := c.emit(v.args[len(v.args)-1], mask)
	if err != nil {
		return 0, err
	}
	values = append(values, c.like(last, v.typ))
	args := append(conds[:len(conds):len(conds)], values...)
	return c.choose(v, args, len(conds)), nil
}

// like converts a number to the kind of t.
func (c *compiler) like(r int, t kernels.Type) int {
	if t.IsFloat() {
		return c.convert(r, kindOf(t))
	}
	return r
}

func emitCoalesce(c *compiler, v *val, mask int) (int, error) {
	var args []int
	for i, a := range v.args {
		r, err := c.emit(a, mask)
		if err != nil {
			return 0, err
		}
		args = append(args, c.like(r, v.typ))
		if !c.t.cells[r].nullable {
			break
		}
		if c.anyFallible(v.args[i+1:]) {
			null := c.cell(kernels.Type{Kind: kernels.Bool}, c.t.cells[r].uniform)
			c.isNull("mask", null, r, true)
			mask = c.refine(mask, null, yes)
		}
	}
	if len(args) == 1 && !c.t.cells[args[0]].nullable {
		return args[0], nil
	}
	return c.choose(v, args, 0), nil
}

// choose adds an operation that copies, per row, one of the arguments behind so many conditions: that of the first
// condition that is true, or the last one. Without conditions it is the first that is not NULL.
func (c *compiler) choose(v *val, args []int, conds int) int {
	out := c.cell(v.typ, c.allUniform(args))
	return c.add(&op{code: opChoose, name: v.expr.Def.Name, out: out, args: args, mask: -1, v: v, aux: conds})
}

// emitCast converts between numbers; other casts run through the reference code.
func emitCast(c *compiler, v *val, mask int) (int, error) {
	from := v.args[0].typ
	if !v.typ.IsFloat() || !from.IsFloat() && from.Kind != kernels.Int {
		if from.IsFloat() && from.Shape == nil && v.typ.Kind == kernels.Int {
			return emitToInt(c, v, mask)
		}
		if from.Kind != kernels.Bool || v.typ.Kind != kernels.Int {
			return c.reference(v, mask)
		}
	}
	a, err := c.emit(v.args[0], mask)
	if err != nil {
		return 0, err
	}
	return c.convert(a, kindOf(v.typ)), nil
}

// emitSame is for kernels that only rename: the data stay.
func emitSame(c *compiler, v *val, mask int) (int, error) { return c.emit(v.args[0], mask) }
