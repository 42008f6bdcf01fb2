package executor

import (
	"github.com/relgrad/relgrad/kernels/cpu"
)

func (in *task) runStore() error {
	return cpu.Apportion(in.m.ctx, in.m.workers, in.lanes(), func(w, lane int) error {
		b, err := in.block(w)
		if err != nil {
			return err
		}
		outs := in.stored()
		for lo, hi := lane*in.lane, min((lane+1)*in.lane, in.rows); lo < hi; lo += in.t.rows {
			n := min(in.t.rows, hi-lo)
			for i := range outs {
				if r := in.t.result[i]; direct(in.t, r, &outs[i]) {
					b.cells[r] = outs[i].rows(in.off+lo, in.off+lo+n)
				}
			}
			if err := b.eval(lo, n); err != nil {
				return err
			}
			for i := range outs {
				if !direct(in.t, in.t.result[i], &outs[i]) {
					d, uniform := b.result(i)
					store(&outs[i], in.off+lo, n, d, uniform)
				}
			}
		}
		return nil
	})
}

// stored is the memory of the results, over the rows.
func (in *instr) stored() (outs []data) {
	for _, v := range append([]*val{in.v}, in.besides...) {
		if out := *v.data; in.by > 0 {
			outs = append(outs, viewed(&out, out.n*in.by, out.size/in.by))
		} else {
			outs = append(outs, out)
		}
	}
	return outs
}

// direct reports whether cell r, a result, can lie in the result's own memory, so that nothing is copied.
// Columns with NULL are copied: their invalid rows are zeroed.
func direct(t *tree, r int, out *data) bool {
	c := t.cells[r]
	return !c.view && !c.uniform && !c.nullable && out.valid == nil && t.rows > 1 && c.kind == out.kind
}

// store copies a block's result to the rows from lo on.
func store(out *data, lo, n int, d *data, uniform bool) {
	if uniform && out.kind == i64 && d.kind == i64 && out.size == 1 && out.valid == nil && d.valid == nil {
		x := d.i64[0]
		for r := range out.i64[lo : lo+n] {
			out.i64[lo+r] = x
		}
		return
	}
	if uniform {
		for r := range n {
			copyRow(out, lo+r, d, 0)
		}
		return
	}
	dst := out.rows(lo, lo+n)
	src := d.rows(0, n)
	copy(dst.f64, src.f64)
	copy(dst.f32, src.f32)
	copy(dst.i64, src.i64)
	copy(dst.str, src.str)
	if dst.valid != nil {
		setValid(dst.valid, src.valid)
		for r, v := range dst.valid {
			if v == 0 {
				dst.zeroRow(r)
			}
		}
	}
}
