package executor

import (
	"strings"

	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// addUniform reduces n equal rows.
func (x *reducer) addUniform(a *accum, d *data, n int) {
	if d.valid != nil && d.valid[0] == 0 || n == 0 {
		return
	}
	switch {
	case x.fn == ra.Count:
	case x.fn != ra.Sum && x.fn != ra.GradSum:
		x.extreme(a, d, 0)
	case x.in == i64:
		a.i += int64(n) * d.i64[0]
	default:
		for i := range a.f {
			a.f[i] += float64(n) * d.float(i)
		}
	}
	a.seen += int64(n)
}

func (x *reducer) addAll(a *accum, d *data, lo, hi int) {
	switch d.kind {
	case f64:
		cpu.AddRows(hi-lo, x.size, d.f64[lo*x.size:hi*x.size], a.f)
	case f32:
		cpu.AddRows(hi-lo, x.size, d.f32[lo*x.size:hi*x.size], a.f)
	default:
		for _, i := range d.i64[lo:hi] {
			a.i += i
		}
	}
}

// extreme takes row r where it is beyond the extreme so far, chunks element by element; NaN is above all numbers.
func (x *reducer) extreme(a *accum, d *data, r int) {
	switch d.kind {
	case i64:
		if i := d.i64[r]; a.seen == 0 || x.sign > 0 && i > a.i || x.sign < 0 && i < a.i {
			a.i = i
		}
	case str:
		if s := d.str[r]; a.seen == 0 || x.sign*strings.Compare(s, a.s) > 0 {
			a.s = s
		}
	default:
		for i := range a.f {
			if f := d.float(r*x.size + i); a.seen == 0 || x.sign*compareFloats(f, a.f[i]) > 0 {
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
		d := data{kind: x.in, size: x.size, n: 1, i64: []int64{b.i}, f64: b.f, str: []string{b.s}}
		if x.in == f32 {
			d.kind = f64
		}
		x.extreme(a, &d, 0)
	}
	a.seen += b.seen
}

// settle adds the part in single precision to the sum.
func (a *accum) settle(mem *tray, size int) {
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
func (x *reducer) finish(out *data, g int, a *accum) {
	if out.valid != nil {
		out.valid[g] = 1
		if a.seen == 0 && x.fn != ra.GradSum && x.fn != ra.Count {
			out.valid[g] = 0
			out.zeroRow(g)
			return
		}
	}
	if x.parts {
		if !a.held && a.rows > 0 {
			copy(out.f32[g*x.size:(g+1)*x.size], a.part)
			return
		}
		a.settle(x.mem, x.size)
	}
	switch {
	case x.fn == ra.Count:
		out.i64[g] = a.seen
	case out.kind == i64:
		out.i64[g] = a.i
	case out.kind == str:
		out.str[g] = a.s
	case out.kind == f32 && len(a.f) >= 64: // worth a call of C
		cpu.Narrow(a.f, out.f32[g*x.size:])
	case out.kind == f32:
		for i, f := range a.f {
			out.f32[g*x.size+i] = float32(f)
		}
	default:
		copy(out.f64[g*x.size:(g+1)*x.size], a.f)
	}
}

// accum is a sum, count or extreme so far.
type accum struct {
	f    []float64
	i    int64
	s    string
	seen int64     // valid rows
	part []float32 // where the reducer is in parts: the sum of so many rows that is not in f
	rows int
	held bool // f holds others
}

// reducer is the ⊕ of an aggregate.
type reducer struct {
	fn   ra.AggFn
	size int
	in   kind
	sign int
	// parts tells that accumulators hold single precision, and double precision only where there are too many rows for it.
	parts bool
	mem   *tray // of the accumulators, nil: Go's heap
}

func newReducer(v *val) *reducer {
	x := &reducer{fn: v.fn, size: v.args[0].typ.Size(), in: kindOf(v.args[0].typ), sign: 1}
	if v.fn == ra.Min {
		x.sign = -1
	}
	return x
}

// numbers is how many an accumulator holds.
func (x *reducer) numbers() int {
	if x.in == i64 || x.in == str || x.fn == ra.Count {
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

// add reduces rows lo to hi of a block.
func (x *reducer) add(a *accum, d *data, uniform bool, lo, hi int) {
	if uniform {
		x.addUniform(a, d, hi-lo)
		return
	}
	sums := x.fn == ra.Sum || x.fn == ra.GradSum
	if sums && d.valid == nil {
		a.seen += int64(hi - lo)
		x.addAll(a, d, lo, hi)
		return
	}
	for r := lo; r < hi; r++ {
		if d.valid != nil && d.valid[r] == 0 {
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
