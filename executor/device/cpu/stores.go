package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

func (in *task) runStore() error {
	return in.m.crew.Apportion(in.m.ctx, in.m.workers, in.Lanes(), func(w, lane int) error {
		b, err := in.block(w)
		if err != nil {
			return err
		}
		outs := b.stored(in.Instr)
		for lo, hi := lane*in.Lane, min((lane+1)*in.Lane, in.Rows); lo < hi; lo += in.T.Rows {
			n := min(in.T.Rows, hi-lo)
			for i := range outs {
				if r := in.T.Result[i]; direct(in.T, r, &outs[i]) {
					b.cells[r] = outs[i].Rows(in.Off+lo, in.Off+lo+n)
				}
			}
			if err := b.eval(lo, n); err != nil {
				return err
			}
			for i := range outs {
				if !direct(in.T, in.T.Result[i], &outs[i]) {
					d, uniform := b.result(i)
					store(&outs[i], in.Off+lo, n, d, uniform)
				}
			}
		}
		return nil
	})
}

// stored is the memory of the results for the instruction's rows.
func (b *block) stored(in *device.Instr) []column.Column {
	b.outs = append(b.outs[:0], shaped(in.V, in.By))
	for _, v := range in.Besides {
		b.outs = append(b.outs, shaped(v, in.By))
	}
	return b.outs
}

// shaped is the value's memory, each row of which counts as by rows; 0: as one.
func shaped(v *values.Val, by int) column.Column {
	if by > 0 {
		return v.Data.Shaped(v.Data.Len()*by, v.Data.Size()/by)
	}
	return *v.Data
}

// direct reports whether result r can be computed directly in its column's memory. Columns with NULLs are copied,
// because their NULL rows must be zero.
func direct(t *device.Tree, r int, out *column.Column) bool {
	c := t.Cells[r]
	return !c.View && !c.Uniform && !c.Nullable && out.Valid() == nil && t.Rows > 1 && c.Kind == out.Kind()
}

// store copies a block's result to the rows from lo on.
func store(out *column.Column, lo, n int, d *column.Column, uniform bool) {
	whole := out.Kind() == column.I64 && d.Kind() == column.I64 && out.Size() == 1
	if uniform && whole && out.Valid() == nil && d.Valid() == nil {
		x := d.I64()[0]
		for r := range out.I64()[lo : lo+n] {
			out.I64()[lo+r] = x
		}
		return
	}
	if uniform {
		for r := range n {
			copyRow(out, lo+r, d, 0)
		}
		return
	}
	dst := out.Rows(lo, lo+n)
	src := d.Rows(0, n)
	copy(dst.F64(), src.F64())
	copy(dst.F32(), src.F32())
	copy(dst.I64(), src.I64())
	copy(dst.Texts(), src.Texts())
	if dst.Valid() != nil {
		setValid(dst.Valid(), src.Valid())
		for r, v := range dst.Valid() {
			if v == 0 {
				dst.ZeroRow(r)
			}
		}
	}
}
