package store

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/functions"
)

// bindPlain binds a SELECT without set operation.
func bindPlain(b *binder, sel *ast.Select, s *scope) *query {
	sel = expandSetReturning(b, sel)
	q := &query{distinct: sel.Distinct}
	l := &level{keys: map[string]bool{}, named: map[string]*ast.Window{}}
	s.level = l
	for i := range sel.Windows {
		if l.named[sel.Windows[i].Name] != nil {
			b.fail(sel.Windows[i].At, windowing, "window \"%s\" is already defined", sel.Windows[i].Name)
		}
		l.named[sel.Windows[i].Name] = &sel.Windows[i]
	}
	from := b.from(s, sel.From)
	var tail strings.Builder
	if from != "" {
		tail.WriteString(" FROM " + from)
	}
	if sel.Where != nil {
		tail.WriteString(" WHERE " + bindCondition(b, s, sel.Where, "WHERE").sql)
	}
	groupBy(b, s, sel, &tail)
	l.windows = true
	if sel.Having != nil { // one group, also without aggregates
		l.aggregates = true
	}
	bindTargets(b, s, sel, q)
	l.windows = false
	if sel.Having != nil {
		l.aggregates = true
		l.clause = ""
		having := b.boolean(b.expr(s, sel.Having), "argument of HAVING")
		tail.WriteString(" HAVING " + having.sql)
		q.having = len(sel.GroupBy) == 0
	}
	l.windows = true
	distinctOn(b, s, sel, q)
	if sel.Distinct {
		equatables(b, q, sel.At)
	}
	for _, k := range sel.OrderBy {
		q.order = append(q.order, bindOrderKey(b, s, q, k))
	}
	if (l.aggregates || len(sel.GroupBy) > 0) && len(l.ungrouped) > 0 {
		panic(l.ungrouped[0])
	}
	q.tail = tail.String()
	q.grouped = l.aggregates || len(sel.GroupBy) > 0 || l.windowed
	q.single = l.aggregates && len(sel.GroupBy) == 0 || len(sel.From) == 0
	return q
}

// bindCondition binds WHERE, ON and their like: no aggregates, no windows.
func bindCondition(b *binder, s *scope, e ast.Expr, clause string) val {
	l := s.level
	if l == nil {
		l = &level{}
		s.level = l
		defer func() { s.level = nil }()
	}
	old, agg := l.clause, l.inAgg
	l.clause, l.inAgg = clause, true
	v := b.boolean(b.expr(s, e), "argument of "+clause)
	l.clause, l.inAgg = old, agg
	return v
}

// groupBy binds GROUP BY: positions, output names and expressions.
func groupBy(b *binder, s *scope, sel *ast.Select, tail *strings.Builder) {
	if len(sel.GroupBy) == 0 {
		return
	}
	l := s.level
	l.clause, l.inAgg = "GROUP BY", true
	var list []string
	keys := map[string]bool{}
	for _, g := range sel.GroupBy {
		v := b.expr(s, groupExpr(b, s, sel, g))
		v = b.settle(v)
		equatable(b, v)
		keys[v.sql] = true
		list = append(list, noPosition(v))
	}
	l.clause, l.inAgg, l.keys = "", false, keys
	tail.WriteString(" GROUP BY " + strings.Join(list, ", "))
}

// anyColumn matches a printed column reference.
var anyColumn = regexp.MustCompile(`[a-z]\d+\.["a-z]`)

// noPosition prints a key of GROUP BY or ORDER BY. SQLite folds a constant one and would read a number as a
// position.
func noPosition(v val) string {
	if anyColumn.MatchString(v.sql) && v.lit == nil && v.bound == nil || strings.Contains(v.sql, "SELECT") {
		return v.collate()
	}
	return "(" + v.sql + " || '')"
}

// groupExpr resolves a position or an output name to the target's expression.
func groupExpr(b *binder, s *scope, sel *ast.Select, g ast.Expr) ast.Expr {
	switch x := g.(type) {
	case *ast.Literal:
		if x.Kind != ast.LitInt {
			b.fail(x.At, sqlerr.Syntax, "non-integer constant in GROUP BY")
		}
		var n int
		fmt.Sscan(x.Value, &n)
		if n < 1 || n > len(sel.Targets) {
			b.fail(x.At, sqlerr.InvalidColumnRef, "GROUP BY position %s is not in select list", x.Value)
		}
		return sel.Targets[n-1].X
	case *ast.ColumnRef:
		if len(x.Names) != 1 || x.Star {
			return g
		}
		for _, c := range s.cols {
			if c.name == x.Names[0] {
				return g
			}
		}
		for _, t := range sel.Targets {
			if t.Name == x.Names[0] {
				return t.X
			}
		}
	}
	return g
}

