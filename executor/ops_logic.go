package executor

import (
	"cmp"
	"math"
	"strings"

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

func runCompare(b *block, o *op) error {
	holds, out := o.aux.([3]int64), b.out(o).i64[:b.rows(o)]
	x, y, sx, sy := b.arg(o, 0), b.arg(o, 1), b.step(o, 0), b.step(o, 1)
	for r := range out {
		var s int
		switch o.kind {
		case i64:
			s = cmp.Compare(x.i64[r*sx], y.i64[r*sy])
		case f64:
			s = compareFloats(x.f64[r*sx], y.f64[r*sy])
		default:
			s = strings.Compare(x.str[r*sx], y.str[r*sy])
		}
		out[r] = holds[s+1]
	}
	return nil
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	case math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x):
		return 1
	}
	return -1
}

// truths are what a condition is for each pair of truth values of its arguments; of one argument, the first.
type truths struct {
	table [3][3]tri
	plain [4]int64 // without NULL: of the second argument times two, plus the first
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

func runTruth(b *block, o *op) error {
	t, out := o.aux.(*truths), b.out(o)
	if first, last := b.arg(o, 0), b.arg(o, len(o.args)-1); out.valid == nil && first.valid == nil && last.valid == nil {
		x, y, sx, sy, two := first.i64, last.i64, b.step(o, 0), b.step(o, len(o.args)-1), len(o.args)-1
		for r := range b.rows(o) {
			out.i64[r] = t.plain[x[r*sx]&1|y[r*sy]&1<<two&2]
		}
		return nil
	}
	for r := range b.rows(o) {
		var x [2]tri
		for i := range o.args {
			x[i] = b.tri(o, i, r)
		}
		y := t.table[x[0]][x[1]]
		out.i64[r] = 0
		if y == yes {
			out.i64[r] = 1
		}
		if out.valid != nil {
			out.valid[r] = 1
			if y == unknown {
				out.valid[r] = 0
			}
		}
	}
	return nil
}

// tri is a truth value of three-valued logic.
type tri uint8

const (
	no tri = iota
	yes
	unknown
)

func (b *block) tri(o *op, i, r int) tri {
	switch {
	case b.null(o, i, r):
		return unknown
	case b.arg(o, i).i64[r*b.step(o, i)] != 0:
		return yes
	}
	return no
}

func truth(b bool) tri {
	if b {
		return yes
	}
	return no
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

func runIsNull(b *block, o *op) error {
	is, out := o.aux.(bool), b.out(o)
	for r := range b.rows(o) {
		out.i64[r] = int64(truth(b.null(o, 0, r) == is))
	}
	return nil
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

func runChoose(b *block, o *op) error {
	conds, out := o.aux.(int), b.out(o)
	for r := range b.rows(o) {
		i, from := b.chosen(o, conds, r), r
		if b.t.cells[o.args[i]].uniform {
			from = 0
		}
		copyRow(out, r, b.arg(o, i), from)
	}
	return nil
}

// chosen is the argument that row r takes.
func (b *block) chosen(o *op, conds, r int) int {
	for i := range conds {
		if b.tri(o, i, r) == yes {
			return conds + i
		}
	}
	if conds > 0 {
		return len(o.args) - 1
	}
	for i := range o.args {
		if !b.null(o, i, r) {
			return i
		}
	}
	return 0
}

// copyRow copies row s of src to row r of out; a NULL zeroes it.
func copyRow(out *data, r int, src *data, s int) {
	if src.valid != nil && src.valid[s] == 0 {
		out.zeroRow(r)
		if out.valid != nil {
			out.valid[r] = 0
		}
		return
	}
	if out.valid != nil {
		out.valid[r] = 1
	}
	n := out.size
	switch out.kind {
	case f64:
		copy(out.f64[r*n:(r+1)*n], src.f64[s*n:])
	case f32:
		copy(out.f32[r*n:(r+1)*n], src.f32[s*n:])
	case i64:
		copy(out.i64[r*n:(r+1)*n], src.i64[s*n:])
	default:
		copy(out.str[r*n:(r+1)*n], src.str[s*n:])
	}
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
