package cpu

import (
	"math"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
)

func runConst(b *block, o *device.Op) error {
	b.out(o).Put(0, o.V.Value)
	return nil
}

// loadRows makes a cell refer to the block's rows of a column. Rows that are read through an index are copied to the
// cell.
func loadRows(b *block, o *device.Op) error {
	d := o.V.Data
	c := &b.t.Cells[o.Out]
	lo, n := b.lo, b.n
	if c.Uniform {
		lo, n = 0, 1
	}
	if c.View {
		b.cells[o.Out] = d.Rows(lo, lo+n)
		return nil
	}
	if o.Idx.At == nil {
		copyRows(b.out(o), d, lo, n)
		return nil
	}
	at := o.Idx.At[lo : lo+n : lo+n]
	if b.t.Rows == 1 && !c.Uniform && at[0] >= 0 && o.File == nil { // a block of one (large) row is not copied
		b.cells[o.Out] = d.Rows(int(at[0]), int(at[0])+1)
		return nil
	}
	out := b.cells[o.Out]
	if b.t.Rows == 1 && !c.Uniform {
		out = column.Place(b.buf, c.Off, c.Kind, 1, c.Size, c.Nullable)
		b.cells[o.Out] = out
	}
	if o.File != nil {
		gatherValid(out.Valid(), d.Valid(), at)
		return o.File.Read(out.Bytes()[:n*o.File.Row], at)
	}
	switch d.Kind() {
	case column.F64:
		gatherFloats(out.F64(), d.F64(), at, d.Size())
	case column.F32:
		gatherFloats(out.F32(), d.F32(), at, d.Size())
	case column.I64:
		gatherFloats(bits(out.I64()), bits(d.I64()), at, d.Size()) // bits are moved unchanged
	default:
		gatherRows(out.Texts(), d.Texts(), at, d.Size())
	}
	gatherValid(out.Valid(), d.Valid(), at)
	return nil
}