// bindTargets binds the select list and expands stars.
func bindTargets(b *binder, s *scope, sel *ast.Select, q *query) {
	for _, t := range sel.Targets {
		if ref, ok := t.X.(*ast.ColumnRef); ok && ref.Star {
			expandStar(b, s, ref, q)
			continue
		}
		v := b.expr(s, t.X)
		name := t.Name
		if name == "" {
			name = ast.ColumnName(t.X)
		}
		q.targets = append(q.targets, v)
		q.cols = append(q.cols, outcol{name, v.typ, v.notNull, v.mods})
	}
}

// expandStar expands * and t.*. In a view it stands for what it stood for when the view was created.
func expandStar(b *binder, s *scope, ref *ast.ColumnRef, q *query) {
	cols := s.cols
	if len(ref.Names) > 0 {
		r, at := findRel(b, s, ref.Names)
		if r == nil {
			missingFrom(b, s, ref.At, strings.Join(ref.Names, "."))
		}
		b.reach(s, at, ref.At)
		cols = r.cols
	} else if len(s.rels) == 0 {
		b.fail(ref.At, sqlerr.Syntax, "SELECT * with no tables specified is not valid")
	}
	item := map[*relation]int{}
	for i, r := range s.rels {
		item[r] = i
	}
	fixed, isFixed := b.fixed[int(ref.At)]
	var seen []string
	for _, c := range cols {
		if c.rel != nil && strings.HasPrefix(c.rel.name, "srf ") {
			continue // see setReturning
		}
		id := fmt.Sprintf("%d.%s", item[c.rel], c.name)
		if isFixed && (len(fixed) == 0 || fixed[0] != id) {
			continue // added after the view was created
		}
		if isFixed {
			fixed = fixed[1:]
		}
		seen = append(seen, id)
		names := []string{c.name}
		v := starColumn(b, s, c, ref, names)
		q.targets = append(q.targets, v)
		q.cols = append(q.cols, outcol{c.name, c.typ, c.notNull, c.mods})
	}
	if b.stars != nil {
		b.stars[int(ref.At)] = seen
	}
}

// starColumn uses a column that is already resolved, with the checks of a reference.
func starColumn(b *binder, s *scope, c *column, ref *ast.ColumnRef, names []string) val {
	one := &scope{cols: []*column{c}, rels: s.rels, level: s.level}
	return b.column(one, &ast.ColumnRef{Node: ref.Node, Names: names})
}

func distinctOn(b *binder, s *scope, sel *ast.Select, q *query) {
	var list []string
	for _, e := range sel.DistinctOn {
		v := val{}
		if i := outputColumn(b, q, e); i >= 0 {
			v = q.targets[i]
		} else {
			v = b.settle(b.expr(s, e))
		}
		equatable(b, v)
		list = append(list, v.collate())
	}
	leadingKeys(b, s, sel, q, list)
	q.on = strings.Join(list, ", ")
}

