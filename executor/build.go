package executor

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// col is the val of column i of n. It lies over the space of n's relation, or is uniform.
func (st *stage) col(wide bool, n *ra.Node, i int) (*values.Val, error) {
	key := colKey{wide, n, i}
	for s := st; s != nil; s = s.parent {
		if v := s.cols[key]; v != nil {
			return v, nil
		}
	}
	if st.Above(n) { // the run has these vals, also where their values vary
		return st.parent.col(wide, n, i)
	}
	if err := st.Ctx.Err(); err != nil { // for a node may have very many columns
		return nil, err
	}
	r, err := st.Relation(n)
	if err != nil {
		return nil, err
	}
	g := st.main
	if wide {
		g = st.wide
	}
	v, err := st.makeCol(g, n, r, i)
	if err != nil {
		return nil, err
	}
	st.cols[key] = v
	return v, nil
}

func (st *stage) makeCol(g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	switch n.Op {
	case ra.Scan:
		if l, ok := st.p.received[n]; ok {
			return st.receivedCol(g, l, n, r, i)
		}
		return st.scanCol(g, n, r, i)
	case ra.Self:
		return st.below.part(g, i)
	case ra.Recursion:
		return recursionCol(st, g, n, r, i)
	case ra.Opaque:
		return g.Leaf(n.Cols[i].Name, n.Cols[i].Type, r.Space, r.Data[i], false), nil
	case ra.Select, ra.Join:
		return st.expr(g, n, n.Out[i], r.Indexes)
	case ra.SemiJoin, ra.AntiJoin:
		v, err := st.col(g.Wide, n.Inputs[0], i)
		if err != nil {
			return nil, err
		}
		return g.Gather(v, r.Indexes[0])
	case ra.Aggregate:
		return st.aggregateCol(g, n, r, i)
	case ra.Window:
		return st.windowCol(g, n, r, i)
	case ra.Union:
		return st.unionCol(g, n, r, i)
	case ra.Add:
		return st.addCol(g, n, r, i)
	}
	return nil, internal("%v has no values", n.Op)
}

// scanCol is a stored column. All scans of a table share the leaf of a parameter's column, whose values training
// changes. The wide graph has a leaf of its own, with a copy of the values.
func (st *stage) scanCol(g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	t := st.p.table(n.Table)
	at, read := t.at[n.TableCols[i]]
	if !read {
		return nil, internal("column %s of %s is asked for, and is not among those that the plan reads", n.Cols[i].Name,
			n.Table.Name)
	}
	v := r.Data[at]
	if n.Cols[i].Dep && !g.Wide || n.Cols[i].Dep && st.p.opt.Force64 {
		p, err := st.p.param(t, n.TableCols[i], v)
		if err != nil {
			return nil, err
		}
		if p.leaf == nil {
			p.leaf = st.main.Leaf(n.Table.Name+"."+n.Cols[i].Name, n.Cols[i].Type, r.Space, p.data, true)
		}
		return p.leaf, nil
	}
	key := scanKey{g.Wide, t, n.TableCols[i]}
	if st.leaves[key] == nil && !g.Wide && v.Type().Kind == kernels.Int {
		st.leaves[key] = st.keyLeaf(n.Table.Name+"."+n.Cols[i].Name, r.Space, v)
	}
	// training must not change the stored values that this leaf reads: it gets a copy
	if st.leaves[key] == nil && st.p.becomes(t, n.TableCols[i], v) {
		if err := st.p.device.Fetch(v); err != nil {
			return nil, err
		}
		v = v.Clone()
		r.Data[at] = v
		if t.own[n.TableCols[i]] == nil { // else it was counted as it was read
			st.p.ledger.columns += int64(len(v.Bytes()))
		}
	}
	if st.leaves[key] == nil {
		st.leaves[key] = g.Leaf(n.Table.Name+"."+n.Cols[i].Name, n.Cols[i].Type, r.Space, v, false)
	}
	return st.leaves[key], nil
}

// keyLeaf is the leaf of a column of integers in the main graph. Equal columns share one leaf, so that what depends on
// equal keys is computed once.
func (st *stage) keyLeaf(name string, sp *structure.Space, v *column.Column) *values.Val {
	key := fmt.Sprintf("%x %d", structure.SampleHash(v.I64()), sp.ID)
	for s := st; s != nil; s = s.parent {
		for _, l := range s.keys[key] {
			if structure.EqualInts(l.Data.I64(), v.I64()) && slices.Equal(l.Data.Valid(), v.Valid()) {
				return l
			}
		}
	}
	l := st.main.Leaf(name, v.Type(), sp, v, false)
	st.keys[key] = append(st.keys[key], l)
	return l
}

