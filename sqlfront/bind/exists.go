package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// bindSemiJoin binds [NOT] EXISTS (SELECT …) and x [NOT] IN (SELECT …) in WHERE as a semi-join or anti-join. done is
// false for other expressions.
func bindSemiJoin(s *scope, e ast.Expr) (done bool, err error) {
	op := ra.SemiJoin
	if not, ok := e.(*ast.Unary); ok && not.Op == "not" {
		op, e = ra.AntiJoin, not.X
	}
	l, ok := e.(*ast.SubLink)
	if !ok || l.Kind != ast.SubExists && (l.Kind != ast.SubAny || l.Op != "=") || s.post != nil || len(s.inputs) == 0 {
		return false, nil
	}
	tests, err := memberTests(s, l)
	if err != nil {
		return true, err
	}
	in, outer, err := membersOf(s, l)
	if err != nil {
		return true, err
	}
	return true, meetRows(s, op, l, tests, in, outer)
}

// memberTests are the expressions compared with a sub-query's columns: none for EXISTS, the fields of a row, or one
// expression.
func memberTests(s *scope, l *ast.SubLink) ([]*kernels.Expr, error) {
	if l.Kind == ast.SubExists {
		return nil, nil
	}
	if row, ok := l.Test.(*ast.RowExpr); ok {
		return s.exprs(row.Fields)
	}
	return s.exprs([]ast.Expr{l.Test})
}

// membersOf binds the rows of a sub-query of EXISTS or IN, and returns its conditions that read outer columns.
func membersOf(s *scope, l *ast.SubLink) (*scope, []ast.Expr, error) {
	if n, ok := l.Query.Limit.(*ast.Literal); ok && l.Kind == ast.SubExists && l.Query.Offset == nil &&
		n.Kind == ast.LitInt && n.Value != "0" {
		query, all := *l.Query, *l // its one row decides
		query.Limit, all.Query = nil, &query
		l = &all
	}
	if s.post != nil {
		if in, _, err := decorrelate(s.post.pre, l.Query); in != nil || err != nil {
			return nil, nil, refuseAboveGroups(s, l)
		}
	}
	if in, outer, err := decorrelate(s, l.Query); in != nil || err != nil {
		if err == nil {
			err = refuseAggregate(s, l)
		}
		return in, outer, err
	}
	r, err := s.b.subSelect(s.f, l.Query)
	if err != nil {
		return nil, nil, err
	}
	in := &scope{b: s.b, f: s.f}
	in.addInput(r, "", nil)
	return in, nil, nil
}

// refuseAggregate refuses a correlated sub-query that aggregates all its rows into one.
func refuseAggregate(s *scope, l *ast.SubLink) error {
	for _, t := range l.Query.Targets {
		calls := aggregateCalls(t.X)
		switch {
		case len(calls) == 0:
		case l.Kind == ast.SubExists:
			return s.f.fail(calls[0], sqlerr.FeatureNotSupported,
				"EXISTS of an aggregate always holds: an aggregate has a row even of no rows").
				WithHint("Write EXISTS (SELECT 1 FROM …), or compare: (SELECT count(*) FROM …) > 0.")
		default:
			return s.f.fail(calls[0], sqlerr.FeatureNotSupported, "IN of a correlated aggregate is not differentiable").
				WithHint("It has one row: write x = (SELECT %s(…) FROM …).", calls[0].Name)
		}
	}
	return nil
}

// decorrelate binds FROM of a sub-query and those conditions of WHERE that read no outer column; outer are the other
// ones. in is nil where the sub-query is not correlated.
func decorrelate(s *scope, sel *ast.Select) (in *scope, outer []ast.Expr, err error) {
	if sel.SetOp != "" || sel.Values != nil || sel.Where == nil {
		return nil, nil, nil
	}
	in = &scope{b: s.b, f: s.f}
	for _, item := range sel.From {
		if err := in.from(item); err != nil {
			return nil, nil, nil // subSelect reports the error, or the store runs the query
		}
	}
	var own []ast.Expr
	for _, e := range conjuncts(sel.Where) {
		if reachesOut(in, e, s) {
			outer = append(outer, e)
		} else {
			own = append(own, e)
		}
	}
	if len(outer) == 0 {
		return nil, nil, nil
	}
	what := ""
	switch {
	case len(sel.With) > 0:
		what = "WITH"
	case sel.Limit != nil || sel.Offset != nil:
		what = "LIMIT"
	case sel.DistinctOn != nil:
		what = "DISTINCT ON"
	case len(sel.GroupBy) > 0 || sel.Having != nil:
		what = "GROUP BY"
	}
	if what != "" {
		return nil, nil, s.f.fail(sel, sqlerr.FeatureNotSupported, "%s in a correlated sub-query is not differentiable",
			what).WithHint("Write it as a join, with GROUP BY where it aggregates.")
	}
	for _, e := range own {
		if err := in.where(e); err != nil {
			return nil, nil, err
		}
	}
	return in, outer, nil
}