// bits views integers as floats of the same bits, to copy them with the code for floats.
func bits(x []int64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

func copyRows(out, d *column.Column, lo, n int) {
	src := d.Rows(lo, lo+n)
	copy(out.F64(), src.F64())
	copy(out.F32(), src.F32())
	copy(out.I64(), src.I64())
	copy(out.Texts(), src.Texts())
	if out.Valid() != nil {
		setValid(out.Valid()[:n], src.Valid())
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

// gatherFloats is gatherRows with prefetching, if rows are large enough to profit from it.
func gatherFloats[T column.Float](out, src []T, at []int32, size int) {
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

// convertCell converts numbers to the kind of the result's cell.
func convertCell(b *block, o *device.Op) error {
	n := b.rows(o)
	in, out := b.arg(o, 0), b.out(o)
	if out.Valid() != nil {
		setValid(out.Valid()[:n], in.Valid())
	}
	n *= out.Size()
	switch {
	case in.Kind() == column.F32 && out.Kind() == column.F64:
		cpu.Widen(in.F32()[:n], out.F64()[:n])
	case in.Kind() == column.F64 && out.Kind() == column.F32:
		cpu.Narrow(in.F64()[:n], out.F32()[:n])
	case in.Kind() == column.I64 && out.Kind() == column.F64:
		to := out.F64()[:n]
		for i, x := range in.I64()[:n] {
			to[i] = float64(x)
		}
	case in.Kind() == column.I64 && out.Kind() == column.F32:
		to := out.F32()[:n]
		for i, x := range in.I64()[:n] {
			to[i] = float32(x)
		}
	default:
		return sqlerr.Broken("executor", "no conversion from %d to %d", in.Kind(), out.Kind())
	}
	return nil
}

func runReference(b *block, o *device.Op) error {
	out, e := b.out(o), o.V.Expr
	args := make([]kernels.Value, len(o.Args))
	for row := range b.rows(o) {
		if !b.active(o, row) {
			out.Put(row, kernels.NullOf(o.V.Type))
			continue
		}
		for i, a := range e.Args {
			r := row
			if b.t.Cells[o.Args[i]].Uniform {
				r = 0
			}
			if args[i] = a.Const; a.IsCol {
				args[i] = b.arg(o, i).ValueAs(r, o.V.Args[i].Type)
			}
		}
		x, err := b.evalReference(e, args)
		if err != nil {
			return err
		}
		if !out.Put(row, x) {
			return sqlerr.Broken("executor", "%s is NULL though its type %v is not nullable", e.Def.Name, o.V.Type)
		}
	}
	return nil
}

func runInts(b *block, o *device.Op) error {
	f, fast, out := o.V.Expr.Def.Ints, FastInts[o.Name], b.out(o)
	if fast != nil && out.Valid() == nil &&
		fast(out.I64()[:b.rows(o)], b.arg(o, 0).I64(), b.arg(o, 1).I64(), b.step(o, 0), b.step(o, 1)) {
		return nil
	}
	x := make([]int64, len(o.Args))
	for r := range b.rows(o) {
		if b.skip(o, r) {
			out.I64()[r] = 0
			continue
		}
		for i := range x {
			x[i] = b.arg(o, i).I64()[r*b.step(o, i)]
		}
		var err error
		if out.I64()[r], err = f(x); err != nil {
			return err
		}
	}
	return nil
}

func runToInt(b *block, o *device.Op) error {
	x, out, step := b.arg(o, 0).F64(), b.out(o).I64(), b.step(o, 0)
	for r := range b.rows(o) {
		if b.skip(o, r) {
			out[r] = 0
			continue
		}
		if out[r] = int64(math.RoundToEven(x[r*step])); !(x[r*step] >= -(1<<62) && x[r*step] < 1<<62) { // out of range
			y, err := o.V.Expr.Def.Eval(b.env, []kernels.Value{kernels.FloatValue(x[r*step])}, o.V.Expr.Attr, o.V.Type)
			if err != nil {
				return err
			}
			out[r] = y.I
		}
	}
	return nil
}

// FastInts are the kernels of bigint with loops of their own: out[r] from x[r*sx] and y[r*sy]. They return false if a
// row needs the reference code, which reports errors.
var FastInts = map[string]func(out, x, y []int64, sx, sy int) bool{
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
		over |= (a ^ s) & (b ^ s) // its sign bit: both have another sign than the sum
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
	return large>>32 == 0 // all fit into 32 bits
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

func runExtreme(b *block, o *device.Op) error {
	sign := o.Aux.(int)
	switch o.Kind {
	case column.F32:
		extreme(b, o, func(d *column.Column) []float32 { return d.F32() },
			func(x, y float32) bool { return sign*device.CompareFloats(float64(x), float64(y)) > 0 })
	case column.F64:
		extreme(b, o, func(d *column.Column) []float64 { return d.F64() },
			func(x, y float64) bool { return sign*device.CompareFloats(x, y) > 0 })
	default:
		extreme(b, o, func(d *column.Column) []int64 { return d.I64() },
			func(x, y int64) bool { return x != y && (x > y) == (sign > 0) })
	}
	return nil
}

// extreme copies, for each row, the best argument that is not NULL: of equally good ones the first.
func extreme[T any](b *block, o *device.Op, of func(*column.Column) []T, better func(x, y T) bool) {
	out, n := b.out(o), b.rows(o)
	y := of(out)
	has := out.Valid()
	if has == nil {
		has = make([]byte, n)
	}
	clear(has[:n])
	clear(y[:n])
	for i := range o.Args {
		a, step := b.arg(o, i), b.step(o, i)
		x := of(a)
		for r := range n {
			if a.Valid() != nil && a.Valid()[r*step] == 0 {
				continue
			}
			if has[r] == 0 || better(x[r*step], y[r]) {
				y[r], has[r] = x[r*step], 1
			}
		}
	}
}

// copyRow copies row s of src to row r of out. A NULL becomes zero.
func copyRow(out *column.Column, r int, src *column.Column, s int) {
	if src.Valid() != nil && src.Valid()[s] == 0 {
		out.ZeroRow(r)
		if out.Valid() != nil {
			out.Valid()[r] = 0
		}
		return
	}
	if out.Valid() != nil {
		out.Valid()[r] = 1
	}
	n := out.Size()
	switch out.Kind() {
	case column.F64:
		copy(out.F64()[r*n:(r+1)*n], src.F64()[s*n:])
	case column.F32:
		copy(out.F32()[r*n:(r+1)*n], src.F32()[s*n:])
	case column.I64:
		copy(out.I64()[r*n:(r+1)*n], src.I64()[s*n:])
	default:
		copy(out.Texts()[r*n:(r+1)*n], src.Texts()[s*n:])
	}
}
