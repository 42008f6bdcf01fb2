package executor

import (
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
)

func runConst(b *block, o *op) error {
	b.out(o).setValue(0, o.v.konst)
	return nil
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
		return sqlerr.Broken("executor", "no conversion from %d to %d", in.kind, out.kind)
	}
	return nil
}

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
			return sqlerr.Broken("executor", "%s is NULL though its type %v is not nullable", e.Def.Name, o.v.typ)
		}
	}
	return nil
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

func runToInt(b *block, o *op) error {
	x, out, step := b.arg(o, 0).f64, b.out(o).i64, b.step(o, 0)
	for r := range b.rows(o) {
		if b.skip(o, r) {
			out[r] = 0
			continue
		}
		if out[r] = int64(math.RoundToEven(x[r*step])); !(x[r*step] >= -(1<<62) && x[r*step] < 1<<62) { // rarely
			y, err := o.v.expr.Def.Eval(b.env, []kernels.Value{kernels.FloatValue(x[r*step])}, o.v.expr.Attr, o.v.typ)
			if err != nil {
				return err
			}
			out[r] = y.I
		}
	}
	return nil
}

// fastInts are the kernels of bigint with a loop of their own: out[r] of x[r*sx] and y[r*sy]. It returns false where a
// row needs the reference code, which knows the errors.
var fastInts = map[string]func(out, x, y []int64, sx, sy int) bool{
	"add": addInts,
	"sub": subInts,
	"mul": mulInts,
	"mod": modInts,
}

func addInts(out, x, y []int64, sx, sy int) bool {
	over := int64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		s := a + b
		over |= (a ^ s) & (b ^ s) // its sign: both have another than the sum
		out[r] = s
	}
	return over >= 0
}

func subInts(out, x, y []int64, sx, sy int) bool {
	over := int64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		s := a - b
		over |= (a ^ b) & (a ^ s)
		out[r] = s
	}
	return over >= 0
}

func mulInts(out, x, y []int64, sx, sy int) bool {
	large := uint64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		large |= uint64(a+1<<31) | uint64(b+1<<31)
		out[r] = a * b
	}
	return large>>32 == 0 // all of them within 32 bits
}

func modInts(out, x, y []int64, sx, sy int) bool {
	for r := range out {
		b := y[r*sy]
		if b <= 0 {
			return false
		}
		out[r] = x[r*sx] % b
	}
	return true
}

func runExtreme(b *block, o *op) error {
	sign := o.aux.(int)
	switch o.kind {
	case f32:
		extreme(
			b,
			o,
			func(d *data) []float32 { return d.f32 },
			func(x, y float32) bool { return sign*compareFloats(float64(x), float64(y)) > 0 },
		)
	case f64:
		extreme(
			b,
			o,
			func(d *data) []float64 { return d.f64 },
			func(x, y float64) bool { return sign*compareFloats(x, y) > 0 },
		)
	default:
		extreme(
			b,
			o,
			func(d *data) []int64 { return d.i64 },
			func(x, y int64) bool { return x != y && (x > y) == (sign > 0) },
		)
	}
	return nil
}

// extreme gives each row the first argument that no other one is better than.
func extreme[T any](b *block, o *op, of func(*data) []T, better func(x, y T) bool) {
	out, n := b.out(o), b.rows(o)
	y := of(out)
	has := out.valid
	if has == nil {
		has = make([]byte, n)
	}
	clear(has[:n])
	clear(y[:n])
	for i := range o.args {
		a, step := b.arg(o, i), b.step(o, i)
		x := of(a)
		for r := range n {
			if a.valid != nil && a.valid[r*step] == 0 {
				continue
			}
			if has[r] == 0 || better(x[r*step], y[r]) {
				y[r], has[r] = x[r*step], 1
			}
		}
	}
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
