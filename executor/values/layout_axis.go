package values

import (
	"fmt"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Columns that depend on some keys only, such as a bias for each column or a label for each row, are in a layout's
// matrix the same for all rows, or for all elements of a row.

// along tells whether row numbers, and elements within chunks, depend only on the row, or only on the column, of the
// matrix.
type along struct {
	rows, cols []int32 // by row or column of the matrix; nil: not determined by it
	inR, inC   []int32
}

// along examines the numbers at of the stored rows, and the numbers in of elements of a stored chunk (nil: 0).
func (l *Layout) along(at, in []int32) (out along) {
	l.List()
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
	out = along{make([]int32, l.Rows), make([]int32, l.Cols), make([]int32, l.Rows), make([]int32, l.Cols)}
	for r := range l.Rows {
		out.rows[r], out.inR[r] = number(r, 0)
	}
	for c := range l.Cols {
		out.cols[c], out.inC[c] = number(0, c)
	}
	for r := 0; r < l.Rows && (out.rows != nil || out.cols != nil); r++ {
		for c := range l.Cols {
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

// alongIndex is along for a column that is read through an index and repeated within chunks, from shape to the stored
// shape.
func (p *Shared) alongIndex(l *Layout, idx *structure.Index, shape, stored []int) along {
	key := fmt.Sprintf("%d %v %v %s", idx.ID, shape, stored, l.key)
	if a, ok := p.alongs[key]; ok {
		return a
	}
	var in []int32
	if shape != nil {
		in = BroadcastOffsets(shape, stored)
	}
	p.alongs[key] = l.along(idx.At, in)
	return p.alongs[key]
}

// repeated converts v, which depends only on the row or only on the column of the matrix in layout l, to the matrix's
// rows: one chunk for all rows, or a scalar for each. It returns nil for other columns.
func repeated(g *Graph, v *Val, l *Layout, stored, shape []int) *Val {
	if v.Op != OpGather || v.Index.At == nil || v.Index.Missing || v.Index.Varies() || v.Type.Nullable ||
		!v.Type.IsFloat() || len(v.Type.Shape) > len(stored) || l.stored == 0 {
		return nil
	}
	for i, n := range v.Type.Shape {
		if m := stored[len(stored)-len(v.Type.Shape)+i]; n != m && n != 1 {
			return nil
		}
	}
	src, a := v.Args[0], g.Shared.alongIndex(l, v.Index, v.Type.Shape, stored)
	key := fmt.Sprintf("axis %d %v %s", v.Index.ID, v.Type.Shape, l.key)
	var by *Layout
	switch {
	case a.rows != nil:
		by = &Layout{key: key, order: key, Rows: l.Rows, Cols: 1, kR: a.rows, inR: a.inR, kC: []int32{0}, inC: []int32{0}}
	case a.cols != nil:
		by = &Layout{key: key, order: key, Rows: 1, Cols: l.Cols, kR: []int32{0}, inR: []int32{0}, kC: a.cols, inC: a.inC}
	default:
		return nil
	}
	by.stored, by.size = src.Space.N, src.Type.Size()
	if known := g.Shared.layouts[key]; known != nil {
		by = known
	} else {
		by.measure()
		by.View = by.View && by.Rows*by.Cols == by.stored*by.size
		g.Shared.layouts[key] = by
	}
	if by.Rows > 1 || by.Cols == 1 {
		shape = nil
	}
	return g.dense(src, by, shape)
}

// sumAlong sums a column converted from a matrix, or sums of its chunks, where the groups are the rows or the columns
// of the matrix; nil for other sums.
func sumAlong(g *Graph, v *Val, t kernels.Type, grp *structure.Groups) (*Val, error) {
	m, in := v, []int32(nil)
	if v.Op == OpCall && v.Expr.Def.Name == "sum_to" && v.Type.Shape != nil {
		m = v.Args[0]
	}
	if g.Shared == nil || m.Op != OpLayout || !m.Layout.Back || grp.Codes == nil || grp.Varies() || grp.In != v.Space ||
		grp.Out.N < 2 || m.Layout.stored == 0 {
		return nil, nil
	}
	if v.Type.Shape != nil {
		in = BroadcastOffsets(v.Type.Shape, m.Type.Shape)
	}
	key := fmt.Sprintf("sum %d %v %s", grp.ID, v.Type.Shape, m.Layout.key)
	a, ok := g.Shared.alongs[key]
	if !ok {
		a = m.Layout.along(grp.Codes, in)
		g.Shared.alongs[key] = a
	}
	inner, size := m.Args[0], v.Type.Size()
	switch {
	case a.rows != nil && inner.Type.Shape != nil && size == 1:
		s, err := g.Call(kernels.Lookup("sum_to"), kernels.Attr{}, inner)
		if err != nil {
			return nil, err
		}
		return g.Agg(ra.GradSum, s, t, g.Groups(s.Space, grp.Out, a.rows, false)), nil
	case a.cols != nil && inner.Type.Shape != nil && !inner.Uniform() && len(a.cols) == grp.Out.N*size:
		to := &Layout{key: key, order: key, stored: grp.Out.N, size: size, Rows: 1, Cols: len(a.cols), kR: []int32{0},
			inR: []int32{0}, kC: a.cols, inC: a.inC}
		if !to.complete() {
			return nil, nil // several columns of the matrix are added
		}
		if known := g.Shared.layouts[key]; known != nil {
			to = known
		} else {
			to.measure()
			g.Shared.layouts[key] = to
		}
		z, err := g.Cast(g.Agg(ra.GradSum, inner, inner.Type, g.All(inner.Space, g.Unit)), t.Kind)
		if err != nil {
			return nil, err
		}
		return g.stored(z, to, grp.Out, t), nil
	}
	return nil, nil
}

// complete reports whether the columns of a matrix of one row are all stored numbers, each exactly once.
func (l *Layout) complete() bool {
	seen := make([]bool, l.stored*l.size)
	for c := range l.Cols {
		at := l.At(0, c)
		if seen[at] {
			return false
		}
		seen[at] = true
	}
	return l.Cols == len(seen)
}