// leadingKeys demands that ORDER BY begins with the keys of DISTINCT ON, in any order.
func leadingKeys(b *binder, s *scope, sel *ast.Select, q *query, on []string) {
	left := map[string]bool{}
	for _, k := range on {
		left[k] = true
	}
	for _, k := range sel.OrderBy {
		if len(left) == 0 {
			return
		}
		o := bindOrderKey(b, s, q, k)
		key := o.v.collate()
		if o.col >= 0 {
			key = q.targets[o.col].collate()
		}
		if !slices.Contains(on, key) {
			b.fail(k.X.Position(), sqlerr.InvalidColumnRef,
				"SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
		delete(left, key)
	}
}

func bindOrderKey(b *binder, s *scope, q *query, k ast.SortKey) orderKey {
	if i := outputColumn(b, q, k.X); i >= 0 {
		if q.cols[i].typ.IsUnknown() {
			q.coerce(b, i, catalog.Text)
		}
		sortable(b, val{typ: q.cols[i].typ, at: k.X.Position()})
		return orderKey{col: i, v: q.targets[i], rest: direction(k, q.cols[i].notNull)}
	}
	v := b.settle(b.expr(s, k.X))
	for i, t := range q.targets {
		if t.sql == v.sql {
			return orderKey{col: i, v: v, rest: direction(k, v.notNull)}
		}
	}
	if q.distinct {
		b.fail(k.X.Position(), sqlerr.InvalidColumnRef,
			"for SELECT DISTINCT, ORDER BY expressions must appear in select list")
	}
	sortable(b, v)
	return orderKey{col: -1, v: v, rest: direction(k, v.notNull)}
}

// sortable refuses values that Postgres cannot put in order, and orders that differ from its.
func sortable(b *binder, v val) {
	switch {
	case v.typ.Name == "json":
		b.failHint(v.at, sqlerr.UndefinedFunction, "Cast it to jsonb, or sort by a part of it.",
			"could not identify an ordering operator for type %s", v.typ)
	case v.typ.Is(catalog.Regtype):
		b.refuse(v.at, "sorting by a regtype", "Sort by its text: pg_typeof(x)::text.")
	case v.typ.Array:
		b.refuse(v.at, "sorting by a whole array", "Sort by its elements.")
	}
}

// equatable refuses values that cannot be told apart as Postgres does: keys of groups, of DISTINCT and of set
// operations.
func equatable(b *binder, v val) {
	switch {
	case v.typ.Name == "json":
		b.failHint(v.at, sqlerr.UndefinedFunction, "Cast it to jsonb.", "could not identify an equality operator for type %s",
			v.typ)
	case v.typ.Array && v.typ.Name == "jsonb":
		b.refuse(v.at, "a comparison of arrays of jsonb", "Compare their elements.")
	}
}

// equatables refuses columns of a query in the same way.
func equatables(b *binder, q *query, at ast.Pos) {
	for _, c := range q.cols {
		equatable(b, val{typ: c.typ, at: at})
	}
}

// expandSetReturning moves a set-returning function of the select list into FROM, where it means the same:
// SELECT a, unnest(x) FROM t is SELECT a, u FROM t, unnest(x) AS u.
func expandSetReturning(b *binder, sel *ast.Select) *ast.Select {
	var call *ast.FuncCall
	for _, t := range sel.Targets {
		ast.Walk(t.X, func(n ast.Tree) bool {
			f, ok := n.(*ast.FuncCall)
			if ok && functions.IsSetReturning(f.Name) && f.Over == nil {
				if call != nil {
					b.refuse(f.At, "a second set-returning function in a select list", "Put the functions into FROM.")
				}
				call = f
			}
			_, sub := n.(*ast.SubLink)
			return !sub
		})
	}
	if call == nil {
		return sel
	}
	conditionalSet(b, sel.Targets)
	if len(sel.DistinctOn) > 0 || windowed(sel.Targets) { // Postgres calls it behind these
		b.refuse(call.At, "a set-returning function in a select list with DISTINCT ON or window functions",
			"Put it into FROM of a query around this one.")
	}
	if len(sel.GroupBy) > 0 || sel.Having != nil || hasAggregate(b, sel.Targets) {
		b.refuse(call.At, "a set-returning function in the select list of a grouped query",
			"Group in a sub-select, and put the function into FROM of the outer query.")
	}
	name := b.alias("srf ")
	out := *sel
	out.From = append(append([]ast.FromItem(nil), sel.From...),
		&ast.FuncFrom{Node: call.Node, Func: call, Lateral: true, Alias: ast.Alias{Name: name, Cols: []string{name}}})
	out.Targets = make([]ast.Target, len(sel.Targets))
	for i, t := range sel.Targets {
		if t.Name == "" {
			if r, ok := t.X.(*ast.ColumnRef); !ok || !r.Star {
				t.Name = ast.ColumnName(t.X)
			}
		}
		t.X = ast.Rewrite(t.X, func(n ast.Tree) ast.Tree {
			if n == ast.Tree(call) {
				return &ast.ColumnRef{Node: call.Node, Names: []string{name}}
			}
			return nil
		})
		out.Targets[i] = t
	}
	return &out
}

// conditionalSet refuses set-returning functions where they might not be called.
func conditionalSet(b *binder, ts []ast.Target) {
	for _, t := range ts {
		ast.Walk(t.X, func(n ast.Tree) bool {
			what := ""
			switch n.(type) {
			case *ast.SubLink:
				return false
			case *ast.Case:
				what = "CASE"
			case *ast.Coalesce:
				what = "COALESCE"
			}
			if what != "" {
				ast.Walk(n, func(n ast.Tree) bool {
					if f, ok := n.(*ast.FuncCall); ok && functions.IsSetReturning(f.Name) {
						b.failHint(f.At, sqlerr.FeatureNotSupported,
							"You might be able to move the set-returning function into a LATERAL FROM item.",
							"set-returning functions are not allowed in %s", what)
					}
					_, sub := n.(*ast.SubLink)
					return !sub
				})
			}
			return true
		})
	}
}

// windowed reports whether targets call window functions.
func windowed(ts []ast.Target) bool {
	found := false
	for _, t := range ts {
		ast.Walk(t.X, func(n ast.Tree) bool {
			f, ok := n.(*ast.FuncCall)
			found = found || ok && f.Over != nil
			_, sub := n.(*ast.SubLink)
			return !sub
		})
	}
	return found
}

func hasAggregate(b *binder, ts []ast.Target) bool {
	found := false
	for _, t := range ts {
		ast.Walk(t.X, func(n ast.Tree) bool {
			if f, ok := n.(*ast.FuncCall); ok && functions.IsAggregate(f.Name) {
				found = true
			}
			_, sub := n.(*ast.SubLink)
			return !sub && !found
		})
	}
	return found
}
