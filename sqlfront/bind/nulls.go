package bind

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Training does not change which values of a parameter are NULL: that is structure, although the values are not. Where
// a query asks for it, the parameter's table gets a further column for each of its columns, which tells whether the
// value is NULL and depends on no value. Every projection passes these columns on.

// nulls tells when columns that depend on a parameter are NULL.
type nulls struct {
	on     bool                          // the parameters' tables have the columns that tell
	wanted bool                          // a condition asks, and there is no such column
	of     map[ra.ColumnID]*kernels.Expr // by column: the condition of being NULL, over its node as input 0
	tables map[string]*ra.Node           // the parameters' tables with the columns that tell
}

// isNull is x IS NULL over nodes, computed from structure alone; nil where that is not possible.
func (k *nulls) isNull(in []*ra.Node, x *kernels.Expr) *kernels.Expr {
	switch {
	case !x.Type.Nullable:
		return boolConst(false)
	case !dependsOn(in, x):
		return kernels.Build("is_null", x)
	case x.IsCol:
		q := k.of[x.Col.ID]
		if q == nil {
			return nil
		}
		return q.MapCols(func(e *kernels.Expr) *kernels.Expr {
			return kernels.Column(kernels.Col{Input: x.Col.Input, ID: e.Col.ID}, e.Type)
		})
	case x.Def.Is(kernels.Branches):
		return k.caseNull(in, x)
	case x.Def.Is(kernels.NullWhereAllAre):
		return k.allOf("and", in, x)
	case x.Strict():
		return k.allOf("or", in, x)
	}
	return nil
}

func dependsOn(in []*ra.Node, x *kernels.Expr) bool {
	dep := false
	x.Cols(func(c kernels.Col) { dep = dep || in[c.Input].Col(c.ID).Dep })
	return dep
}

func (k *nulls) allOf(op string, in []*ra.Node, x *kernels.Expr) *kernels.Expr {
	var out *kernels.Expr
	for _, a := range x.Args {
		q := k.isNull(in, a)
		switch {
		case q == nil:
			return nil
		case out == nil:
			out = q
		default:
			out = kernels.Build(op, out, q)
		}
	}
	return out
}

// caseNull is isNull of a CASE whose conditions are structure.
func (k *nulls) caseNull(in []*ra.Node, x *kernels.Expr) *kernels.Expr {
	args := slices.Clone(x.Args)
	for i, a := range args {
		if i%2 == 0 && i < len(args)-1 {
			if dependsOn(in, a) {
				return nil
			}
			continue
		}
		if args[i] = k.isNull(in, a); args[i] == nil {
			return nil
		}
	}
	return kernels.Build("case", args...)
}

func isNullExpr(s *scope, n *ast.IsNull) (*kernels.Expr, error) {
	x, err := s.expr(n.X)
	if err != nil {
		return nil, err
	}
	q := s.b.nulls.isNull(s.nodes(), x)
	if q == nil { // it depends on values
		s.b.nulls.wanted = true
		q = kernels.Build("is_null", x)
	}
	if n.Not {
		q = kernels.Build("not", q)
	}
	return q, nil
}

// join is Builder.Join, but the result also tells which of its columns are NULL.
func (b *binder) join(in []*ra.Node, equi []ra.Equi, pred []*kernels.Expr, out []ra.OutCol) *ra.Node {
	if !b.nulls.on {
		return b.b.Join(in, equi, pred, out)
	}
	all, told := slices.Clone(out), map[int]int{}
	for i, o := range out {
		q := b.nulls.told(in, o.X)
		if q == nil {
			continue
		}
		at := slices.IndexFunc(all, func(p ra.OutCol) bool { return p.X.Same(q) })
		if at < 0 {
			at, all = len(all), append(all, ra.OutCol{Name: o.Name + " is null", X: q})
		}
		told[i] = at
	}
	n := b.b.Join(in, equi, pred, all)
	for i, at := range told {
		b.nulls.of[n.Cols[i].ID] = n.Var(0, n.Cols[at].ID)
	}
	return n
}

// told is isNull of an expression that depends on a parameter and may be NULL.
func (k *nulls) told(in []*ra.Node, x *kernels.Expr) *kernels.Expr {
	if !x.Type.Nullable || !dependsOn(in, x) {
		return nil
	}
	return k.isNull(in, x)
}

