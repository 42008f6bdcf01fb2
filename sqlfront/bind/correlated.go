package bind

import (
	"cmp"
	"maps"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// correlatedScalar binds (SELECT aggregate FROM … WHERE own = outer AND …): the aggregate grouped by the own sides,
// looked up by the outer rows. done is false where the sub-query is not correlated.
func correlatedScalar(s *scope, l *ast.SubLink) (x *kernels.Expr, done bool, err error) {
	in, outer, err := decorrelate(s, l.Query)
	if in == nil || err != nil {
		return nil, err != nil, err
	}
	if s.post != nil {
		return nil, true, refuseAboveGroups(s, l)
	}
	targets, err := in.expandStars(l.Query.Targets)
	switch {
	case err != nil:
		return nil, true, err
	case len(targets) != 1:
		return nil, true, s.f.fail(l, sqlerr.Syntax, "a scalar sub-query must return one column, not %d", len(targets))
	case !hasAggregate(targets):
		return nil, true, s.f.fail(l, sqlerr.FeatureNotSupported, "a correlated sub-query must be an aggregate here").
			WithHint("Where it finds one row, max(…) or sum(…) of it is its value; or write it as a join.")
	case targets[0].x == nil && reachesOut(in, targets[0].X, s):
		return nil, true, s.f.fail(targets[0].X, sqlerr.FeatureNotSupported,
			"the value of a correlated sub-query reads a column of the query around it, which is not differentiable").
			WithHint("Factors of that query stand before the sub-query: y * (SELECT sum(x) …). Or write it as a join.")
	}
	own, around, err := splitComparisons(s, in, outer)
	if err != nil {
		return nil, true, err
	}
	groups, empty, err := groupByKeys(in, l.Query, targets, own)
	if err != nil {
		return nil, true, err
	}
	s.b.classes[l] = groups.class(len(own))
	x, err = lookUpByKeys(s, l, groups, around, empty)
	return x, true, err
}

func refuseAboveGroups(s *scope, l *ast.SubLink) error {
	return s.f.fail(l, sqlerr.FeatureNotSupported, "a correlated sub-query above GROUP BY is not differentiable yet").
		WithHint("Put the GROUP BY into a sub-query of FROM.")
}

// splitComparisons splits conditions own = outer into their sides and binds the outer ones.
func splitComparisons(s *scope, in *scope, conds []ast.Expr) (own []ast.Expr, around []*kernels.Expr, err error) {
	for _, e := range conds {
		eq, ok := e.(*ast.Binary)
		if !ok || eq.Op != "=" || reachesOut(in, eq.L, s) == reachesOut(in, eq.R, s) {
			return nil, nil, s.f.fail(e, sqlerr.FeatureNotSupported,
				"this condition of a correlated sub-query is not differentiable").
				WithHint("own column = outer column is; write the others as a join with GROUP BY.")
		}
		mine, theirs := eq.L, eq.R
		if reachesOut(in, eq.L, s) {
			mine, theirs = eq.R, eq.L
		}
		x, err := s.expr(theirs)
		if err != nil {
			return nil, nil, err
		}
		if s.depends(x) || x.Type.Shape != nil {
			return nil, nil, s.f.fail(theirs, sqlerr.FeatureNotSupported,
				"a correlated sub-query that compares values is not differentiable").
				WithHint("Structure may not depend on values: compare keys and attributes.")
		}
		own, around = append(own, mine), append(around, x)
	}
	return own, around, nil
}

// groupByKeys groups a sub-query by keys. The result has the keys and then the value of the target. empty is that value
// over no rows.
func groupByKeys(s *scope, sel *ast.Select, targets []starTarget,
	keys []ast.Expr) (groups *relation, empty *kernels.Expr, err error) {
	grouped := *sel
	grouped.GroupBy = keys
	post, err := groupRows(s, &grouped, targets)
	if err != nil {
		return nil, nil, err
	}
	value, err := post.target(targets[0])
	if err != nil {
		return nil, nil, err
	}
	if empty, err = valueOverNothing(post, targets[0]); err != nil {
		return nil, nil, err
	}
	class := post.class(targets[0].X)
	if m := post.mask(); m != nil { // there are rows, but none passes the mask
		value, post.masks = kernels.Build("case", m, value, empty), nil
	}
	var out []ra.OutCol
	var names []string
	for _, k := range keys {
		x, err := post.expr(k)
		if err != nil {
			return nil, nil, err
		}
		out, names = append(out, ra.OutCol{Name: "key", X: x}), append(names, "key")
	}
	name := targetName(targets[0].Target)
	groups = post.project(append(out, ra.OutCol{Name: name, X: value}), append(names, name))
	groups.classes = make([]numberClass, len(groups.cols))
	groups.classes[len(keys)] = class
	return groups, empty, nil
}

// valueOverNothing is the value of an aggregate's target over no rows: counts are 0, everything else is NULL.
func valueOverNothing(s *scope, t starTarget) (*kernels.Expr, error) {
	g := &grouped{pre: s.post.pre, calls: maps.Clone(s.post.calls)} // the target contains nothing else
	for c, x := range g.calls {
		if g.calls[c] = kernels.Const(kernels.NullOf(x.Type)); c.Name == "count" {
			g.calls[c] = kernels.Const(kernels.IntValue(0))
		}
	}
	none := &scope{b: s.b, f: s.f, post: g}
	x, err := none.target(t)
	if err == nil && len(none.inputs) > 0 {
		err = s.f.fail(t.X, sqlerr.FeatureNotSupported, "a sub-query inside a correlated sub-query is not differentiable").
			WithHint("Write it as a join, with GROUP BY where it aggregates.")
	}
	return x, err
}

// lookUpByKeys adds an input with a row for every row of the inputs that around reads: the value of its group, or empty
// where there is no such group.
func lookUpByKeys(s *scope, l *ast.SubLink, groups *relation, around []*kernels.Expr,
	empty *kernels.Expr) (*kernels.Expr, error) {
	base, slots, keys := rowsOfKeys(s, around)
	var equi []ra.Equi
	for i := range around {
		a, b := base.Cols[keys+i], groups.node.Col(groups.cols[i])
		if a.Type.Kind != b.Type.Kind {
			return nil, s.f.fail(l, sqlerr.FeatureNotSupported, "a correlated sub-query compares %v with %v", b.Type, a.Type).
				WithHint("Cast one of them.")
		}
		pair := []*kernels.Expr{base.Var(0, a.ID), groups.node.Var(1, b.ID)}
		of, _, err := metType(pair)
		if err := cmp.Or(err, checkComparable(s, pair, false, l)); err != nil {
			return nil, s.f.at(err, l)
		}
		if of.String() == timestamp && a.Type.Of.String() != b.Type.Of.String() {
			return nil, s.f.fail(l, sqlerr.FeatureNotSupported,
				"a correlated sub-query compares %v with %v", b.Type.Of, a.Type.Of).WithHint("Cast one of them.")
		}
		equi = append(equi, ra.Equi{L: kernels.Col{ID: a.ID}, R: kernels.Col{Input: 1, ID: b.ID}})
	}
	id := groups.cols[len(around)]
	value := groups.node.Var(1, id)
	if empty.IsConst() && empty.Const.Null {
		empty = kernels.Const(kernels.NullOf(value.Type))
	}
	rest := s.b.semiJoin(ra.AntiJoin, base, groups.node, equi, nil)
	var met, unmet []ra.OutCol
	for i := range keys {
		met = append(met, ra.OutCol{Name: base.Cols[i].Name, X: base.Var(0, base.Cols[i].ID)})
		unmet = append(unmet, ra.OutCol{Name: base.Cols[i].Name, X: rest.Var(0, rest.Cols[i].ID)})
	}
	met = append(met, ra.OutCol{Name: "value", X: value})
	unmet = append(unmet, ra.OutCol{Name: "value", X: kernels.CastTo(value.Type.Kind, empty)})
	n := s.b.unite([]*ra.Node{s.b.join([]*ra.Node{base, groups.node}, equi, nil, met), s.b.projection(rest, nil, unmet)},
		keys+1)
	return lookedUp(s, n, slots[:keys]), nil
}

// lookedUp joins n by its first columns, which meet those of slots, and gives the column behind them.
func lookedUp(s *scope, n *ra.Node, slots []kernels.Col) *kernels.Expr {
	at := len(s.inputs)
	s.inputs = append(s.inputs, &relation{node: n, lookup: true})
	for i, slot := range slots {
		s.equi = append(s.equi, ra.Equi{L: slot, R: kernels.Col{Input: at, ID: n.Cols[i].ID}, NullSafe: true})
	}
	return n.Var(at, n.Cols[len(slots)].ID)
}

// rowsOfKeys projects the rows that some expressions read to their identities and the expressions. The first keys
// columns are the identities, taken from the columns slots. The rows are those of the one input that is read, or of all
// inputs. They need not pass the scope's conditions: rows that are not looked up only cost time.
func rowsOfKeys(s *scope, xs []*kernels.Expr) (n *ra.Node, slots []kernels.Col, keys int) {
	used := map[int]bool{}
	for _, x := range xs {
		x.Cols(func(c kernels.Col) { used[c.Input] = true })
	}
	var order []int
	for i, r := range s.inputs {
		if used[i] || len(used) > 1 && !r.lookup {
			order = append(order, i)
		}
	}
	at := func(c kernels.Col) kernels.Col { return kernels.Col{Input: slices.Index(order, c.Input), ID: c.ID} }
	move := func(x *kernels.Expr) *kernels.Expr {
		return x.MapCols(func(e *kernels.Expr) *kernels.Expr { return kernels.Column(at(e.Col), e.Type) })
	}
	var nodes []*ra.Node
	var out []ra.OutCol
	for k, slot := range order {
		node := s.inputs[slot].node
		nodes = append(nodes, node)
		for _, id := range node.Key {
			out = append(out, ra.OutCol{Name: node.Col(id).Name, X: node.Var(k, id)})
			slots = append(slots, kernels.Col{Input: slot, ID: id})
		}
	}
	keys = len(out)
	for _, x := range xs {
		out = append(out, ra.OutCol{Name: "outer", X: move(x)})
	}
	var equi []ra.Equi
	for _, q := range s.equi {
		if q.L, q.R = at(q.L), at(q.R); q.L.Input >= 0 && q.R.Input >= 0 {
			equi = append(equi, q)
		}
	}
	var pred []*kernels.Expr
	for _, p := range s.pred {
		inside := true
		p.Cols(func(c kernels.Col) { inside = inside && slices.Contains(order, c.Input) })
		if inside {
			pred = append(pred, move(p))
		}
	}
	return s.b.join(nodes, equi, pred, out), slots, keys
}
