package cpu

import (
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// addUniform adds n equal rows.
func (x *reducer) addUniform(a *accum, d *column.Column, n int) {
	if d.Valid() != nil && d.Valid()[0] == 0 || n == 0 {
		return
	}
	switch {
	case x.fn == ra.Count:
	case x.fn != ra.Sum && x.fn != ra.GradSum:
		x.extreme(a, d, 0)
	case x.in == column.I64:
		a.i += int64(n) * d.I64()[0]
	default:
		for i := range a.f {
			a.f[i] += float64(n) * d.Float(i)
		}
	}
	a.seen += int64(n)
}

func (x *reducer) addAll(a *accum, d *column.Column, lo, hi int) {
	switch d.Kind() {
	case column.F64:
		cpu.AddRows(hi-lo, x.size, d.F64()[lo*x.size:hi*x.size], a.f)
	case column.F32:
		cpu.AddRows(hi-lo, x.size, d.F32()[lo*x.size:hi*x.size], a.f)
	default:
		for _, i := range d.I64()[lo:hi] {
			a.i += i
		}
	}
}

// extreme replaces the extreme so far by row r where that exceeds it; chunks element by element. NaN is above all
// numbers.
func (x *reducer) extreme(a *accum, d *column.Column, r int) {
	switch d.Kind() {
	case column.I64:
		if i := d.I64()[r]; a.seen == 0 || x.sign > 0 && i > a.i || x.sign < 0 && i < a.i {
			a.i = i
		}
	case column.Str:
		if s := d.Texts()[r]; a.seen == 0 || x.sign*strings.Compare(s, a.s) > 0 {
			a.s = s
		}
	default:
		for i := range a.f {
			if f := d.Float(r*x.size + i); a.seen == 0 || x.sign*device.CompareFloats(f, a.f[i]) > 0 {
				a.f[i] = f
			}
		}
	}
}

// merge adds b to a.
func (x *reducer) merge(a, b *accum) {
	switch {
	case x.parts:
		a.settle(x.mem, x.size)
		if b.held {
			cpu.AddRows(1, x.size, b.f, a.f)
		}
		if b.rows > 0 {
			cpu.AddRows(1, x.size, b.part, a.f)
		}
	case x.fn == ra.Sum || x.fn == ra.GradSum:
		a.i += b.i
		if len(b.f) > 0 {
			cpu.AddRows(1, x.size, b.f, a.f)
		}
	case x.fn == ra.Count || b.seen == 0:
	case a.seen == 0:
		a.i, a.s = b.i, b.s
		copy(a.f, b.f)
	default:
		var d *column.Column
		switch x.in {
		case column.I64:
			d = column.Of(kernels.Type{}, []int64{b.i})
		case column.Str:
			d = column.Of(kernels.Type{}, []string{b.s})
		default:
			d = column.Of(kernels.Type{}, b.f)
		}
		x.extreme(a, d, 0)
	}
	a.seen += b.seen
}

// settle adds the sum in single precision to the one in double precision.
func (a *accum) settle(mem *loans, size int) {
	if !a.held {
		if len(a.f) != size {
			a.f = mem.take(size)
		}
		clear(a.f)
	}
	if a.rows > 0 {
		cpu.AddRows(1, size, a.part, a.f)
	}
	a.rows, a.held = 0, true
}

// finish writes group g's result.
func (x *reducer) finish(out *column.Column, g int, a *accum) {
	if out.Valid() != nil {
		out.Valid()[g] = 1
		if a.seen == 0 && x.fn != ra.GradSum && x.fn != ra.Count {
			out.Valid()[g] = 0
			out.ZeroRow(g)
			return
		}
	}
	if x.parts {
		if !a.held && a.rows > 0 {
			copy(out.F32()[g*x.size:(g+1)*x.size], a.part)
			return
		}
		a.settle(x.mem, x.size)
	}
	switch {
	case x.fn == ra.Count:
		out.I64()[g] = a.seen
	case out.Kind() == column.I64:
		out.I64()[g] = a.i
	case out.Kind() == column.Str:
		out.Texts()[g] = a.s
	case out.Kind() == column.F32 && len(a.f) >= 64: // from this size a call of C is faster
		cpu.Narrow(a.f, out.F32()[g*x.size:])
	case out.Kind() == column.F32:
		for i, f := range a.f {
			out.F32()[g*x.size+i] = float32(f)
		}
	default:
		copy(out.F64()[g*x.size:(g+1)*x.size], a.f)
	}
}

// accum is a sum, count or extreme so far.
type accum struct {
	f    []float64
	i    int64
	s    string
	seen int64     // valid rows
	part []float32 // if the reducer sums in parts: the sum of the rows that are not in f yet
	rows int
	held bool // f holds the sum of earlier rows
}

// reducer computes an aggregate: the ⊕ of its rows.
type reducer struct {
	fn   ra.AggFn
	size int
	in   column.Kind
	sign int
	// accumulators sum in single precision, and add the sum to one in double precision when it has enough rows
	parts bool
	mem   *loans // memory of accumulators; nil: Go's heap
}

func newReducer(v *values.Val) *reducer {
	x := &reducer{fn: v.Fn, size: v.Args[0].Type.Size(), in: column.KindOf(v.Args[0].Type), sign: 1}
	if v.Fn == ra.Min {
		x.sign = -1
	}
	return x
}

// numbers is the size of an accumulator.
func (x *reducer) numbers() int {
	if x.in == column.I64 || x.in == column.Str || x.fn == ra.Count {
		return 0
	}
	return x.size
}

func (x *reducer) reset(a *accum) {
	a.i, a.s, a.seen, a.rows, a.held = 0, "", 0, 0, false
	if x.parts {
		return
	}
	if n := x.numbers(); len(a.f) != n {
		a.f = x.mem.take(n)
	}
	clear(a.f)
}

// add adds the rows lo to hi of a block.
func (x *reducer) add(a *accum, d *column.Column, uniform bool, lo, hi int) {
	if uniform {
		x.addUniform(a, d, hi-lo)
		return
	}
	sums := x.fn == ra.Sum || x.fn == ra.GradSum
	if sums && d.Valid() == nil {
		a.seen += int64(hi - lo)
		x.addAll(a, d, lo, hi)
		return
	}
	for r := lo; r < hi; r++ {
		if d.Valid() != nil && d.Valid()[r] == 0 {
			continue
		}
		if sums {
			x.addAll(a, d, r, r+1)
		} else if x.fn != ra.Count {
			x.extreme(a, d, r)
		}
		a.seen++
	}
}
