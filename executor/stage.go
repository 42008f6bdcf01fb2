package executor

import (
	"context"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// stage holds the structure and the vals of the run, or of one step on top of it.
type stage struct {
	*Stage
	p      *Program
	parent *stage
	main   *graph // values
	wide   *graph // what structure reads, in double precision
	cols   map[colKey]*val
	tables map[*tableData]*rel
	leaves map[scanKey]*val
	keys   map[string][]*val // leaves of keys, by a hash of their content
	exprs  map[exprsOf]map[*kernels.Expr]*val
}

type colKey struct {
	wide bool
	n    *ra.Node
	col  int
}

func newStage(ctx context.Context, p *Program, parent *stage) *stage {
	st := &stage{p: p, parent: parent, cols: map[colKey]*val{}, tables: map[*tableData]*rel{}, leaves: map[scanKey]*val{},
		keys: map[string][]*val{}, exprs: map[exprsOf]map[*kernels.Expr]*val{}}
	if parent != nil {
		st.Stage = parent.step(ctx, st)
		st.main, st.wide = parent.main.child(st.ix), parent.wide.child(st.ix)
		return st
	}
	st.Stage = newRunStage(ctx, p.stages, st)
	st.main, st.wide = newGraph(p.opt.Force64, st.ix, st.unit), newGraph(true, st.ix, st.unit)
	st.main.p, st.wide.p, st.main.rows, st.wide.rows = p, p, st.space, st.space
	st.tables = p.scans
	return st
}

// stored is the relation of what the source holds.
func (st *stage) stored(n *ra.Node) (*rel, error) {
	if n.Op == ra.Opaque {
		return st.opaque(n)
	}
	return st.scan(n)
}

// name names a column by its val.
func (st *stage) name(n *ra.Node, i int) (columnName, error) {
	v, err := st.col(true, n, i)
	if err != nil {
		return columnName{}, err
	}
	return columnName{v.id, v.typ.Nullable}, nil
}

// scan shares one space among all scans of a table.
func (st *stage) scan(n *ra.Node) (*rel, error) {
	t := st.p.table(n.Table)
	if r := st.tables[t]; r != nil {
		return &rel{sp: r.sp, data: r.data}, nil // another scan may number the columns otherwise
	}
	cols, err := st.p.read(st, t)
	if err != nil {
		return nil, err
	}
	if len(cols) != len(t.cols) {
		return nil, internal("the source returned %d columns of %s for %d", len(cols), n.Table.Name, len(t.cols))
	}
	r := &rel{data: cols}
	rows := int(n.Table.Rows)
	if len(cols) > 0 {
		rows = cols[0].N
	}
	r.sp = st.space(rows)
	st.tables[t] = r
	return &rel{sp: r.sp, data: r.data}, nil
}

func (st *stage) opaque(n *ra.Node) (*rel, error) {
	cols, err := st.p.src.Opaque(st.ctx, n, &st.p.env)
	if err != nil {
		return nil, err
	}
	if len(cols) != len(n.Cols)-1 || len(cols) == 0 {
		return nil, internal("the source returned %d columns of %s for %d", len(cols), n.Label, len(n.Cols)-1)
	}
	number := ra.NewVector(kernels.Type{Kind: kernels.Int}, cols[0].N)
	for i := range number.Ints {
		number.Ints[i] = int64(i)
	}
	return &rel{sp: st.space(cols[0].N), data: append(cols[:len(cols):len(cols)], number)}, nil
}

// through is a structural column to look up. Integers that are read through an index are left where they are.
func (st *stage) through(n *ra.Node, i int) (probeCol, error) {
	if t := n.Cols[i].Type; t.Kind == kernels.Int && t.Shape == nil {
		r, err := st.rel(n)
		if err != nil {
			return probeCol{}, err
		}
		if r.pruned { // the indexes have gone; what has gone with them is an error
			v, err := st.vec(n, i)
			return probeCol{v: v}, err
		}
		v, err := st.col(true, n, i)
		if err != nil {
			return probeCol{}, err
		}
		if v.op == vGather && v.sp == r.sp && (v.idx.at != nil || v.idx.late != nil) && !v.idx.missing && v.args[0].op == vLeaf && v.args[0].data.i64 != nil {
			return probeCol{v.args[0].data.shared(n.Cols[i].Type), v.idx.at, v.idx}, nil
		}
	}
	v, err := st.vec(n, i)
	return probeCol{v: v}, err
}
