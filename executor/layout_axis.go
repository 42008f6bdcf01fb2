package executor

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// What is read by some keys only, a bias for each column or a label for each row, is in the chunks of a layout the same
// for all rows, or for all of a row.

// along tells whether numbers of stored rows, and of elements of their chunks, depend on the row or the column of the
// matrix alone.
type along struct {
	rows, cols []int32 // by row or column of the matrix, nil where that does not decide
	inR, inC   []int32
}

// along looks at numbers at of the stored rows, and at numbers in of the elements of a stored chunk (nil: 0).
func (l *layout) along(at, in []int32) (out along) {
	number := func(r, c int) (int32, int32) {
		k, e := l.kR[r]+l.kC[c], int32(0)
		if l.table != nil {
			k = l.table[k]
		}
		if in != nil {
			e = in[l.inR[r]+l.inC[c]]
		}
		return at[k], e
	}
	out = along{make([]int32, l.rows), make([]int32, l.cols), make([]int32, l.rows), make([]int32, l.cols)}
	for r := range l.rows {
		out.rows[r], out.inR[r] = number(r, 0)
	}
	for c := range l.cols {
		out.cols[c], out.inC[c] = number(0, c)
	}
	for r := 0; r < l.rows && (out.rows != nil || out.cols != nil); r++ {
		for c := range l.cols {
			k, e := number(r, c)
			if out.rows != nil && (k != out.rows[r] || e != out.inR[r]) {
				out.rows = nil
			}
			if out.cols != nil && (k != out.cols[c] || e != out.inC[c]) {
				out.cols = nil
			}
		}
	}
	return out
}

// alongIndex is along for what is read through an index, and repeated within chunks from shape to the stored ones.
func (p *Program) alongIndex(l *layout, idx *index, shape, stored []int) along {
	key := fmt.Sprintf("%d %v %v %s", idx.id, shape, stored, l.key)
	if a, ok := p.alongs[key]; ok {
		return a
	}
	var in []int32
	if shape != nil {
		in = broadcastOffsets(shape, stored)
	}
	if p.alongs == nil {
		p.alongs = map[string]along{}
	}
	p.alongs[key] = l.along(idx.at, in)
	return p.alongs[key]
}

// repeated is v, which is read through an index by rows or columns of the matrix in layout l alone, for the rows of the
// matrix: a chunk that is the same for all, or a scalar for each. It returns nil for another column.
func (g *graph) repeated(v *val, l *layout, stored []int) *val {
	if v.op != vGather || v.idx.at == nil || v.idx.missing || v.idx.vary() || v.typ.Nullable || !v.typ.IsFloat() || len(v.typ.Shape) > len(stored) || l.kR == nil {
		return nil
	}
	for i, n := range v.typ.Shape {
		if m := stored[len(stored)-len(v.typ.Shape)+i]; n != m && n != 1 {
			return nil
		}
	}
	src, a := v.args[0], g.p.alongIndex(l, v.idx, v.typ.Shape, stored)
	key := fmt.Sprintf("axis %d %v %s", v.idx.id, v.typ.Shape, l.key)
	var by *layout
	switch {
	case a.rows != nil:
		by = &layout{key: key, rows: l.rows, cols: 1, kR: a.rows, inR: a.inR, kC: []int32{0}, inC: []int32{0}}
	case a.cols != nil:
		by = &layout{key: key, rows: 1, cols: l.cols, kR: []int32{0}, inR: []int32{0}, kC: a.cols, inC: a.inC}
	default:
		return nil
	}
	by.stored, by.size = src.sp.n, src.typ.Size()
	if known := g.p.layouts[key]; known != nil {
		by = known
	} else {
		by.measure()
		by.view = by.view && by.rows*by.cols == by.stored*by.size
		g.p.layouts[key] = by
	}
	return g.dense(src, by, nil)
}

// sumAlong sums a column that has been put into rows from a matrix by groups of its rows or its columns; nil for another sum.
func (g *graph) sumAlong(v *val, t kernels.Type, grp *groups) (*val, error) {
	if g.p == nil || v.op != vLayout || !v.back || v.typ.Shape != nil || grp.code == nil || grp.vary() || grp.in != v.sp || grp.out.n < 2 || v.lay.kR == nil {
		return nil, nil
	}
	key := fmt.Sprintf("sum %d %s", grp.id, v.lay.key)
	a, ok := g.p.alongs[key]
	if !ok {
		a = v.lay.along(grp.code, nil)
		if g.p.alongs == nil {
			g.p.alongs = map[string]along{}
		}
		g.p.alongs[key] = a
	}
	inner := v.args[0]
	switch {
	case a.rows != nil && inner.typ.Shape != nil:
		s, err := g.call(kernels.Lookup("sum_to"), kernels.Attr{}, inner)
		if err != nil {
			return nil, err
		}
		if isIdentity(a.rows) && len(a.rows) == grp.out.n && s.sp == grp.out {
			return g.cast(s, t.Kind)
		}
		return g.agg(ra.GradSum, s, t, g.groups(s.sp, grp.out, a.rows, false)), nil
	case a.cols != nil && len(a.cols) == grp.out.n && inner.typ.Shape != nil && !inner.uniform():
		if slices.Contains(inverse(a.cols, grp.out.n), -1) { // a group has several columns
			return nil, nil
		}
		to := g.p.layout(grp.out.n, 1, a.cols, nil, []leg{{n: grp.out.n, stride: 1}})
		z, err := g.cast(g.agg(ra.GradSum, inner, inner.typ, g.whole(inner.sp, g.unit)), t.Kind)
		if err != nil {
			return nil, err
		}
		return g.stored(z, to, grp.out, t), nil
	}
	return nil, nil
}