// scanKey identifies the leaf of a stored column.
type scanKey struct {
	wide bool
	t    *tableData
	col  int
}

// exprsOf identifies the expressions of a node in a graph.
type exprsOf struct {
	g *values.Graph
	n *ra.Node
}

// expr is the val of an expression over n's inputs, read through idx.
func (st *stage) expr(g *values.Graph, n *ra.Node, e *kernels.Expr, idx []*structure.Index) (*values.Val, error) {
	if g.Wide && st.Varies() && e.PerStep() {
		e = values.FoldStepConstants(e, &st.p.env)
	}
	of := exprsOf{g, n}
	if st.exprs[of] == nil {
		st.exprs[of] = map[*kernels.Expr]*values.Val{}
	}
	if !g.Wide {
		if err := beforehand(st, n, e, idx, st.exprs[of]); err != nil {
			return nil, err
		}
	}
	g = g.Over(structure.LabelsOf(st.Stage, n, nil))
	return values.FromExpr(g, e, st.exprs[of], func(c kernels.Col) (*values.Val, error) {
		in := n.Inputs[c.Input]
		v, err := st.col(g.Wide, in, in.Index(c.ID))
		if err != nil {
			return nil, err
		}
		if st.below != nil && st.Above(in) {
			v = forAllLevels(g, v)
		}
		return g.Gather(v, idx[c.Input])
	})
}

// A device may lack the kernel of a part of an expression that reads no parameter and does not change while its rows
// stay, such as the share 1.0 / n of a sample. The processors compute it with the structure, once for these rows, and
// the device gets it as a column.

