package executor

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// stage holds the structure and the vals of the run, or of a step on top of the run's.
type stage struct {
	*structure.Stage
	p      *site
	parent *stage
	main   *values.Graph // values in the kinds of the query
	wide   *values.Graph // values that the structure reads, in double precision
	cols   map[colKey]*values.Val
	tables map[*tableData]*structure.Relation
	leaves map[scanKey]*values.Val
	keys   map[string][]*values.Val // leaves of key columns, by a hash of their content
	exprs  map[exprsOf]map[*kernels.Expr]*values.Val
	movements
	recursions
}

// movements is what a stage knows of the exchanges that belong to it.
type movements struct {
	leaving   map[*link]*departure // of all of them; sites write what is in it, never the map
	arriving  map[*link][]values.Part
	exchanged map[columnOf]*values.Val
	lookups   map[*link]*structure.Lookup // of the keys of what a HALO sends at each step
	heard     map[*link][]*departure      // by site: what sites of other processes have said
}

type colKey struct {
	wide bool
	n    *ra.Node
	col  int
}

// emptyStage is a stage that knows nothing yet.
func emptyStage(p *site, parent *stage) *stage {
	return &stage{p: p, parent: parent, cols: map[colKey]*values.Val{}, tables: map[*tableData]*structure.Relation{},
		leaves: map[scanKey]*values.Val{}, keys: map[string][]*values.Val{},
		exprs: map[exprsOf]map[*kernels.Expr]*values.Val{},
		movements: movements{map[*link]*departure{}, map[*link][]values.Part{}, map[columnOf]*values.Val{},
			map[*link]*structure.Lookup{}, map[*link][]*departure{}},
		recursions: recursions{loops: map[*ra.Node]*recursion{}}}
}

func newStage(ctx context.Context, p *site, parent *stage) *stage {
	st := emptyStage(p, parent)
	for _, l := range p.links {
		if st.belongs(l) {
			st.leaving[l] = &departure{asked: cpu.NewFlag(), said: cpu.NewFlag()}
		}
	}
	if parent != nil {
		st.Stage = parent.Step(ctx, st)
		st.main, st.wide = parent.main.Child(st.Indexer), parent.wide.Child(st.Indexer)
		return st
	}
	st.Stage = structure.NewStage(ctx, p.stages, st)
	p.stages.NewID() // takes a number, so that plans keep the numbers that their texts have always had
	st.main, st.wide = values.NewGraph(p.opt.Force64, st.Indexer, st.Unit), values.NewGraph(true, st.Indexer, st.Unit)
	st.main.Shared, st.wide.Shared, st.main.Rows, st.wide.Rows = p.shared, p.shared, st.Space, st.Space
	st.tables = p.scans
	return st
}

// Stored is the relation that a Scan or an Opaque reads from the source, a Self stands for, or a Recursion makes.
func (st *stage) Stored(n *ra.Node) (*structure.Relation, error) {
	switch n.Op {
	case ra.Opaque:
		return st.opaque(n)
	case ra.Recursion:
		return recursionOf(st, n)
	case ra.Self:
		return &structure.Relation{Space: st.below.space}, nil
	}
	if l, ok := st.p.received[n]; ok {
		return st.received(l, n)
	}
	return st.scan(n)
}

// Name identifies a column by its val.
func (st *stage) Name(n *ra.Node, i int) (structure.ColumnName, error) {
	v, err := st.col(true, n, i)
	if err != nil {
		return structure.ColumnName{}, err
	}
	return structure.ColumnName{ID: v.ID, Nullable: v.Type.Nullable}, nil
}

// scan makes all scans of a table share one space.
func (st *stage) scan(n *ra.Node) (*structure.Relation, error) {
	t := st.p.table(n.Table)
	if r := st.tables[t]; r != nil {
		return &structure.Relation{Space: r.Space, Data: r.Data}, nil // another scan may number the columns differently
	}
	cols, err := st.p.read(st, t)
	if err != nil {
		return nil, err
	}
	if len(cols) != len(t.cols) {
		return nil, internal("the source returned %d columns of %s for %d", len(cols), n.Table.Name, len(t.cols))
	}
	r := &structure.Relation{Data: cols}
	rows := int(n.Table.Rows)
	if len(cols) > 0 {
		rows = cols[0].Len()
	}
	if err := asPlanned(n, t.cols, cols); err != nil {
		return nil, err
	}
	r.Space = st.Space(rows)
	st.tables[t] = r
	return &structure.Relation{Space: r.Space, Data: r.Data}, nil
}

// asPlanned refuses rows that the plan was not made for: another session may have written the table since the loss was
// planned.
func asPlanned(n *ra.Node, at []int, cols []*column.Column) error {
	if n.PerStep || len(cols) == 0 {
		return nil
	}
	changed := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.SerializationFailure, format, args...).
			WithDetail("Another session has changed it since the loss was planned.").
			WithHint("Run the statement again: it is planned for what is there now.")
	}
	if n.Table.Rows == 1 && cols[0].Len() != 1 {
		return changed("table \"%s\" does not have one row, as it had when the loss was planned", n.Table.Name)
	}
	for i, v := range cols {
		if at[i] == ra.RowID || v.Valid() == nil || n.Table.Cols[at[i]].Type.Nullable {
			continue
		}
		if slices.Contains(v.Valid(), 0) {
			return changed("column \"%s\" of table \"%s\" holds NULL, and held none when the loss was planned",
				n.Table.Cols[at[i]].Name, n.Table.Name)
		}
	}
	return nil
}

func (st *stage) opaque(n *ra.Node) (*structure.Relation, error) {
	cols, err := st.p.src.Opaque(st.Ctx, n, &st.p.env)
	if err != nil {
		return nil, err
	}
	if len(cols) != len(n.Cols)-1 || len(cols) == 0 {
		return nil, internal("the source returned %d columns of %s for %d", len(cols), n.Label, len(n.Cols)-1)
	}
	if !n.PerStep { // rows of steps are counted before (Options.Batch)
		for _, v := range cols {
			st.p.ledger.queried += vectorBytes(v) / int64(max(st.p.opt.sites, 1))
		}
	}
	number := column.New(kernels.Type{Kind: kernels.Int}, cols[0].Len())
	for i := range number.I64() {
		number.I64()[i] = int64(i)
	}
	return &structure.Relation{Space: st.Space(cols[0].Len()), Data: append(cols[:len(cols):len(cols)], number)}, nil
}

// Probe is a structural column that keys are looked up in. Integers that are read through an index are not copied.
func (st *stage) Probe(n *ra.Node, i int) (structure.Probe, error) {
	if t := n.Cols[i].Type; t.Kind == kernels.Int && t.Shape == nil {
		r, err := st.Relation(n)
		if err != nil {
			return structure.Probe{}, err
		}
		if r.Pruned { // the indexes are freed: a column that has gone with them is an error
			v, err := st.Vector(n, i)
			return structure.Probe{Vector: v}, err
		}
		v, err := st.col(true, n, i)
		if err != nil {
			return structure.Probe{}, err
		}
		if v.Op == values.OpGather && v.Space == r.Space && (v.Index.At != nil || v.Index.Late != nil) && !v.Index.Missing &&
			v.Args[0].Op == values.OpLeaf && v.Args[0].Data.Kind() == column.I64 {
			return structure.Probe{Vector: v.Args[0].Data.As(n.Cols[i].Type), At: v.Index.At, Index: v.Index}, nil
		}
	}
	v, err := st.Vector(n, i)
	return structure.Probe{Vector: v}, err
}
