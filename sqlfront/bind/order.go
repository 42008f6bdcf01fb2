package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// sortKey is a bound item of ORDER BY.
type sortKey struct {
	x                *kernels.Expr
	desc, nullsFirst bool
}

// sorts reports whether a SELECT contains ordered windows or array_agg.
func sorts(sel *ast.Select) bool {
	found := false
	ast.Walk(sel, func(t ast.Tree) bool {
		if c, ok := t.(*ast.FuncCall); ok {
			w := c.Over
			found = found || c.Name == "array_agg" || w != nil &&
				(len(w.OrderBy) > 0 || w.Name != "" || w.Extends != "" || w.Frame != "" || rowFunctions[c.Name] != nil)
		}
		_, sub := t.(*ast.Select)
		return !found && (!sub || t == ast.Tree(sel))
	})
	return found
}

// bindSortKeys binds ORDER BY, which must not read values of a parameter.
func bindSortKeys(s *scope, items []ast.SortKey) ([]sortKey, error) {
	var out []sortKey
	for _, k := range items {
		x, err := s.expr(k.X)
		switch {
		case err != nil:
			return nil, err
		case s.depends(x):
			return nil, s.f.fail(k.X, sqlerr.FeatureNotSupported,
				"ORDER BY on a value that depends on a parameter is not differentiable").
				WithHint("Structure may not depend on values: order by keys or attributes.")
		case x.Type.Shape != nil:
			return nil, s.f.fail(k.X, sqlerr.FeatureNotSupported, "ORDER BY on %v is not supported in a loss", x.Type).
				WithHint("Order by a number or a text.")
		}
		keys := []*kernels.Expr{x}
		if err := checkComparable(s, keys, true, k.X); err != nil {
			return nil, err
		}
		x = keys[0]
		o := sortKey{x: x, desc: k.Desc, nullsFirst: k.Desc}
		if k.NullsFirst != nil {
			o.nullsFirst = *k.NullsFirst
		}
		out = append(out, o)
	}
	return out, nil
}

// ordered is a scope's rows as one relation, with an order within groups.
type ordered struct {
	rows  *ra.Node // the scope's only input
	group []ra.ColumnID
	keys  []sortKey // expressions over rows
	extra []ra.ColumnID
	swap  renaming // for what was bound before
}

// orderRows joins the scope's inputs into one, whose rows have the groups, the keys of the order and extra columns.
func orderRows(s *scope, groups []*kernels.Expr, keys []sortKey, extra ...*kernels.Expr) *ordered {
	all := slices.Clone(groups)
	for _, k := range keys {
		all = append(all, k.x)
	}
	ids, swap := s.close(append(all, extra...))
	n, g := s.inputs[0].node, len(groups)
	o := &ordered{rows: n, group: ids[:g], extra: ids[g+len(keys):], swap: swap}
	for i, k := range keys {
		k.x = n.Var(0, ids[g+i])
		o.keys = append(o.keys, k)
	}
	return o
}

// other converts an expression over rows to the other row of a pair.
func other(x *kernels.Expr) *kernels.Expr {
	return x.MapCols(func(e *kernels.Expr) *kernels.Expr {
		return kernels.Column(kernels.Col{Input: 1, ID: e.Col.ID}, e.Type)
	})
}

// pairs joins each row (input 0) with the rows of its group (input 1), over which equi, pred and out are. The first own
// columns of the result are the row's identity.
func (o *ordered) pairs(b *ra.Builder, equi []ra.Equi, pred []*kernels.Expr, out ...ra.OutCol) (n *ra.Node, own int) {
	for _, g := range o.group {
		equi = append(equi, ra.Equi{L: kernels.Col{ID: g}, R: kernels.Col{Input: 1, ID: g}, NullSafe: true})
	}
	cols := o.identity()
	return b.Join([]*ra.Node{o.rows, o.rows}, equi, pred, append(cols, out...)), len(cols)
}

func (o *ordered) identity() (cols []ra.OutCol) {
	for _, k := range o.rows.Key {
		cols = append(cols, ra.OutCol{Name: o.rows.Col(k).Name, X: o.rows.Var(0, k)})
	}
	return cols
}