// toldOf tells which values x of an aggregate are NULL, if it depends on a parameter and may be NULL.
func (k *nulls) toldOf(in []*ra.Node, fn ra.AggFn, x *kernels.Expr, all bool) *kernels.Expr {
	if !k.on || !dependsOn(in, x) || fn != ra.Sum && fn != ra.Min && fn != ra.Max || !all && !x.Type.Nullable {
		return nil
	}
	return k.isNull(in, x)
}

// projection is join of one input.
func (b *binder) projection(in *ra.Node, pred []*kernels.Expr, out []ra.OutCol) *ra.Node {
	return b.join([]*ra.Node{in}, nil, pred, out)
}

// semiJoin is Builder.Semi, but the result also tells which of its columns are NULL.
func (b *binder) semiJoin(op ra.Op, l, r *ra.Node, equi []ra.Equi, pred []*kernels.Expr) *ra.Node {
	n := b.b.Semi(op, l, r, equi, pred)
	for i, c := range l.Cols {
		if q := b.nulls.of[c.ID]; q != nil {
			b.nulls.of[n.Cols[i].ID] = q.MapCols(func(e *kernels.Expr) *kernels.Expr {
				return n.Var(0, n.Cols[l.Index(e.Col.ID)].ID)
			})
		}
	}
	return n
}

// unite is Builder.Union, but the result also tells which of its columns are NULL where all branches do.
func (b *binder) unite(in []*ra.Node, visible int) *ra.Node {
	if !b.nulls.on {
		return b.b.Union(in, visible)
	}
	out := make([][]ra.OutCol, len(in))
	for k, n := range in {
		for _, c := range n.Cols[:visible] {
			out[k] = append(out[k], ra.OutCol{Name: c.Name, X: n.Var(0, c.ID)})
		}
	}
	var told []int
	for i := range visible {
		dep, qs := false, []*kernels.Expr(nil)
		for _, n := range in {
			dep = dep || n.Cols[i].Dep && n.Cols[i].Type.Nullable
			if q := b.nulls.isNull([]*ra.Node{n}, n.Var(0, n.Cols[i].ID)); q != nil {
				qs = append(qs, q)
			}
		}
		if !dep || len(qs) < len(in) {
			continue
		}
		told = append(told, i)
		for k, q := range qs {
			out[k] = append(out[k], ra.OutCol{Name: in[k].Cols[i].Name + " is null", X: q})
		}
	}
	branches := slices.Clone(in)
	if told != nil {
		for k, n := range in {
			branches[k] = b.b.Select(n, nil, out[k])
		}
	}
	n := b.b.Union(branches, visible+len(told))
	for k, i := range told {
		b.nulls.of[n.Cols[i].ID] = n.Var(0, n.Cols[visible+k].ID)
	}
	return n
}

// telling adds to a scan of a parameter's table the columns that tell where the parameter is NULL. They are read once,
// as data.
func (b *binder) telling(scan *ra.Node) *ra.Node {
	name := scan.Table.Schema + "." + scan.Table.Name
	if n := b.nulls.tables[name]; n != nil {
		return n
	}
	var asked []int
	for i, c := range scan.Cols {
		if c.Dep && c.Type.Nullable {
			asked = append(asked, i)
		}
	}
	if !b.nulls.on || asked == nil {
		return scan
	}
	data := b.b.Scan(scan.Table, nil)
	var tells, out []ra.OutCol
	for _, k := range data.Key {
		tells = append(tells, ra.OutCol{Name: data.Col(k).Name, X: data.Var(0, k)})
	}
	for _, i := range asked {
		tells = append(tells,
			ra.OutCol{Name: data.Cols[i].Name + " is null", X: kernels.Build("is_null", data.Var(0, data.Cols[i].ID))})
	}
	told := b.b.Select(data, nil, tells)
	var equi []ra.Equi
	for i, k := range scan.Key {
		equi = append(equi, ra.Equi{L: kernels.Col{ID: k}, R: kernels.Col{Input: 1, ID: told.Cols[i].ID}, NullSafe: true})
	}
	for _, c := range scan.Cols {
		out = append(out, ra.OutCol{Name: c.Name, X: scan.Var(0, c.ID)})
	}
	for i := range asked {
		c := told.Cols[len(scan.Key)+i]
		out = append(out, ra.OutCol{Name: c.Name, X: told.Var(1, c.ID)})
	}
	n := b.b.Join([]*ra.Node{scan, told}, equi, nil, out)
	for k, i := range asked {
		b.nulls.of[n.Cols[i].ID] = n.Var(0, n.Cols[len(scan.Cols)+k].ID)
	}
	b.nulls.tables[name] = n
	return n
}
