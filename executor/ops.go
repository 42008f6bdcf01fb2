package executor

import (
	"github.com/relgrad/relgrad/kernels"
)

// emitter compiles a call of one kernel: it emits its arguments and adds its operations.
type emitter func(c *compiler, v *val, mask int) (int, error)

// emitters is the table of kernels with a form of their own. The others run through their reference code:
// element by element where they have Elem or Ints, else value by value.
var emitters map[string]emitter

func init() {
	emitters = map[string]emitter{
		"case": emitCase, "coalesce": emitCoalesce, "and": emitLogic, "or": emitLogic,
		"not": emitNot, "is_true": emitIsTrue, "is_null": emitIsNull, "is_not_null": emitIsNull,
		"cast": emitCast, "stop_gradient": emitSame, "reshape": emitSame,
		"drop_mask": emitDropMask, "row_key": emitRowKey, "greatest": emitExtreme, "least": emitExtreme,
	}
	for name := range comparisons {
		emitters[name] = emitCompare
	}
	registerDense()
	registerDraws()
}

// call compiles a kernel call.
func (c *compiler) call(v *val, mask int) (int, error) {
	d := v.expr.Def
	if f := emitters[d.Name]; f != nil {
		return f(c, v, mask)
	}
	if d.Elem != nil && v.typ.IsFloat() {
		return c.elementwise(v, mask)
	}
	if d.Lane != nil {
		return c.lanes(v, mask)
	}
	if d.Ints != nil && v.typ.Kind == kernels.Int && v.typ.Shape == nil {
		return c.integers(v, mask)
	}
	return c.reference(v, mask)
}

func (c *compiler) emitArgs(v *val, mask int) ([]int, error) {
	args := make([]int, len(v.args))
	for i, a := range v.args {
		var err error
		if args[i], err = c.emit(a, mask); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// floatArgs emits the arguments converted to the result's kind.
func (c *compiler) floatArgs(v *val, mask int) ([]int, error) {
	args, err := c.emitArgs(v, mask)
	for i := range args {
		args[i] = c.convert(args[i], kindOf(v.typ))
	}
	return args, err
}

func (c *compiler) allUniform(args []int) bool {
	for _, a := range args {
		if !c.t.cells[a].uniform {
			return false
		}
	}
	return true
}

// everywhere reports whether the mask is the same for all rows.
func (c *compiler) everywhere(mask int) bool { return mask < 0 || c.t.cells[mask].uniform }

// strict makes the result's cell, and the operation in a kind of number that computes it where no argument is NULL.
func (c *compiler) strict(code opcode, k kind, v *val, args []int, mask int, aux any) int {
	out := c.cell(v.typ, c.allUniform(args) && c.everywhere(mask))
	return c.add(
		&op{code: code, kind: k, strict: true, name: v.expr.Def.Name, out: out, args: args, mask: mask, v: v, aux: aux},
	)
}

// reference compiles a call of the kernel's reference code, value by value.
func (c *compiler) reference(v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	if !fallibleCall(v) {
		mask = -1
	}
	out := c.cell(v.typ, c.allUniform(args) && c.everywhere(mask))
	return c.add(
		&op{code: opReference, name: v.expr.Def.Name, out: out, args: args, mask: mask, v: v},
	), nil
}

func fallibleCall(v *val) bool { return !total(v.expr.Def, v.expr.Attr, v.args) }

// integers compiles bigint arithmetic.
func (c *compiler) integers(v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opInts, i64, v, args, mask, nil), nil
}
