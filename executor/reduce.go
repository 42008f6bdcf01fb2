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

// float is element i of a float column.
func (d *data) float(i int) float64 {
	if d.kind == f32 {
		return float64(d.f32[i])
	}
	return d.f64[i]
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
