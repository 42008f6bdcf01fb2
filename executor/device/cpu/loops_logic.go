package cpu

import (
	"cmp"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
)

func runCompare(b *block, o *device.Op) error {
	holds, out := o.Aux.([3]int64), b.out(o).I64()[:b.rows(o)]
	x, y, sx, sy := b.arg(o, 0), b.arg(o, 1), b.step(o, 0), b.step(o, 1)
	for r := range out {
		var s int
		switch o.Kind {
		case column.I64:
			s = cmp.Compare(x.I64()[r*sx], y.I64()[r*sy])
		case column.F64:
			s = device.CompareFloats(x.F64()[r*sx], y.F64()[r*sy])
		default:
			s = strings.Compare(x.Texts()[r*sx], y.Texts()[r*sy])
		}
		out[r] = holds[s+1]
	}
	return nil
}

func runTruth(b *block, o *device.Op) error {
	t, out := o.Aux.(*device.Truths), b.out(o)
	first, last := b.arg(o, 0), b.arg(o, len(o.Args)-1)
	if out.Valid() == nil && first.Valid() == nil && last.Valid() == nil {
		x, y, sx, sy, two := first.I64(), last.I64(), b.step(o, 0), b.step(o, len(o.Args)-1), len(o.Args)-1
		for r := range b.rows(o) {
			out.I64()[r] = t.Plain[x[r*sx]&1|y[r*sy]&1<<two&2]
		}
		return nil
	}
	for r := range b.rows(o) {
		var x [2]device.Tri
		for i := range o.Args {
			x[i] = b.tri(o, i, r)
		}
		y := t.Table[x[0]][x[1]]
		out.I64()[r] = 0
		if y == device.Yes {
			out.I64()[r] = 1
		}
		if out.Valid() != nil {
			out.Valid()[r] = 1
			if y == device.Unknown {
				out.Valid()[r] = 0
			}
		}
	}
	return nil
}

func (b *block) tri(o *device.Op, i, r int) device.Tri {
	switch {
	case b.null(o, i, r):
		return device.Unknown
	case b.arg(o, i).I64()[r*b.step(o, i)] != 0:
		return device.Yes
	}
	return device.No
}

func runIsNull(b *block, o *device.Op) error {
	is, out := o.Aux.(bool), b.out(o)
	for r := range b.rows(o) {
		out.I64()[r] = int64(device.Truth(b.null(o, 0, r) == is))
	}
	return nil
}

func runChoose(b *block, o *device.Op) error {
	conds, out := o.Aux.(int), b.out(o)
	for r := range b.rows(o) {
		i, from := b.chosen(o, conds, r), r
		if b.t.Cells[o.Args[i]].Uniform {
			from = 0
		}
		copyRow(out, r, b.arg(o, i), from)
	}
	return nil
}

// chosen is the number of the argument that row r takes.
func (b *block) chosen(o *device.Op, conds, r int) int {
	for i := range conds {
		if b.tri(o, i, r) == device.Yes {
			return conds + i
		}
	}
	if conds > 0 {
		return len(o.Args) - 1
	}
	for i := range o.Args {
		if !b.null(o, i, r) {
			return i
		}
	}
	return 0
}
