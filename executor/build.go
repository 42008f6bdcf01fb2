package executor

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// col is the val of a column of n, over the space of n's rel or uniform.
func (st *stage) col(wide bool, n *ra.Node, i int) (*val, error) {
	key := colKey{wide, n, i}
	for s := st; s != nil; s = s.parent {
		if v := s.cols[key]; v != nil {
			return v, nil
		}
	}
	if st.parent != nil && !st.p.flow.Structure[n] { // the same vals as the run's, though values may vary
		return st.parent.col(wide, n, i)
	}
	if err := st.Ctx.Err(); err != nil { // a node may have very many columns
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

func (st *stage) makeCol(g *graph, n *ra.Node, r *structure.Relation, i int) (*val, error) {
	switch n.Op {
	case ra.Scan:
		return st.scanCol(g, n, r, i)
	case ra.Opaque:
		return g.leaf(n.Cols[i].Name, n.Cols[i].Type, r.Space, fromVector(r.Data[i]), false), nil
	case ra.Select, ra.Join:
		return st.expr(g, n, n.Out[i], r.Indexes)
	case ra.SemiJoin, ra.AntiJoin:
		v, err := st.col(g.wide, n.Inputs[0], i)
		if err != nil {
			return nil, err
		}
		return g.gather(v, r.Indexes[0])
	case ra.Aggregate:
		return st.aggregateCol(g, n, r, i)
	case ra.Union:
		return st.unionCol(g, n, r, i)
	case ra.Add:
		return st.addCol(g, n, r, i)
	}
	return nil, internal("%v has no values", n.Op)
}

// scanCol is a stored column; a parameter's column is shared by all scans of the table, mutable, and the
// same in both graphs only by value.
func (st *stage) scanCol(g *graph, n *ra.Node, r *structure.Relation, i int) (*val, error) {
	t := st.p.table(n.Table)
	v := r.Data[t.at[n.TableCols[i]]]
	if n.Cols[i].Dep && !g.wide || n.Cols[i].Dep && st.p.opt.Force64 {
		p, err := st.p.param(t, n.TableCols[i], v)
		if err != nil {
			return nil, err
		}
		if p.leaf == nil {
			p.leaf = st.main.leaf(n.Table.Name+"."+n.Cols[i].Name, n.Cols[i].Type, r.Space, p.data, true)
		}
		return p.leaf, nil
	}
	key := scanKey{g.wide, t, n.TableCols[i]}
	if st.leaves[key] == nil && !g.wide && v.Type.Kind == kernels.Int {
		st.leaves[key] = st.keyLeaf(n.Table.Name+"."+n.Cols[i].Name, r.Space, v)
	}
	if st.leaves[key] == nil && st.p.becomes(t, n.TableCols[i], v) { // the stored values, which training does not change
		c := *v
		c.F32, c.F64 = slices.Clone(v.F32), slices.Clone(v.F64)
		v, r.Data[t.at[n.TableCols[i]]] = &c, &c
		if t.own[n.TableCols[i]] == nil { // else it is counted as long as it is no parameter's
			st.p.led.columns += int64(len(numbers(v)))
		}
	}
	if st.leaves[key] == nil {
		st.leaves[key] = g.leaf(n.Table.Name+"."+n.Cols[i].Name, n.Cols[i].Type, r.Space, fromVector(v), false)
	}
	return st.leaves[key], nil
}

// keyLeaf is the leaf of a column of integers in the main graph. Equal columns are one leaf, so that what is
// computed of equal keys is computed once.
func (st *stage) keyLeaf(name string, sp *structure.Space, v *ra.Vector) *val {
	key := fmt.Sprintf("%x %d", structure.SampleHash(v.Ints), sp.ID)
	for s := st; s != nil; s = s.parent {
		for _, l := range s.keys[key] {
			if structure.EqualInts(l.data.i64, v.Ints) && slices.Equal(l.data.valid, fromVector(v).valid) {
				return l
			}
		}
	}
	l := st.main.leaf(name, v.Type, sp, fromVector(v), false)
	st.keys[key] = append(st.keys[key], l)
	return l
}

// scanKey names a leaf.
type scanKey struct {
	wide bool
	t    *tableData
	col  int
}

// exprsOf names the expressions of a node in a graph.
type exprsOf struct {
	g *graph
	n *ra.Node
}

// expr is the val of an expression over n's inputs, read through idx.
func (st *stage) expr(g *graph, n *ra.Node, e *kernels.Expr, idx []*structure.Index) (*val, error) {
	if g.wide && st.parent != nil && e.PerStep() {
		e = settle(e, &st.p.env)
	}
	of := exprsOf{g, n}
	if st.exprs[of] == nil {
		st.exprs[of] = map[*kernels.Expr]*val{}
	}
	return fromExpr(g, e, st.exprs[of], func(c kernels.Col) (*val, error) {
		in := n.Inputs[c.Input]
		v, err := st.col(g.wide, in, in.Index(c.ID))
		if err != nil {
			return nil, err
		}
		return g.gather(v, idx[c.Input])
	})
}

func (st *stage) aggregateCol(g *graph, n *ra.Node, r *structure.Relation, i int) (*val, error) {
	in := n.Inputs[0]
	if i < len(n.Group) {
		if !g.wide && n.Cols[i].Type.Kind == kernels.Int {
			x, err := st.Vector(n, i)
			if err != nil {
				return nil, err
			}
			return st.keyLeaf(n.Cols[i].Name, r.Space, x), nil
		}
		v, err := st.col(g.wide, in, in.Index(n.Group[i]))
		if err != nil || r.Groups == nil {
			return v, err
		}
		return g.gather(v, r.Indexes[0])
	}
	a := n.Aggs[i-len(n.Group)]
	if r.Groups == nil {
		return st.single(g, n, r, a)
	}
	if a.Fn == ra.CountRows {
		return g.leaf("count(*)", n.Cols[i].Type, r.Space, countRows(r.Groups), false), nil
	}
	v, err := st.col(g.wide, in, in.Index(a.Arg))
	if err != nil {
		return nil, err
	}
	if a.Fn == ra.Count && !v.typ.Nullable { // structure tells how many rows there are, before any values
		return g.leaf("count", n.Cols[i].Type, r.Space, countRows(r.Groups), false), nil
	}
	t := n.Cols[i].Type
	t.Nullable = false
	if a.Fn == ra.Sum || a.Fn == ra.Min || a.Fn == ra.Max {
		t.Nullable = v.typ.Nullable || r.Groups.HasEmpty()
	}
	return g.sum(a.Fn, v, t, r.Groups)
}

func countRows(x *structure.Groups) *data {
	d := &data{kind: i64, size: 1, n: x.Out.N, i64: make([]int64, x.Out.N)}
	for g := range d.i64 {
		if x.Projection != nil {
			d.i64[g] = int64(x.In.N / x.Out.N)
			continue
		}
		d.i64[g] = int64(x.Start[g+1] - x.Start[g])
	}
	return d
}

// single is an aggregate over groups of one row each: the row's value.
func (st *stage) single(g *graph, n *ra.Node, r *structure.Relation, a ra.Agg) (*val, error) {
	one := g.constant(kernels.IntValue(1))
	if a.Fn == ra.CountRows {
		return one, nil
	}
	v, err := st.col(g.wide, n.Inputs[0], n.Inputs[0].Index(a.Arg))
	switch {
	case err != nil:
		return nil, err
	case a.Fn == ra.Count && !v.typ.Nullable:
		return one, nil
	case a.Fn == ra.Count:
		valid, err := g.call(kernels.Lookup("is_not_null"), kernels.Attr{}, v)
		if err != nil {
			return nil, err
		}
		return g.call(kernels.Lookup("case"), kernels.Attr{}, valid, one, g.constant(kernels.IntValue(0)))
	case a.Fn == ra.GradSum && v.typ.Nullable:
		return g.call(kernels.Lookup("coalesce"), kernels.Attr{}, v, g.zero(v.typ))
	}
	return v, nil
}

func (st *stage) unionCol(g *graph, n *ra.Node, r *structure.Relation, i int) (*val, error) {
	args, from := make([]*val, len(n.Inputs)), make([]*structure.Space, len(n.Inputs))
	t := n.Cols[i].Type
	t.Nullable = false
	for b, in := range n.Inputs {
		ir, err := st.Relation(in)
		if err != nil {
			return nil, err
		}
		if args[b], err = st.col(g.wide, in, i); err != nil {
			return nil, err
		}
		from[b] = ir.Space
		t.Nullable = t.Nullable || args[b].typ.Nullable
	}
	return g.concat(t, r.Space, args, from), nil
}

// addCol sums the inputs' columns, each read where it has the output's key and zero elsewhere. Key columns
// are read from the first input that has them.
func (st *stage) addCol(g *graph, n *ra.Node, r *structure.Relation, i int) (*val, error) {
	if i < len(n.Key) {
		return st.addKey(g, n, r, i)
	}
	var sum *val
	for b, in := range n.Inputs {
		v, err := st.col(g.wide, in, i)
		if err != nil {
			return nil, err
		}
		if v.typ.Nullable {
			if v, err = g.call(kernels.Lookup("coalesce"), kernels.Attr{}, v, g.zero(v.typ)); err != nil {
				return nil, err
			}
		}
		ir, err := st.Relation(in)
		if err != nil {
			return nil, err
		}
		if r.Repeats[b] != nil {
			v, err = g.sum(ra.GradSum, v, v.typ, r.Repeats[b])
		} else {
			if r.Indexes[b] != nil && r.Indexes[b].Missing {
				v = g.spread(v, ir.Space)
			}
			v, err = g.gather(v, r.Indexes[b])
		}
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = v
			continue
		}
		if sum, err = g.call(kernels.Lookup("add"), kernels.Attr{}, sum, v); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func (st *stage) addKey(g *graph, n *ra.Node, r *structure.Relation, i int) (*val, error) {
	if r.Repeats[0] == nil && r.Indexes[0] == nil {
		return st.col(g.wide, n.Inputs[0], i)
	}
	v, err := st.Vector(n, i)
	if err != nil {
		return nil, err
	}
	return g.leaf(n.Cols[i].Name, v.Type, r.Space, fromVector(v), false), nil
}

// Vector is a structural column: its values in memory, in double precision.
func (st *stage) Vector(n *ra.Node, i int) (*ra.Vector, error) {
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
		r.Vectors[i] = v // else its values change while the rel stays
	}
	return v, nil
}

func (st *stage) makeVec(n *ra.Node, r *structure.Relation, i int, step bool) (*ra.Vector, error) {
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
	if v.op == vLeaf && v.sp == r.Space && v.data.buf == nil {
		return v.data.shared(n.Cols[i].Type), nil
	}
	d, err := st.p.compute(st, v, r.Space, step)
	if err != nil {
		return nil, err
	}
	return d.shared(v.typ), nil
}

// addKeyVec reads key column i of an Add from the inputs.
func (st *stage) addKeyVec(n *ra.Node, r *structure.Relation, i int) (*ra.Vector, error) {
	parts, from, base := make([]*ra.Vector, len(n.Inputs)), make([]int32, r.Space.N), int32(0)
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
		base += int32(v.N)
	}
	return structure.GatherVector(structure.ConcatVectors(parts, st.Arrays.Scratch()), from), nil
}