// beforehand makes such parts of e leaves, among the vals of expressions of n.
func beforehand(st *stage, n *ra.Node, e *kernels.Expr, idx []*structure.Index,
	have map[*kernels.Expr]*values.Val) error {
	d, some := st.p.device.(device.Selective)
	if !some {
		return nil
	}
	reads := kernels.NewAsker(func(x *kernels.Expr) bool { return x.IsCol })
	lacks := kernels.NewAsker(func(x *kernels.Expr) bool { return x.Def != nil && !d.Computes(x) })
	later := kernels.NewAsker(func(x *kernels.Expr) bool {
		if !x.IsCol {
			return x.Def != nil && x.Def.PerCall
		}
		in := n.Inputs[x.Col.Input]
		return in.Cols[in.Index(x.Col.ID)].Dep
	})
	varies := st.p.flow.Varying(n)
	var visit func(e *kernels.Expr) error
	visit = func(e *kernels.Expr) error {
		if e.Def == nil || have[e] != nil || !lacks.Any(e) {
			return nil
		}
		if !later.Any(e) && (st.parent != nil && reads.Any(e) || !varies.Any(e)) {
			v, err := known(st, n, e, idx)
			if err != nil {
				return err
			}
			if v != nil {
				have[e] = v
				return nil
			}
		}
		for _, a := range e.Args {
			if err := visit(a); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(e)
}

// known is a leaf with the values of an expression, or a constant; nil where some row fails, which perhaps nobody
// reads.
func known(st *stage, n *ra.Node, e *kernels.Expr, idx []*structure.Index) (*values.Val, error) {
	if !e.Any(func(x *kernels.Expr) bool { return x.IsCol }) {
		x, err := e.Eval(&st.p.env, nil)
		if err != nil {
			return nil, st.Ctx.Err()
		}
		x.Type = e.Type
		return st.main.Constant(x), nil
	}
	r, err := st.Relation(n)
	if err != nil {
		return nil, err
	}
	v, err := st.expr(st.wide, n, e, idx)
	if err != nil {
		return nil, st.Ctx.Err()
	}
	sp := r.Space
	if v.Uniform() {
		sp = v.Space
	}
	x, err := st.p.compute(st, v, sp, st.Varies())
	if err != nil {
		return nil, st.Ctx.Err()
	}
	return st.main.Leaf("known", e.Type, sp, x.As(e.Type), false), nil
}

func (st *stage) aggregateCol(g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	in := n.Inputs[0]
	if i < len(n.Group) {
		if !g.Wide && n.Cols[i].Type.Kind == kernels.Int {
			x, err := st.Vector(n, i)
			if err != nil {
				return nil, err
			}
			return st.keyLeaf(n.Cols[i].Name, r.Space, x), nil
		}
		v, err := st.col(g.Wide, in, in.Index(n.Group[i]))
		if err != nil || r.Groups == nil {
			return v, err
		}
		return g.Gather(v, r.Indexes[0])
	}
	a := n.Aggs[i-len(n.Group)]
	if r.Groups == nil {
		return st.single(g, n, r, a)
	}
	if a.Fn == ra.CountRows {
		return g.Leaf("count(*)", n.Cols[i].Type, r.Space, countRows(r.Groups), false), nil
	}
	v, err := st.col(g.Wide, in, in.Index(a.Arg))
	if err != nil {
		return nil, err
	}
	if a.Fn == ra.Count && !v.Type.Nullable { // the structure knows the number of rows before any values
		return g.Leaf("count", n.Cols[i].Type, r.Space, countRows(r.Groups), false), nil
	}
	t := n.Cols[i].Type
	t.Nullable = false
	if a.Fn == ra.Sum || a.Fn == ra.Min || a.Fn == ra.Max {
		t.Nullable = v.Type.Nullable || r.Groups.HasEmpty()
	}
	return g.Over(structure.LabelsOf(st.Stage, in, n.Group)).Sum(a.Fn, v, t, r.Groups)
}

func countRows(x *structure.Groups) *column.Column {
	rows := make([]int64, x.Out.N)
	for g := range rows {
		if x.Projection != nil {
			rows[g] = int64(x.In.N / x.Out.N)
			continue
		}
		rows[g] = int64(x.Start[g+1] - x.Start[g])
	}
	return column.Of(kernels.Type{Kind: kernels.Int}, rows)
}

// single is an aggregate whose groups have one row each: the value of that row.
func (st *stage) single(g *values.Graph, n *ra.Node, r *structure.Relation, a ra.Agg) (*values.Val, error) {
	one := g.Constant(kernels.IntValue(1))
	if a.Fn == ra.CountRows {
		return one, nil
	}
	v, err := st.col(g.Wide, n.Inputs[0], n.Inputs[0].Index(a.Arg))
	switch {
	case err != nil:
		return nil, err
	case a.Fn == ra.Count && !v.Type.Nullable:
		return one, nil
	case a.Fn == ra.Count:
		valid, err := g.Call(kernels.Lookup("is_not_null"), kernels.Attr{}, v)
		if err != nil {
			return nil, err
		}
		return g.Call(kernels.Lookup("case"), kernels.Attr{}, valid, one, g.Constant(kernels.IntValue(0)))
	case a.Fn == ra.GradSum && v.Type.Nullable:
		return g.Call(kernels.Lookup("coalesce"), kernels.Attr{}, v, g.Zero(v.Type))
	}
	return v, nil
}

// windowCol is column i of a Window: one of its input, or an aggregate over the frames. Where that counts rows, the
// structure knows it.
func (st *stage) windowCol(g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	in := n.Inputs[0]
	if id, ok := n.Passed(i); ok {
		return st.col(g.Wide, in, in.Index(id))
	}
	a, t := n.Aggs[i-len(n.Over.Pass)], n.Cols[i].Type
	count := func() *values.Val {
		return g.Leaf(n.Cols[i].Name, t, r.Space, column.Of(t, r.Order.FrameRows(n.Over.Frame)), false)
	}
	if a.Fn == ra.CountRows {
		return count(), nil
	}
	v, err := st.col(g.Wide, in, in.Index(a.Arg))
	if err != nil {
		return nil, err
	}
	if e := n.Over.Among; e != nil || a.Fn == ra.Min || a.Fn == ra.Max || a.Fn == ra.Rank {
		return extremes(st, g, n, r, a.Fn, v, t)
	}
	if a.Fn == ra.Count && !v.Type.Nullable {
		return count(), nil
	}
	t.Nullable = a.Fn == ra.Sum && (v.Type.Nullable || !n.Over.Frame.HoldsRow())
	o, f := structure.Facing(st.Stage, r.Order, n.Over.Frame)
	return g.Window(a.Fn, g.Spread(v, r.Space), t, o, f), nil
}

// extremes is an aggregate of v that needs the extremes of frames, or ranks.
func extremes(st *stage, g *values.Graph, n *ra.Node, r *structure.Relation, fn ra.AggFn, v *values.Val,
	t kernels.Type) (*values.Val, error) {
	in, e := n.Inputs[0], n.Over.Among
	v = g.Spread(v, r.Space)
	if e == nil {
		t.Nullable = v.Type.Nullable || fn != ra.Rank && !n.Over.Frame.HoldsRow()
		return g.Extremes(fn, v, nil, t, r.Order, n.Over.Frame, nil), nil
	}
	x, err := st.col(g.Wide, in, in.Index(e.Col))
	if err != nil {
		return nil, err
	}
	return g.Extremes(fn, v, g.Spread(x, r.Space), t, r.Order, n.Over.Frame, e), nil
}

func (st *stage) unionCol(g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	args, from := make([]*values.Val, len(n.Inputs)), make([]*structure.Space, len(n.Inputs))
	t := n.Cols[i].Type
	t.Nullable = false
	for b, in := range n.Inputs {
		ir, err := st.Relation(in)
		if err != nil {
			return nil, err
		}
		if args[b], err = st.col(g.Wide, in, i); err != nil {
			return nil, err
		}
		from[b] = ir.Space
		t.Nullable = t.Nullable || args[b].Type.Nullable
	}
	return g.Concat(t, r.Space, args, from), nil
}

// addCol is column i of an Add. Value columns are summed: each input is read where it has the output's key, and counts
// as zero elsewhere. Key columns are read from the first input that has the key.
func (st *stage) addCol(g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	if i < len(n.Key) {
		return st.addKey(g, n, r, i)
	}
	var sum *values.Val
	for b, in := range n.Inputs {
		v, err := st.col(g.Wide, in, i)
		if err != nil {
			return nil, err
		}
		if v.Type.Nullable {
			if v, err = g.Call(kernels.Lookup("coalesce"), kernels.Attr{}, v, g.Zero(v.Type)); err != nil {
				return nil, err
			}
		}
		ir, err := st.Relation(in)
		if err != nil {
			return nil, err
		}
		if r.Repeats[b] != nil {
			by := columnIDs(in.Cols[:len(n.Key)])
			v, err = g.Over(structure.LabelsOf(st.Stage, in, by)).Sum(ra.GradSum, v, v.Type, r.Repeats[b])
		} else {
			if r.Indexes[b] != nil && r.Indexes[b].Missing {
				v = g.Spread(v, ir.Space)
			}
			v, err = g.Gather(v, r.Indexes[b])
		}
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = v
			continue
		}
		if sum, err = g.Call(kernels.Lookup("add"), kernels.Attr{}, sum, v); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func columnIDs(cols []ra.Column) (ids []ra.ColumnID) {
	for _, c := range cols {
		ids = append(ids, c.ID)
	}
	return ids
}

func (st *stage) addKey(g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	if r.Repeats[0] == nil && r.Indexes[0] == nil {
		return st.col(g.Wide, n.Inputs[0], i)
	}
	v, err := st.Vector(n, i)
	if err != nil {
		return nil, err
	}
	return g.Leaf(n.Cols[i].Name, v.Type(), r.Space, v, false), nil
}

// Vector computes a column that the structure reads, in double precision.
func (st *stage) Vector(n *ra.Node, i int) (*column.Column, error) {
	r, err := st.Relation(n)
	if err != nil {
		return nil, err
	}
	if v := r.Vectors[i]; v != nil {
		return v, nil
	}
	structure, column := st.p.flow.Structure[n], st.p.flow.Column[structure.ColumnOf{Node: n, Col: i}]
	v, err := st.makeVec(n, r, i, st.parent != nil && (structure || column))
	if err != nil {
		return nil, err
	}
	if !column || structure {
		r.Vectors[i] = v // otherwise its values change while the relation stays
	}
	return v, nil
}

func (st *stage) makeVec(n *ra.Node, r *structure.Relation, i int, step bool) (*column.Column, error) {
	if r.Pruned {
		return nil, internal("column %d of %v is asked for when its structure has gone", i, n.Op)
	}
	if n.Op == ra.Add && i < len(n.Key) && !(r.Repeats[0] == nil && r.Indexes[0] == nil) {
		return st.addKeyVec(n, r, i)
	}
	v, err := st.col(true, n, i)
	if err != nil {
		return nil, err
	}
	if v.Op == values.OpLeaf && v.Space == r.Space && v.Data.Buffer() == nil {
		return v.Data.As(n.Cols[i].Type), nil
	}
	d, err := st.p.compute(st, v, r.Space, step)
	if err != nil {
		return nil, err
	}
	return d.As(v.Type), nil
}

// addKeyVec reads key column i of an Add from the inputs.
func (st *stage) addKeyVec(n *ra.Node, r *structure.Relation, i int) (*column.Column, error) {
	parts, from, base := make([]*column.Column, len(n.Inputs)), make([]int32, r.Space.N), int32(0)
	structure.Fill(from, -1)
	for b, in := range n.Inputs {
		v, err := st.Vector(in, i)
		if err != nil {
			return nil, err
		}
		parts[b] = v
		for o := range from {
			at := int32(-1)
			switch {
			case from[o] >= 0:
				continue
			case r.Repeats[b] != nil:
				if g := r.Repeats[b]; g.Start[o] < g.Start[o+1] {
					if at = g.Start[o]; g.Perm != nil {
						at = g.Perm[at]
					}
				}
			case r.Indexes[b] == nil || r.Indexes[b].At == nil:
				at = int32(o)
			default:
				at = r.Indexes[b].At[o]
			}
			if at >= 0 {
				from[o] = base + at
			}
		}
		base += int32(v.Len())
	}
	return column.Gather(structure.ConcatVectors(parts, st.Arrays.Scratch()), from), nil
}
