package bind

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
func bindPlain(b *Binder, sel *ast.Select, s *Scope) *Query {
	sel = expandSetReturning(b, sel)
	q := &Query{distinct: sel.Distinct, right: slices.ContainsFunc(sel.From, joinsRight)}
	l := &Level{keys: map[string]bool{}, named: sel.Windows}
	s.Level = l
	for i := range sel.Windows {
		for _, w := range sel.Windows[:i] {
			if w.Name == sel.Windows[i].Name {
				b.Fail(sel.Windows[i].At, windowing, "window \"%s\" is already defined", w.Name)
			}
		}
	}
	b.needs.Note(sel)
	from := b.From(s, sel.From)
	var tail strings.Builder
	if from != "" {
		tail.WriteString(" FROM " + from)
	}
	if sel.Where != nil {
		tail.WriteString(" WHERE " + BindCondition(b, s, sel.Where, "WHERE").SQL)
	}
	groupBy(b, s, sel, &tail)
	l.windows = true
	if sel.Having != nil { // all rows are one group, even without aggregates
		l.aggregates = true
	}
	BindTargets(b, s, sel, q)
	l.windows = false
	if sel.Having != nil {
		l.aggregates = true
		l.Clause = ""
		having := b.boolean(b.Expr(s, sel.Having), "argument of HAVING")
		tail.WriteString(" HAVING " + having.SQL)
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

// BindCondition binds a condition such as WHERE or ON, which allows neither aggregates nor windows.
func BindCondition(b *Binder, s *Scope, e ast.Expr, clause string) Value {
	l := s.Level
	if l == nil {
		l = &Level{}
		s.Level = l
		defer func() { s.Level = nil }()
	}
	old, agg := l.Clause, l.InAgg
	l.Clause, l.InAgg = clause, true
	v := b.boolean(b.Expr(s, e), "argument of "+clause)
	l.Clause, l.InAgg = old, agg
	return v
}

// groupBy binds GROUP BY: positions, output names and expressions.
func groupBy(b *Binder, s *Scope, sel *ast.Select, tail *strings.Builder) {
	if len(sel.GroupBy) == 0 {
		return
	}
	l := s.Level
	l.Clause, l.InAgg = "GROUP BY", true
	var list []string
	keys, given := map[string]bool{}, map[ast.Expr]Value{}
	for _, g := range sel.GroupBy {
		e := groupExpr(b, s, sel, g)
		v := b.settle(b.Expr(s, e))
		equatable(b, v)
		keys[v.SQL], given[e] = true, v
		list = append(list, noPosition(v))
	}
	l.Clause, l.InAgg, l.keys, l.given = "", false, keys, given
	tail.WriteString(" GROUP BY " + strings.Join(list, ", "))
}

// anyColumn matches a printed column reference.
var anyColumn = regexp.MustCompile(`[a-z]\d+\.["a-z]`)

// noPosition prints a key of GROUP BY or ORDER BY. SQLite would read a constant number as the position of a column,
// also that of FALSE AND x.
func noPosition(v Value) string {
	if v.Type.Is(catalog.Bool) && strings.Contains(v.SQL, " ") { // no column alone, which may have an index
		return "coalesce(" + v.SQL + ", NULL)"
	}
	if anyColumn.MatchString(v.SQL) && v.Literal == nil && v.bound == nil || strings.Contains(v.SQL, "SELECT") {
		return v.Collate()
	}
	return "(" + v.SQL + " || '')"
}

// groupExpr resolves a position or an output name to the target's expression.
func groupExpr(b *Binder, s *Scope, sel *ast.Select, g ast.Expr) ast.Expr {
	switch x := g.(type) {
	case *ast.Literal:
		if x.Kind != ast.LitInt {
			b.Fail(x.At, sqlerr.Syntax, "non-integer constant in GROUP BY")
		}
		var n int
		fmt.Sscan(x.Value, &n)
		if n < 1 || n > len(sel.Targets) {
			b.Fail(x.At, sqlerr.InvalidColumnRef, "GROUP BY position %s is not in select list", x.Value)
		}
		return sel.Targets[n-1].X
	case *ast.ColumnRef:
		if len(x.Names) != 1 || x.Star {
			return g
		}
		for _, c := range s.Columns {
			if c.Name == x.Names[0] {
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

// BindTargets binds the select list and expands stars.
func BindTargets(b *Binder, s *Scope, sel *ast.Select, q *Query) {
	for _, t := range sel.Targets {
		if ref, ok := t.X.(*ast.ColumnRef); ok && ref.Star {
			expandStar(b, s, ref, q)
			continue
		}
		v := b.Expr(s, t.X)
		name := t.Name
		if name == "" {
			name = ast.ColumnName(t.X)
		}
		q.Targets = append(q.Targets, v)
		q.Columns = append(q.Columns, OutputColumn{name, v.Type, v.NotNull, v.mods})
	}
}

// expandStar expands * and t.*. In a view it expands to the columns that there were when the view was created.
func expandStar(b *Binder, s *Scope, ref *ast.ColumnRef, q *Query) {
	cols := s.Columns
	if len(ref.Names) > 0 {
		r, at := findRel(b, s, ref.Names)
		if r == nil {
			missingFrom(b, s, ref.At, strings.Join(ref.Names, "."))
		}
		b.reach(s, at, ref.At)
		cols = r.Columns
	} else if len(s.Relations) == 0 {
		b.Fail(ref.At, sqlerr.Syntax, "SELECT * with no tables specified is not valid")
	}
	item := map[*Relation]int{}
	for i, r := range s.Relations {
		item[r] = i
	}
	fixed, isFixed := b.fixed[int(ref.At)]
	var seen []string
	for _, c := range cols {
		if c.Relation != nil && strings.HasPrefix(c.Relation.Name, "srf ") {
			continue // see expandSetReturning
		}
		id := fmt.Sprintf("%d.%s", item[c.Relation], c.Name)
		if isFixed && (len(fixed) == 0 || fixed[0] != id) {
			continue // it was added after the view was created
		}
		if isFixed {
			fixed = fixed[1:]
		}
		seen = append(seen, id)
		names := []string{c.Name}
		v := starColumn(b, s, c, ref, names)
		q.Targets = append(q.Targets, v)
		q.Columns = append(q.Columns, OutputColumn{c.Name, c.Type, c.NotNull, c.Mods})
	}
	if b.Stars != nil {
		b.Stars[int(ref.At)] = seen
	}
}

// starColumn refers to a resolved column, with the checks of a reference.
func starColumn(b *Binder, s *Scope, c *Column, ref *ast.ColumnRef, names []string) Value {
	one := &Scope{Columns: []*Column{c}, Relations: s.Relations, Level: s.Level}
	return b.column(one, &ast.ColumnRef{Node: ref.Node, Names: names})
}

func distinctOn(b *Binder, s *Scope, sel *ast.Select, q *Query) {
	var list []string
	for _, e := range sel.DistinctOn {
		v := Value{}
		if i := outputColumn(b, q, e); i >= 0 {
			v = q.Targets[i]
		} else {
			v = b.settle(b.Expr(s, e))
		}
		equatable(b, v)
		list = append(list, v.Collate())
	}
	leadingKeys(b, s, sel, q, list)
	q.on = strings.Join(list, ", ")
}

// leadingKeys checks that ORDER BY begins with the keys of DISTINCT ON, in any order.
func leadingKeys(b *Binder, s *Scope, sel *ast.Select, q *Query, on []string) {
	left := map[string]bool{}
	for _, k := range on {
		left[k] = true
	}
	for _, k := range sel.OrderBy {
		if len(left) == 0 {
			return
		}
		o := bindOrderKey(b, s, q, k)
		key := o.v.Collate()
		if o.col >= 0 {
			key = q.Targets[o.col].Collate()
		}
		if !slices.Contains(on, key) {
			b.Fail(k.X.Position(), sqlerr.InvalidColumnRef,
				"SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
		delete(left, key)
	}
}

func bindOrderKey(b *Binder, s *Scope, q *Query, k ast.SortKey) orderKey {
	if i := outputColumn(b, q, k.X); i >= 0 {
		if q.Columns[i].Type.IsUnknown() {
			q.Coerce(b, i, catalog.Text)
		}
		sortable(b, Value{Type: q.Columns[i].Type, At: k.X.Position()})
		return orderKey{col: i, v: q.Targets[i], rest: direction(k, q.Columns[i].NotNull)}
	}
	v := b.settle(b.Expr(s, k.X))
	for i, t := range q.Targets {
		if t.SQL == v.SQL {
			return orderKey{col: i, v: v, rest: direction(k, v.NotNull)}
		}
	}
	if q.distinct {
		b.Fail(k.X.Position(), sqlerr.InvalidColumnRef,
			"for SELECT DISTINCT, ORDER BY expressions must appear in select list")
	}
	sortable(b, v)
	return orderKey{col: -1, v: v, rest: direction(k, v.NotNull)}
}

// sortable refuses values that Postgres cannot sort, or would sort differently.
func sortable(b *Binder, v Value) {
	switch {
	case v.Type.Name == "json":
		b.FailHint(v.At, sqlerr.UndefinedFunction, "Cast it to jsonb, or sort by a part of it.",
			"could not identify an ordering operator for type %s", v.Type)
	case v.Type.Is(catalog.Regtype):
		b.Refuse(v.At, "sorting by a regtype", "Sort by its text: pg_typeof(x)::text.")
	case v.Type.Array:
		b.Refuse(v.At, "sorting by a whole array", "Sort by its elements.")
	}
}

// equatable refuses values as keys of groups, DISTINCT and set operations if the store would tell them apart
// differently from Postgres.
func equatable(b *Binder, v Value) {
	switch {
	case v.Type.Name == "json":
		b.FailHint(v.At, sqlerr.UndefinedFunction, "Cast it to jsonb.", "could not identify an equality operator for type %s",
			v.Type)
	case v.Type.Array && v.Type.Name == "jsonb":
		b.Refuse(v.At, "a comparison of arrays of jsonb", "Compare their elements.")
	}
}

// equatables checks the columns of a query by equatable.
func equatables(b *Binder, q *Query, at ast.Pos) {
	for _, c := range q.Columns {
		equatable(b, Value{Type: c.Type, At: at})
	}
}

// expandSetReturning moves a set-returning function from the select list into FROM, where it means the same: SELECT a,
// unnest(x) FROM t is SELECT a, u FROM t, unnest(x) AS u.
func expandSetReturning(b *Binder, sel *ast.Select) *ast.Select {
	var call *ast.FuncCall
	for _, t := range sel.Targets {
		ast.Walk(t.X, func(n ast.Tree) bool {
			if f, ok := n.(*ast.FuncCall); ok && functions.IsSetReturning(f.Name) && f.Over == nil {
				if call != nil {
					b.Refuse(f.At, "a second set-returning function in a select list", "Put the functions into FROM.")
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
	if len(sel.DistinctOn) > 0 || windowed(sel.Targets) { // Postgres calls it after these
		b.Refuse(call.At, "a set-returning function in a select list with DISTINCT ON or window functions",
			"Put it into FROM of a query around this one.")
	}
	if len(sel.GroupBy) > 0 || sel.Having != nil || hasAggregate(sel.Targets) {
		b.Refuse(call.At, "a set-returning function in the select list of a grouped query",
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

// conditionalSet refuses set-returning functions where they might not be called, such as inside CASE.
func conditionalSet(b *Binder, ts []ast.Target) {
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
						b.FailHint(f.At, sqlerr.FeatureNotSupported,
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
	return anyCall(ts, func(f *ast.FuncCall) bool { return f.Over != nil })
}

func hasAggregate(ts []ast.Target) bool {
	return anyCall(ts, func(f *ast.FuncCall) bool { return functions.IsAggregate(f.Name) })
}

// anyCall reports whether a condition holds for a call in targets, outside sub-queries.
func anyCall(ts []ast.Target, holds func(*ast.FuncCall) bool) (found bool) {
	for _, t := range ts {
		ast.Walk(t.X, func(n ast.Tree) bool {
			f, ok := n.(*ast.FuncCall)
			found = found || ok && holds(f)
			_, sub := n.(*ast.SubLink)
			return !sub && !found
		})
	}
	return found
}