// reachesOut reports whether e reads a column of the outer scope around.
func reachesOut(s *scope, e ast.Expr, around *scope) bool {
	return ast.Any(e, func(c *ast.ColumnRef) bool {
		if c.Star {
			return false
		}
		if _, err := s.column(c); sqlerr.Code(err) != sqlerr.UndefinedColumn && sqlerr.Code(err) != sqlerr.UndefinedTable {
			return false
		}
		_, err := around.column(c)
		return err == nil
	})
}

func conjuncts(e ast.Expr) []ast.Expr {
	if fields, _ := ast.FieldWise(e); fields != nil { // errors are reported where it is bound
		e = fields
	}
	if and, ok := e.(*ast.Binary); ok && and.Op == "and" {
		return append(conjuncts(and.L), conjuncts(and.R)...)
	}
	return []ast.Expr{e}
}

// meetRows keeps the scope's rows that have, or for an anti-join lack, a partner among the sub-query's rows.
func meetRows(s *scope, op ra.Op, l *ast.SubLink, tests []*kernels.Expr, in *scope, outer []ast.Expr) error {
	rows, targets, err := exposedSide(in, l)
	if err != nil {
		return err
	}
	slots := slotsOf(s, tests, in, outer)
	if op == ra.AntiJoin && (nullable(tests) || nullable(targets)) || len(slots) > 1 && s.apart != "" {
		x, err := dividedRows(s, &finding{l: l, tests: tests, in: in, outer: outer, rows: rows, targets: targets})
		if err != nil {
			return err
		}
		if op == ra.AntiJoin {
			x = kernels.Build("not", x)
		}
		s.filter(x)
		return nil
	}
	slot, tests := singleSlot(s, tests, slots)
	around := s.inputs[slot].node
	on := &scope{b: s.b, f: s.f, apart: "a sub-query and the query around it",
		inputs: []*relation{{node: around}, rows.rel}}
	on.cols = visibleFrom(rows.cols, columnsOfSlot(s, slot))
	if err := memberByValue(on, l, tests, targets); err != nil { // first, since conditions rename columns
		return err
	}
	for _, e := range outer {
		if err := on.where(e); err != nil {
			return err
		}
	}
	if len(on.masks) > 0 {
		return refuseValuesDecide(s, l)
	}
	n := keepRows(on, op, around)
	fresh := map[ra.ColumnID]ra.ColumnID{}
	for i, c := range s.inputs[slot].node.Cols {
		fresh[c.ID] = n.Cols[i].ID // projections made for the condition keep positions
	}
	s.replaceInput(slot, n, fresh)
	return nil
}

// keepRows keeps the rows of around that have (or for an anti-join lack) a partner; s holds both sides. If a sub-query
// among the conditions has restricted or joined the rows of around (EXISTS (… AND EXISTS (…))), those with a partner
// are found first.
func keepRows(s *scope, op ra.Op, around *ra.Node) *ra.Node {
	met := s.inputs[0].node
	if len(s.inputs) > 2 {
		found := s.b.b.JoinWhole(s.nodes(), s.equi, s.pred, nil)
		carry, _ := found.Links().InputKey(0)
		return s.b.semiJoin(op, around, found, sameRow(around, met, carry), nil)
	}
	if !restricted(met, around) {
		return s.b.semiJoin(op, met, s.inputs[1].node, s.equi, s.pred)
	}
	found := s.b.semiJoin(ra.SemiJoin, met, s.inputs[1].node, s.equi, s.pred)
	carry := lists.Map(met.Key, func(k ra.ColumnID) ra.ColumnID { return found.Cols[met.Index(k)].ID })
	return s.b.semiJoin(op, around, found, sameRow(around, met, carry), nil)
}

// sameRow compares the identity of a node with its copy: carry has a column for each key column of below, which is a
// projection or restriction of the node that keeps positions.
func sameRow(n, below *ra.Node, carry []ra.ColumnID) []ra.Equi {
	var out []ra.Equi
	for _, k := range n.Key {
		at := slices.Index(below.Key, below.Cols[n.Index(k)].ID)
		out = append(out, ra.Equi{L: kernels.Col{ID: k}, R: kernels.Col{Input: 1, ID: carry[at]}, NullSafe: true})
	}
	return out
}

func nullable(xs []*kernels.Expr) bool {
	return slices.ContainsFunc(xs, func(x *kernels.Expr) bool { return x.Type.Nullable })
}

// slotsOf returns the inputs that the conditions of a sub-query and its tests read.
func slotsOf(s *scope, tests []*kernels.Expr, in *scope, outer []ast.Expr) map[int]bool {
	slots := map[int]bool{}
	read := func(c kernels.Col) { slots[c.Input] = true }
	for _, test := range tests {
		test.Cols(read)
	}
	for _, e := range outer {
		ast.Each(e, func(c *ast.ColumnRef) {
			if c.Star {
				return
			}
			if _, err := in.column(c); err != nil {
				if x, err := s.column(c); err == nil {
					x.Cols(read)
				}
			}
		})
	}
	return slots
}

