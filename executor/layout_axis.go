package executor

import (
	"fmt"

	"github.com/relgrad/relgrad/executor/structure"
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
	l.list()
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
func (p *shared) alongIndex(l *layout, idx *structure.Index, shape, stored []int) along {
	key := fmt.Sprintf("%d %v %v %s", idx.ID, shape, stored, l.key)
	if a, ok := p.alongs[key]; ok {
		return a
	}
	var in []int32
	if shape != nil {
		in = broadcastOffsets(shape, stored)
	}
	p.alongs[key] = l.along(idx.At, in)
	return p.alongs[key]
}

// repeated is v, which is read through an index by rows or columns of the matrix in layout l alone, for the rows of the
// matrix: a chunk that is the same for all, or a scalar for each. It returns nil for another column.
func (g *graph) repeated(v *val, l *layout, stored, shape []int) *val {
	if v.op != vGather || v.idx.At == nil || v.idx.Missing || v.idx.Varies() || v.typ.Nullable || !v.typ.IsFloat() ||
		len(v.typ.Shape) > len(stored) ||
		l.stored == 0 {
		return nil
	}
	for i, n := range v.typ.Shape {
		if m := stored[len(stored)-len(v.typ.Shape)+i]; n != m && n != 1 {
			return nil
		}
	}
	src, a := v.args[0], g.shared.alongIndex(l, v.idx, v.typ.Shape, stored)
	key := fmt.Sprintf("axis %d %v %s", v.idx.ID, v.typ.Shape, l.key)
	var by *layout
	switch {
	case a.rows != nil:
		by = &layout{key: key, order: key, rows: l.rows, cols: 1, kR: a.rows, inR: a.inR, kC: []int32{0}, inC: []int32{0}}
	case a.cols != nil:
		by = &layout{key: key, order: key, rows: 1, cols: l.cols, kR: []int32{0}, inR: []int32{0}, kC: a.cols, inC: a.inC}
	default:
		return nil
	}
	by.stored, by.size = src.sp.N, src.typ.Size()
	if known := g.shared.layouts[key]; known != nil {
		by = known
	} else {
		by.measure()
		by.view = by.view && by.rows*by.cols == by.stored*by.size
		g.shared.layouts[key] = by
	}
	if by.rows > 1 || by.cols == 1 {
		shape = nil
	}
	return g.dense(src, by, shape)
}

// sumAlong sums a column that has been put into rows from a matrix, or sums of its chunks, by groups that are rows or
// columns of the matrix; nil for another sum.
func (g *graph) sumAlong(v *val, t kernels.Type, grp *structure.Groups) (*val, error) {
	m, in := v, []int32(nil)
	if v.op == vCall && v.expr.Def.Name == "sum_to" && v.typ.Shape != nil {
		m = v.args[0]
	}
	if g.shared == nil || m.op != vLayout || !m.back || grp.Codes == nil || grp.Varies() || grp.In != v.sp || grp.Out.N < 2 ||
		m.lay.stored == 0 {
		return nil, nil
	}
	if v.typ.Shape != nil {
		in = broadcastOffsets(v.typ.Shape, m.typ.Shape)
	}
	key := fmt.Sprintf("sum %d %v %s", grp.ID, v.typ.Shape, m.lay.key)
	a, ok := g.shared.alongs[key]
	if !ok {
		a = m.lay.along(grp.Codes, in)
		g.shared.alongs[key] = a
	}
	inner, size := m.args[0], v.typ.Size()
	switch {
	case a.rows != nil && inner.typ.Shape != nil && size == 1:
		s, err := g.call(kernels.Lookup("sum_to"), kernels.Attr{}, inner)
		if err != nil {
			return nil, err
		}
		return g.agg(ra.GradSum, s, t, g.Groups(s.sp, grp.Out, a.rows, false)), nil
	case a.cols != nil && inner.typ.Shape != nil && !inner.uniform() && len(a.cols) == grp.Out.N*size:
		to := &layout{
			key:    key,
			order:  key,
			stored: grp.Out.N,
			size:   size,
			rows:   1,
			cols:   len(a.cols),
			kR:     []int32{0},
			inR:    []int32{0},
			kC:     a.cols,
			inC:    a.inC,
		}
		if !to.complete() {
			return nil, nil // several columns are added
		}
		if known := g.shared.layouts[key]; known != nil {
			to = known
		} else {
			to.measure()
			g.shared.layouts[key] = to
		}
		z, err := g.cast(g.agg(ra.GradSum, inner, inner.typ, g.All(inner.sp, g.unit)), t.Kind)
		if err != nil {
			return nil, err
		}
		return g.stored(z, to, grp.Out, t), nil
	}
	return nil, nil
}

// complete reports whether the columns of a matrix of one row are all stored numbers, each once.
func (l *layout) complete() bool {
	seen := make([]bool, l.stored*l.size)
	for c := range l.cols {
		at := l.at(0, c)
		if seen[at] {
			return false
		}
		seen[at] = true
	}
	return l.cols == len(seen)
}
