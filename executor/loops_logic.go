package executor

import (
	"cmp"
	"strings"
)

func runCompare(b *block, o *op) error {
	holds, out := o.aux.([3]int64), b.out(o).i64[:b.rows(o)]
	x, y, sx, sy := b.arg(o, 0), b.arg(o, 1), b.step(o, 0), b.step(o, 1)
	for r := range out {
		var s int
		switch o.kind {
		case i64:
			s = cmp.Compare(x.i64[r*sx], y.i64[r*sy])
		case f64:
			s = compareFloats(x.f64[r*sx], y.f64[r*sy])
		default:
			s = strings.Compare(x.str[r*sx], y.str[r*sy])
		}
		out[r] = holds[s+1]
	}
	return nil
}

func runTruth(b *block, o *op) error {
	t, out := o.aux.(*truths), b.out(o)
	if first, last := b.arg(o, 0), b.arg(o, len(o.args)-1); out.valid == nil && first.valid == nil && last.valid == nil {
		x, y, sx, sy, two := first.i64, last.i64, b.step(o, 0), b.step(o, len(o.args)-1), len(o.args)-1
		for r := range b.rows(o) {
			out.i64[r] = t.plain[x[r*sx]&1|y[r*sy]&1<<two&2]
		}
		return nil
	}
	for r := range b.rows(o) {
		var x [2]tri
		for i := range o.args {
			x[i] = b.tri(o, i, r)
		}
		y := t.table[x[0]][x[1]]
		out.i64[r] = 0
		if y == yes {
			out.i64[r] = 1
		}
		if out.valid != nil {
			out.valid[r] = 1
			if y == unknown {
				out.valid[r] = 0
			}
		}
	}
	return nil
}

func (b *block) tri(o *op, i, r int) tri {
	switch {
	case b.null(o, i, r):
		return unknown
	case b.arg(o, i).i64[r*b.step(o, i)] != 0:
		return yes
	}
	return no
}

func runIsNull(b *block, o *op) error {
	is, out := o.aux.(bool), b.out(o)
	for r := range b.rows(o) {
		out.i64[r] = int64(truth(b.null(o, 0, r) == is))
	}
	return nil
}

func runChoose(b *block, o *op) error {
	conds, out := o.aux.(int), b.out(o)
	for r := range b.rows(o) {
		i, from := b.chosen(o, conds, r), r
		if b.t.cells[o.args[i]].uniform {
			from = 0
		}
		copyRow(out, r, b.arg(o, i), from)
	}
	return nil
}

// chosen is the argument that row r takes.
func (b *block) chosen(o *op, conds, r int) int {
	for i := range conds {
		if b.tri(o, i, r) == yes {
			return conds + i
		}
	}
	if conds > 0 {
		return len(o.args) - 1
	}
	for i := range o.args {
		if !b.null(o, i, r) {
			return i
		}
	}
	return 0
}
