package forms

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
)

// emitter compiles a call of one kernel: it emits its arguments and adds its operations.
type emitter func(c *compiler, v *values.Val, mask int) (int, error)

// emitters are the kernels that are compiled to operations of their own. Others run by their reference code: element by
// element if they have Elem or Ints, else value by value.
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
func (c *compiler) call(v *values.Val, mask int) (int, error) {
	d := v.Expr.Def
	if f := emitters[d.Name]; f != nil {
		return f(c, v, mask)
	}
	if d.Elem != nil && v.Type.IsFloat() {
		return elementwise(c, v, mask)
	}
	if d.Lane != nil {
		return lanes(c, v, mask)
	}
	if d.Ints != nil && v.Type.Kind == kernels.Int && v.Type.Shape == nil {
		return integers(c, v, mask)
	}
	return reference(c, v, mask)
}

func (c *compiler) emitArgs(v *values.Val, mask int) ([]int, error) {
	args := make([]int, len(v.Args))
	for i, a := range v.Args {
		var err error
		if args[i], err = c.emit(a, mask); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// floatArgs emits the arguments, converted to the result's kind.
func (c *compiler) floatArgs(v *values.Val, mask int) ([]int, error) {
	args, err := c.emitArgs(v, mask)
	for i := range args {
		args[i] = c.convert(args[i], column.KindOf(v.Type))
	}
	return args, err
}

func (c *compiler) allUniform(args []int) bool {
	return !slices.ContainsFunc(args, func(a int) bool { return !c.t.Cells[a].Uniform })
}

// everywhere reports whether a mask is the same for all rows.
func (c *compiler) everywhere(mask int) bool { return mask < 0 || c.t.Cells[mask].Uniform }

// strict makes the result's cell, and the operation of the given kind that computes it in rows where no argument is
// NULL.
func (c *compiler) strict(code device.Opcode, k column.Kind, v *values.Val, args []int, mask int, aux any) int {
	out := c.cell(v.Type, c.allUniform(args) && c.everywhere(mask))
	return c.add(&device.Op{Code: code, Kind: k, Strict: true, Name: v.Expr.Def.Name, Out: out, Args: args, Mask: mask,
		V: v, Aux: aux})
}

// reference compiles a call of the kernel's reference code, value by value.
func reference(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	if !fallibleCall(v) {
		mask = -1
	}
	out := c.cell(v.Type, c.allUniform(args) && c.everywhere(mask))
	return c.add(&device.Op{Code: device.OpReference, Name: v.Expr.Def.Name, Out: out, Args: args, Mask: mask, V: v}), nil
}

func fallibleCall(v *values.Val) bool { return !values.Total(v.Expr.Def, v.Expr.Attr, v.Args) }

// integers compiles bigint arithmetic.
func integers(c *compiler, v *values.Val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(device.OpInts, column.I64, v, args, mask, nil), nil
}