// foldOrdered aggregates pairs by the row's identity, their first own columns, and adds the result as an input. Every
// row must occur in some pair. The aggregates' arguments are the columns after these, in order.
func foldOrdered(s *scope, o *ordered, n *ra.Node, own int, fns ...ra.AggFn) ([]*kernels.Expr, error) {
	var group []ra.ColumnID
	for i := range own {
		group = append(group, n.Cols[i].ID)
	}
	var aggs []ra.AggCol
	for i, fn := range fns {
		aggs = append(aggs, ra.AggCol{Name: n.Cols[own+i].Name, Agg: ra.Agg{Fn: fn, Arg: n.Cols[own+i].ID}})
	}
	a, err := s.b.b.Aggregate(n, group, aggs)
	if err != nil {
		return nil, err
	}
	return attachRows(s, o, a), nil
}

// attachRows adds as an input a relation that has a row for each row, whose identity its columns begin with. It returns
// the others.
func attachRows(s *scope, o *ordered, n *ra.Node) (out []*kernels.Expr) {
	slot := len(s.inputs)
	s.inputs = append(s.inputs, &relation{node: n})
	for i, k := range o.rows.Key {
		s.equi = append(s.equi, ra.Equi{L: kernels.Col{ID: k}, R: kernels.Col{Input: slot, ID: n.Cols[i].ID}, NullSafe: true})
	}
	for _, c := range n.Cols[len(o.rows.Key):] {
		out = append(out, n.Var(slot, c.ID))
	}
	return out
}

// overRows adds as an input what fns make of the first extra columns over each row's frame.
func overRows(s *scope, o *ordered, f ra.Frame, fns ...ra.AggFn) ([]*kernels.Expr, error) {
	over := ra.Over{Pass: o.rows.Key, Partition: o.group, Frame: f}
	keys := o.keys
	if !f.Peers {
		keys = o.total()
	}
	for _, k := range keys {
		over.Order = append(over.Order, ra.Sort{Col: k.x.Col.ID, Desc: k.desc, NullsFirst: k.nullsFirst})
	}
	var aggs []ra.AggCol
	for i, fn := range fns {
		a := ra.AggCol{Name: fn.String(), Agg: ra.Agg{Fn: fn}}
		if fn != ra.CountRows {
			a.Name, a.Arg = o.rows.Col(o.extra[i]).Name, o.extra[i]
		}
		aggs = append(aggs, a)
	}
	n, err := s.b.b.Window(o.rows, over, aggs)
	if err != nil {
		return nil, err
	}
	return attachRows(s, o, n), nil
}

// total are the keys of an order that tells all rows of a group apart: rows that are equal follow their identity.
func (o *ordered) total() []sortKey {
	keys := slices.Clone(o.keys)
	for _, k := range o.rows.Unique {
		if !slices.Contains(o.group, k) {
			keys = append(keys, sortKey{x: o.rows.Var(0, k)})
		}
	}
	return keys
}

func nullInt() *kernels.Expr { return kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Int})) }

func intConst(i int64) *kernels.Expr { return kernels.Const(kernels.IntValue(i)) }

// before is the condition that the other row of a pair precedes the row; of rows with equal keys it is ties.
func (o *ordered) before(ties bool) *kernels.Expr {
	rest := boolConst(ties)
	for _, k := range slices.Backward(o.keys) {
		rest = k.precedes(rest)
	}
	return rest
}

// precedes compares the other row's key with the row's; rest decides where they are equal.
func (k sortKey) precedes(rest *kernels.Expr) *kernels.Expr {
	row, other := k.x, other(k.x)
	above, below := "gt", "lt"
	if k.desc {
		above, below = below, above
	}
	args := []*kernels.Expr{kernels.Build(below, other, row), boolConst(true),
		kernels.Build(above, other, row), boolConst(false)}
	if row.Type.Nullable {
		isNull := func(x *kernels.Expr) *kernels.Expr { return kernels.Build("is_null", x) }
		both := kernels.Build("and", isNull(other), isNull(row))
		args = append([]*kernels.Expr{both, rest, isNull(other), boolConst(k.nullsFirst), isNull(row),
			boolConst(!k.nullsFirst)}, args...)
	}
	return kernels.Build("case", append(args, rest)...)
}

func boolConst(b bool) *kernels.Expr { return kernels.Const(kernels.BoolValue(b)) }
