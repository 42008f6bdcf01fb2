package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// EXISTS, x op ANY (SELECT …) and x op ALL (SELECT …) as values of an expression. The outer rows are divided into those
// for which the sub-query's rows make it true, those for which a NULL makes it unknown, and the others.

// foundExpr binds a sub-query of EXISTS, ANY or ALL as a value.
func foundExpr(s *scope, l *ast.SubLink) (*kernels.Expr, error) {
	if l.Kind == ast.SubAll { // x op ALL holds where no row makes the opposite true
		op := ast.Negations[l.Op]
		if op == "" {
			return nil, refuseNotFound(s, l)
		}
		x, err := foundExpr(s, &ast.SubLink{Node: l.Node, Kind: ast.SubAny, Op: op, Test: l.Test, Query: l.Query})
		if err != nil {
			return nil, err
		}
		return kernels.Build("not", x), nil
	}
	if l.Kind == ast.SubAny && !comparisons[operators[l.Op]] {
		return nil, refuseNotFound(s, l)
	}
	tests, err := memberTests(s, l)
	if err != nil {
		return nil, err
	}
	in, outer, err := membersOf(s, l)
	if err != nil {
		return nil, refuseCorrelated(s, l, err)
	}
	rows, targets, err := exposedSide(in, l)
	if err != nil {
		return nil, err
	}
	return dividedRows(s, &finding{l: l, tests: tests, in: in, outer: outer, rows: rows, targets: targets})
}

func refuseNotFound(s *scope, l *ast.SubLink) error {
	return s.f.fail(l, sqlerr.FeatureNotSupported, "this sub-query cannot stand in an expression of a loss").
		WithHint("EXISTS (SELECT …), IN (SELECT …), comparisons with ANY and ALL (SELECT …), and scalar sub-queries may " +
			"stand anywhere.")
}

// finding is a sub-query of which the outer rows look for a matching row.
type finding struct {
	l       *ast.SubLink
	tests   []*kernels.Expr // of ANY, over the outer scope
	in      *scope
	outer   []ast.Expr      // conditions that read outer columns
	rows    *side           // the sub-query's rows, in slot 1
	targets []*kernels.Expr // the columns compared with tests
}

// onValues reports whether a comparison reads values, not only keys and attributes.
func (q *finding) onValues(s *scope) bool {
	rows := q.rows.rel.node
	return slices.ContainsFunc(q.tests, func(x *kernels.Expr) bool { return s.depends(x) || x.Type.Shape != nil }) ||
		slices.ContainsFunc(q.targets, func(x *kernels.Expr) bool { return rows.Col(x.Col.ID).Dep || x.Type.Shape != nil })
}

// holds compares the tests, moved to slot 0 of on, with the sub-query's columns.
func (q *finding) holds(on *scope, tests, targets []*kernels.Expr) (*kernels.Expr, error) {
	var out *kernels.Expr
	join := map[string]string{"=": "and", "<>": "or", "!=": "or"}[q.l.Op]
	if len(tests) > 1 && join == "" {
		return nil, on.f.fail(q.l, sqlerr.FeatureNotSupported, "an order of rows is not looked for in a sub-query").
			WithHint("Write EXISTS (SELECT … WHERE …), and compare the columns there.")
	}
	for i, test := range tests {
		x, err := on.compare(operators[q.l.Op], test, targets[i], q.l)
		switch {
		case err != nil:
			return nil, err
		case out == nil:
			out = x
		default:
			out = kernels.Build(join, out, x)
		}
	}
	return out, nil
}

// dividedRows computes the value of a sub-query for each outer row.
func dividedRows(s *scope, q *finding) (*kernels.Expr, error) {
	xs, cols := reachedColumns(s, q)
	reads := false
	for _, x := range xs {
		x.Cols(func(kernels.Col) { reads = true })
	}
	if q.onValues(s) {
		return nil, refuseOnValues(s, q.l)
	}
	if !reads {
		return foundAlone(s, q)
	}
	base, slots, keys := rowsOfKeys(s, xs)
	for i := range cols {
		cols[i].x = base.Var(0, base.Cols[keys+i].ID)
	}
	tests := slices.Clone(q.tests)
	for i, test := range tests {
		if !test.IsConst() {
			tests[i] = base.Var(0, base.Cols[keys+len(cols)+i].ID)
		}
	}
	met, rest, err := partners(s, q, base, cols, tests, false)
	if err != nil {
		return nil, err
	}
	value := func(n *ra.Node, v kernels.Value) *ra.Node {
		out := lists.Map(n.Cols[:keys], func(c ra.Column) ra.OutCol { return ra.OutCol{Name: c.Name, X: n.Var(0, c.ID)} })
		return s.b.b.Select(n, nil, append(out, ra.OutCol{Name: "found", X: kernels.Const(v)}))
	}
	parts := []*ra.Node{value(met, kernels.BoolValue(true))}
	if nullable(tests) || nullable(q.targets) {
		for i := range tests {
			tests[i] = movedTo(tests[i], base, rest)
		}
		open, others, err := partners(s, q, rest, moved(cols, base, rest), tests, true)
		if err != nil {
			return nil, err
		}
		parts = append(parts, value(open, kernels.NullOf(kernels.Type{Kind: kernels.Bool})))
		rest = others
	}
	n := s.b.b.Union(append(parts, value(rest, kernels.BoolValue(false))), keys+1)
	return lookedUp(s, n, slots[:keys]), nil
}