// singleSlot returns the one input that the conditions read, having joined the inputs if they read several. It returns
// the tests as expressions over slot 0.
func singleSlot(s *scope, tests []*kernels.Expr, slots map[int]bool) (slot int, _ []*kernels.Expr) {
	move := renaming(over0)
	if len(slots) > 1 {
		_, move = s.close(nil)
	} else {
		for k := range slots {
			slot = k
		}
	}
	tests = slices.Clone(tests)
	for i, test := range tests {
		tests[i] = move(test)
	}
	return slot, tests
}

// over0 moves an expression over one input to slot 0.
func over0(x *kernels.Expr) *kernels.Expr {
	return x.MapCols(func(e *kernels.Expr) *kernels.Expr { return kernels.Column(kernels.Col{ID: e.Col.ID}, e.Type) })
}

// columnsOfSlot are the visible columns of an input, in slot 0.
func columnsOfSlot(s *scope, slot int) []scopeCol {
	var out []scopeCol
	for _, c := range s.cols {
		other := false
		c.x.Cols(func(col kernels.Col) { other = other || col.Input != slot })
		if !other {
			c.x = over0(c.x)
			out = append(out, c)
		}
	}
	return out
}

// exposedSide makes the sub-query's rows slot 1: its columns under their names, and the targets of IN.
func exposedSide(s *scope, l *ast.SubLink) (*side, []*kernels.Expr, error) {
	var out []ra.OutCol
	var names []string
	for _, c := range s.cols {
		out, names = append(out, ra.OutCol{Name: c.name, X: c.x}), append(names, c.name)
	}
	if l.Kind == ast.SubAny {
		targets, err := s.expandStars(l.Query.Targets)
		switch {
		case len(s.inputs) == 1 && len(s.cols) == len(s.inputs[0].cols) && s.cols[0].table == "": // FROM is one query
			targets = nil
			for _, c := range s.cols {
				targets = append(targets, starTarget{x: c.x})
			}
		case err != nil:
			return nil, nil, err
		}
		if want := l.Width(); len(targets) != want {
			many := map[bool]string{true: "many", false: "few"}[len(targets) > want]
			return nil, nil, s.f.fail(l, sqlerr.Syntax, "subquery has too %s columns", many)
		}
		for _, t := range targets {
			x, err := s.target(t)
			if err != nil {
				return nil, nil, err
			}
			out, names = append(out, ra.OutCol{Name: "x", X: x}), append(names, "x")
		}
	}
	if len(s.masks) > 0 {
		return nil, nil, s.f.fail(l, sqlerr.FeatureNotSupported,
			"the sub-query is filtered by values that depend on a parameter").
			WithHint("Structure may not depend on values: filter by keys and attributes.")
	}
	d := &side{rel: s.project(out, names), cols: append([]scopeCol(nil), s.cols...)}
	for i := range d.cols {
		d.cols[i].x = d.rel.node.Var(1, d.rel.cols[i])
	}
	compared := lists.Map(d.rel.cols[len(s.cols):], func(id ra.ColumnID) *kernels.Expr { return d.rel.node.Var(1, id) })
	return d, compared, nil
}

// visibleFrom returns the columns that a condition of a sub-query sees: its own, which hide outer ones of the same
// name.
func visibleFrom(own, around []scopeCol) []scopeCol {
	out := append([]scopeCol(nil), own...)
	for _, c := range around {
		hidden := false
		for _, o := range own {
			hidden = hidden || o.table == c.table && o.table != ""
			c.merged = c.merged || o.name == c.name && !o.merged
		}
		if !hidden {
			out = append(out, c)
		}
	}
	return out
}

// memberByValue adds the condition of x IN (…): each of xs equals the sub-query's column in ys.
func memberByValue(s *scope, l *ast.SubLink, xs, ys []*kernels.Expr) error {
	at := len(s.cols)
	for _, x := range slices.Concat(xs, ys) { // equating expressions renames columns, also those of the scope
		s.cols = append(s.cols, scopeCol{x: x})
	}
	for i := range xs {
		x, y := s.cols[at+i].x, s.cols[at+len(xs)+i].x
		if s.depends(x) || s.depends(y) || x.Type.Shape != nil || y.Type.Shape != nil {
			return refuseOnValues(s, l)
		}
		if err := s.equate(x, y, l); err != nil {
			return err
		}
	}
	s.cols = s.cols[:at]
	return nil
}

func refuseOnValues(s *scope, l *ast.SubLink) error {
	return s.f.fail(l, sqlerr.FeatureNotSupported, "IN (SELECT …) needs keys or attributes on both sides").
		WithHint("A value may be compared with a scalar: x > (SELECT avg(…) …).")
}
