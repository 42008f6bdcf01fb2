package executor

import (
	"unsafe"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// float is an element type of chunks.
type float interface{ float32 | float64 }

// of returns the elements of a cell whose kind is T's.
func of[T float](d *data) []T {
	var t T
	if unsafe.Sizeof(t) == 4 {
		return *(*[]T)(unsafe.Pointer(&d.f32))
	}
	return *(*[]T)(unsafe.Pointer(&d.f64))
}

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

// strictValid sets the result's validity to that of all arguments.
func (b *block) strictValid(o *op) {
	out := b.out(o).valid
	if out == nil {
		return
	}
	n := b.rows(o)
	for i := range n {
		out[i] = 1
	}
	for i, a := range o.args {
		v := b.arg(o, i).valid
		switch {
		case v == nil:
		case b.t.cells[a].uniform:
			if v[0] == 0 {
				clear(out[:n])
			}
		default:
			for r, x := range v[:n] {
				out[r] &= x
			}
		}
	}
}

// skip reports whether row r needs no value: it does not count, or the result is NULL already.
func (b *block) skip(o *op, r int) bool {
	if !b.active(o, r) {
		return true
	}
	out := b.out(o)
	return out.valid != nil && out.valid[r] == 0
}

// loadRows points a cell to the block's rows of a column, or copies them through an index.
func loadRows(b *block, o *op) error {
	d := o.v.data
	c := &b.t.cells[o.out]
	lo, n := b.lo, b.n
	if c.uniform {
		lo, n = 0, 1
	}
	if c.view {
		b.cells[o.out] = d.rows(lo, lo+n)
		return nil
	}
	if o.idx.At == nil {
		copyRows(b.out(o), d, lo, n)
		return nil
	}
	at := o.idx.At[lo : lo+n : lo+n]
	if b.t.rows == 1 && !c.uniform && at[0] >= 0 && o.file == nil { // blocks of one (large) row are not copied
		b.cells[o.out] = d.rows(int(at[0]), int(at[0])+1)
		return nil
	}
	out := b.cells[o.out]
	if b.t.rows == 1 && !c.uniform {
		out = place(b.buf, c.off, c.kind, 1, c.size, c.nullable)
		b.cells[o.out] = out
	}
	if o.file != nil {
		gatherValid(out.valid, d.valid, at)
		return o.file.read(out.bytes()[:n*o.file.row], at)
	}
	switch d.kind {
	case f64:
		gatherFloats(out.f64, d.f64, at, d.size)
	case f32:
		gatherFloats(out.f32, d.f32, at, d.size)
	case i64:
		gatherFloats(bits(out.i64), bits(d.i64), at, d.size) // only their bits are moved
	default:
		gatherRows(out.str, d.str, at, d.size)
	}
	gatherValid(out.valid, d.valid, at)
	return nil
}

func copyRows(out, d *data, lo, n int) {
	src := d.rows(lo, lo+n)
	copy(out.f64, src.f64)
	copy(out.f32, src.f32)
	copy(out.i64, src.i64)
	copy(out.str, src.str)
	if out.valid != nil {
		setValid(out.valid[:n], src.valid)
	}
}

func setValid(out, v []byte) {
	if v != nil {
		copy(out, v)
		return
	}
	for i := range out {
		out[i] = 1
	}
}

// bits are whole numbers as what has as many bits.
func bits(x []int64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// gatherFloats is gatherRows with rows fetched ahead, where a row is worth that.
func gatherFloats[T float](out, src []T, at []int32, size int) {
	if size > 1 && size < 8 || len(src) == 0 {
		gatherRows(out, src, at, size)
		return
	}
	cpu.Gather(size, src, at, out)
}

func gatherRows[T any](out, src []T, at []int32, size int) {
	if size == 1 {
		for i, r := range at {
			if r < 0 {
				var zero T
				out[i] = zero
				continue
			}
			out[i] = src[r]
		}
		return
	}
	for i, r := range at {
		dst := out[i*size : (i+1)*size]
		if r < 0 {
			clear(dst)
			continue
		}
		copy(dst, src[int(r)*size:])
	}
}

func gatherValid(out, v []byte, at []int32) {
	if out == nil {
		return
	}
	for i, r := range at {
		out[i] = 1
		if v != nil && r >= 0 {
			out[i] = v[r]
		}
	}
}

// convertCell changes the representation of numbers.
func convertCell(b *block, o *op) error {
	n := b.rows(o)
	in, out := b.arg(o, 0), b.out(o)
	if out.valid != nil {
		setValid(out.valid[:n], in.valid)
	}
	n *= out.size
	switch {
	case in.kind == f32 && out.kind == f64:
		cpu.Widen(in.f32[:n], out.f64[:n])
	case in.kind == f64 && out.kind == f32:
		cpu.Narrow(in.f64[:n], out.f32[:n])
	case in.kind == i64 && out.kind == f64:
		to := out.f64[:n]
		for i, x := range in.i64[:n] {
			to[i] = float64(x)
		}
	case in.kind == i64 && out.kind == f32:
		to := out.f32[:n]
		for i, x := range in.i64[:n] {
			to[i] = float32(x)
		}
	default:
		return internal("no conversion from %d to %d", in.kind, out.kind)
	}
	return nil
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

func runReference(b *block, o *op) error {
	out, e := b.out(o), o.v.expr
	args := make([]kernels.Value, len(o.args))
	for row := range b.rows(o) {
		if !b.active(o, row) {
			out.setValue(row, kernels.NullOf(o.v.typ))
			continue
		}
		for i, a := range e.Args {
			r := row
			if b.t.cells[o.args[i]].uniform {
				r = 0
			}
			if args[i] = a.Const; a.IsCol {
				args[i] = b.arg(o, i).value(r, o.v.args[i].typ)
			}
		}
		x, err := b.evalReference(e, args)
		if err != nil {
			return err
		}
		if !out.setValue(row, x) {
			return internal("%s is NULL though its type %v is not nullable", e.Def.Name, o.v.typ)
		}
	}
	return nil
}

// evalReference evaluates a call whose argument i has the value args[i].
func (b *block) evalReference(e *kernels.Expr, args []kernels.Value) (kernels.Value, error) {
	if e.Def.Lazy == nil {
		return e.EvalWith(b.env, args)
	}
	return e.Eval(b.env, func(c kernels.Col) kernels.Value { return args[c.ID] })
}

// integers compiles bigint arithmetic.
func (c *compiler) integers(v *val, mask int) (int, error) {
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opInts, i64, v, args, mask, nil), nil
}

func runInts(b *block, o *op) error {
	f, fast, out := o.v.expr.Def.Ints, fastInts[o.name], b.out(o)
	if fast != nil && out.valid == nil &&
		fast(out.i64[:b.rows(o)], b.arg(o, 0).i64, b.arg(o, 1).i64, b.step(o, 0), b.step(o, 1)) {
		return nil
	}
	x := make([]int64, len(o.args))
	for r := range b.rows(o) {
		if b.skip(o, r) {
			out.i64[r] = 0
			continue
		}
		for i := range x {
			x[i] = b.arg(o, i).i64[r*b.step(o, i)]
		}
		var err error
		if out.i64[r], err = f(x); err != nil {
			return err
		}
	}
	return nil
}