// moved converts visible columns of base to those of n, whose columns correspond by position.
func moved(cols []scopeCol, base, n *ra.Node) []scopeCol {
	out := slices.Clone(cols)
	for i := range out {
		out[i].x = movedTo(out[i].x, base, n)
	}
	return out
}

func movedTo(x *kernels.Expr, base, n *ra.Node) *kernels.Expr {
	return x.MapCols(func(e *kernels.Expr) *kernels.Expr { return n.Var(0, n.Cols[base.Index(e.Col.ID)].ID) })
}

// reachedColumns lists what a sub-query reads of the outer rows: the visible columns of its conditions, then the tests.
func reachedColumns(s *scope, q *finding) (xs []*kernels.Expr, cols []scopeCol) {
	for _, e := range q.outer {
		ast.Walk(e, func(t ast.Tree) bool {
			if c, ok := t.(*ast.ColumnRef); ok && !c.Star {
				if _, err := q.in.column(c); err == nil {
					return true
				}
				sc, err := s.visibleAs(c)
				if err == nil && !slices.ContainsFunc(cols, func(o scopeCol) bool {
					return o.table == sc.table && o.name == sc.name
				}) {
					xs, cols = append(xs, sc.x), append(cols, *sc)
				}
			}
			return true
		})
	}
	return append(xs, q.tests...), cols
}

// partners divides the rows of base into those with and those without a partner among the sub-query's rows: a row that
// makes the comparison true or, if open is set, makes it NULL.
func partners(s *scope, q *finding, base *ra.Node, cols []scopeCol, tests []*kernels.Expr,
	open bool) (met, rest *ra.Node, err error) {
	on := &scope{b: s.b, f: s.f, apart: "a sub-query and the query around it",
		inputs: []*relation{{node: base}, q.rows.rel}}
	on.cols = visibleFrom(q.rows.cols, cols)
	switch {
	case len(tests) == 0:
	case !open && q.l.Op == "=":
		if err := memberByValue(on, q.l, tests, q.targets); err != nil {
			return nil, nil, err
		}
	case open && len(tests) == 1:
		on.filter(kernels.Build("or", kernels.Build("is_null", tests[0]), kernels.Build("is_null", q.targets[0])))
	default:
		x, err := q.holds(on, tests, q.targets)
		if err != nil {
			return nil, nil, err
		}
		if open {
			x = kernels.Build("is_null", x)
		}
		on.filter(x)
	}
	for _, e := range q.outer {
		if err := on.where(e); err != nil {
			return nil, nil, err
		}
	}
	if len(on.masks) > 0 {
		return nil, nil, refuseValuesDecide(s, q.l)
	}
	return keepRows(on, ra.SemiJoin, base), keepRows(on, ra.AntiJoin, base), nil
}

func refuseValuesDecide(s *scope, l *ast.SubLink) error {
	return s.f.fail(l, sqlerr.FeatureNotSupported,
		"which rows a sub-query of EXISTS or IN finds depends on a parameter's values").
		WithHint("Structure may not depend on values: compare keys and attributes.")
}

// foundAlone computes the value of a sub-query that reads no outer column, which is the same for all rows.
func foundAlone(s *scope, q *finding) (*kernels.Expr, error) {
	rows := q.rows.rel.node
	holds := boolConst(true)
	if len(q.tests) > 0 {
		on := &scope{b: s.b, f: s.f, inputs: []*relation{{node: rows}}}
		targets := slices.Clone(q.targets)
		for i := range targets {
			targets[i] = over0(targets[i])
		}
		var err error
		if holds, err = q.holds(on, q.tests, targets); err != nil {
			return nil, err
		}
	}
	count := func(x *kernels.Expr) *kernels.Expr { return kernels.Build("case", x, intConst(1), nullInt()) }
	n := s.b.b.Select(rows, nil,
		[]ra.OutCol{{Name: "found", X: count(holds)}, {Name: "open", X: count(kernels.Build("is_null", holds))}})
	all, err := s.b.b.Aggregate(n, nil, []ra.AggCol{{Name: "found", Agg: ra.Agg{Fn: ra.Count, Arg: n.Cols[0].ID}},
		{Name: "open", Agg: ra.Agg{Fn: ra.Count, Arg: n.Cols[1].ID}}})
	if err != nil {
		return nil, s.f.at(err, q.l)
	}
	at := len(s.inputs)
	s.inputs = append(s.inputs, &relation{node: all, lookup: true})
	some := func(i int) *kernels.Expr { return kernels.Build("gt", all.Var(at, all.Cols[i].ID), intConst(0)) }
	if len(q.tests) == 0 {
		return some(0), nil
	}
	null := kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Bool}))
	return kernels.Build("case", some(0), boolConst(true), some(1), null, boolConst(false)), nil
}
