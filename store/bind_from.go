package store

import (
	"maps"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// source is a bound FROM item.
type source struct {
	sql  string
	rels []*relation
	cols []*column
	join bool // needs parentheses as the right side of a join
	full bool // contains RIGHT or FULL joins: needs parentheses behind a comma
}

// from binds the FROM list into the scope and prints it.
func (b *binder) from(s *scope, items []ast.FromItem) string {
	var parts []string
	for i, it := range items {
		src := b.fromItem(s, it, s.rels, s.cols)
		distinctNames(b, it, s.rels, src.rels)
		s.rels, s.cols = append(s.rels, src.rels...), append(s.cols, src.cols...)
		if src.full && i > 0 {
			src.sql = "(" + src.sql + ")"
		}
		parts = append(parts, src.sql)
	}
	return strings.Join(parts, " JOIN ")
}

func distinctNames(b *binder, it ast.FromItem, have, more []*relation) {
	for _, m := range more {
		for _, h := range have {
			if h.name == m.name && h.name != "" && h.schema == m.schema {
				b.fail(it.Position(), "42712", "table name \"%s\" specified more than once", m.name)
			}
		}
	}
}

// fromItem binds one item; rels and cols are what a lateral function may refer to.
func (b *binder) fromItem(s *scope, it ast.FromItem, rels []*relation, cols []*column) source {
	switch it := it.(type) {
	case *ast.TableRef:
		r := tableRef(b, s, it)
		return source{sql: r.sql, rels: []*relation{r.rel}, cols: r.rel.cols}
	case *ast.SubSelect:
		return subSelect(b, s, it, rels, cols)
	case *ast.FuncFrom:
		inner := &scope{up: s.up, rels: rels, cols: cols, ctes: s.ctes,
			level: &level{clause: "functions in FROM", inAgg: true}}
		return funcFrom(b, inner, it)
	case *ast.JoinFrom:
		return bindJoin(b, s, it, rels, cols)
	}
	b.fail(it.Position(), sqlerr.Internal, "internal error: store does not know %T", it)
	return source{}
}

// nameRelation applies an alias to the columns of a new relation.
func nameRelation(b *binder, at ast.Pos, r *relation, a ast.Alias) *relation {
	if a.Name != "" {
		r.name, r.schema = a.Name, ""
	}
	if len(a.Cols) > len(r.cols) {
		b.fail(at, sqlerr.InvalidColumnRef, "table \"%s\" has %d columns available but %d columns specified", r.name,
			len(r.cols), len(a.Cols))
	}
	for i, c := range r.cols {
		c.rel = r
		if i < len(a.Cols) {
			c.name = a.Cols[i]
		}
	}
	return r
}

type boundTable struct {
	sql string
	rel *relation
}

// tableRef binds a table, view or CTE.
func tableRef(b *binder, s *scope, it *ast.TableRef) boundTable {
	if it.Schema == "" {
		if c := s.cte(it.Name); c != nil {
			return cteRef(b, it, c)
		}
	}
	if t := systemView(b, it); t != nil {
		return systemRef(b, it, t)
	}
	t, v := b.db.cat.relation(b.path, it.Schema, it.Name)
	switch {
	case t != nil:
		b.deps[dependency{objectKey{t.Schema, t.Name}, "", false}] = true
		b.check(it.At, b.db.use(t))
		if !b.unread {
			b.check(it.At, populated(t))
		}
		r := b.tableRelation(t)
		showRuns(b, t, r)
		return boundTable{sqlOf(t) + " AS " + r.alias, nameRelation(b, it.At, r, it.Alias)}
	case v != nil:
		b.deps[dependency{objectKey{v.Schema, v.Name}, "", false}] = true
		return viewRef(b, it, v)
	}
	b.undefinedTable(it.At, it.Schema, it.Name)
	return boundTable{}
}

// showRuns lets the status of a run that nobody trains be read as what it is (see SetTrained).
func showRuns(b *binder, t *catalog.TableDef, r *relation) {
	run, status := t.Column("run"), t.Column("status")
	if b.db.trained != nil && t.Schema == "relgrad" && t.Name == "run" && run >= 0 && status >= 0 {
		r.cols[status].sql = "rg_run_status(" + r.cols[run].sql + ", " + r.cols[status].sql + ")"
	}
}

// tableRelation gives a table an alias and columns.
func (b *binder) tableRelation(t *catalog.TableDef) *relation {
	r := &relation{name: t.Name, schema: t.Schema, alias: b.alias("t"), table: t}
	for i := range t.Cols {
		c := &t.Cols[i]
		r.cols = append(r.cols, &column{name: c.Name, typ: c.Type, mods: c.Mods, sql: readColumn(t, r.alias+".", i),
			notNull: c.NotNull})
	}
	return r
}

func (b *binder) undefinedTable(at ast.Pos, schema, name string) {
	full := name
	if schema != "" {
		full = schema + "." + name
	}
	hint := ""
	if near := sqlerr.Nearest(full, b.db.Relations()); near != "" && near != name {
		hint = "Perhaps you meant \"" + near + "\"."
	}
	if there := keysOf(b.db.cat.tables, func(k objectKey) bool { return k.name == name && schema == "" }); len(there) > 0 {
		hint = "It exists in schema " + there[0].schema + ": SET search_path = public, " + there[0].schema + "."
	}
	if schema == "information_schema" || schema == "pg_catalog" || schema == "" && strings.HasPrefix(name, "pg_") &&
		hint == "" {
		hint = "\\d lists what the store holds; of the catalogue's views there are " +
			strings.Join(slices.Sorted(maps.Keys(systemViews)), ", ") + "."
	}
	b.failHint(at, sqlerr.UndefinedTable, hint, "relation \"%s\" does not exist", full)
}

func cteRef(b *binder, it *ast.TableRef, c *cte) boundTable {
	r := &relation{name: c.name, alias: b.alias("t")}
	for i, cc := range c.cols {
		r.cols = append(r.cols, &column{name: cc.name, typ: cc.typ, mods: cc.mods, sql: r.alias + "." + outName(i),
			notNull: cc.notNull})
	}
	useFence(b, c.fence, c.costly, r)
	return boundTable{c.alias + " AS " + r.alias, nameRelation(b, it.At, r, it.Alias)}
}

// viewRef refers to a view, which is printed once as a CTE of the statement.
func viewRef(b *binder, it *ast.TableRef, v *catalog.ViewDef) boundTable {
	tmpl := b.view(it.At, v)
	r := &relation{name: v.Name, schema: v.Schema, alias: b.alias("t")}
	for i, c := range tmpl.cols {
		r.cols = append(r.cols, &column{name: c.name, typ: c.typ, mods: c.mods, sql: r.alias + "." + outName(i)})
	}
	useFence(b, tmpl.fence, tmpl.costly, r)
	return boundTable{tmpl.alias + " AS " + r.alias, nameRelation(b, it.At, r, it.Alias)}
}

// view expands a view into b.ctes. Positions inside point into the view's own text.
func (b *binder) view(at ast.Pos, v *catalog.ViewDef) *relation {
	if r := b.views[v]; r != nil {
		return r
	}
	volatile := b.volatile
	if t := engineView(b, v); t != nil {
		r := &relation{name: v.Name, alias: b.alias("v")}
		list := make([]string, len(v.Cols))
		for i, c := range v.Cols {
			r.cols = append(r.cols, &column{name: c.Name, typ: c.Type})
			list[i] = readColumn(t, "", i)
		}
		b.ctes = append(b.ctes, r.alias+columnList(len(list))+" AS (SELECT "+strings.Join(list, ", ")+" FROM "+sqlOf(t)+")")
		b.views[v] = r
		return r
	}
	sel, text, err := b.db.viewTree(v)
	b.check(at, err)
	if len(b.stack) >= bind.MaxViews {
		b.fail(at, sqlerr.TooComplex, "views are nested more than %d deep", bind.MaxViews)
	}
	old := *b
	b.text, b.path, b.stars, b.fixed = text, v.ReadPath(), nil, v.Stars
	if b.fixed == nil {
		b.fixed = map[int][]string{}
	}
	b.stack, b.deps = append(b.stack, v.Name), map[dependency]bool{}
	q := b.selectQuery(sel, nil)
	q.settle(b)
	b.text, b.path, b.stars, b.fixed, b.stack, b.deps = old.text, old.path, old.stars, old.fixed, old.stack, old.deps
	if len(q.cols) != len(v.Cols) {
		b.fail(at, sqlerr.Internal, "internal error: view \"%s\" has %d columns, but was created with %d", v.Name,
			len(q.cols), len(v.Cols))
	}
	r := &relation{name: v.Name, alias: b.alias("v")}
	for i, c := range v.Cols {
		r.cols = append(r.cols, &column{name: c.Name, typ: q.cols[i].typ, mods: q.cols[i].mods})
	}
	r.costly, r.fence = addFence(b, q, true, b.volatile > volatile)
	b.ctes = append(b.ctes, r.alias+columnList(len(q.cols))+" AS "+openFence(r.fence)+"("+q.text()+")")
	if b.volatile == volatile { // else each use of the view computes it
		b.views[v] = r
	}
	return r
}

func outName(i int) string { return "c" + itoa(i+1) }

func columnList(n int) string {
	p := make([]string, n)
	for i := range p {
		p[i] = outName(i)
	}
	return "(" + strings.Join(p, ", ") + ")"
}

func subSelect(b *binder, s *scope, it *ast.SubSelect, rels []*relation, cols []*column) source {
	volatile := b.volatile
	q := lateralQuery(b, s, it, rels, cols)
	q.settle(b)
	r := &relation{name: it.Alias.Name, alias: b.alias("t")}
	for i, c := range q.cols {
		r.cols = append(r.cols, &column{name: c.name, typ: c.typ, mods: c.mods, sql: r.alias + "." + q.phys(i),
			notNull: c.notNull})
	}
	nameRelation(b, it.At, r, it.Alias)
	costly, id := addFence(b, q, false, b.volatile > volatile)
	useFence(b, id, costly, r)
	return source{sql: "(" + openFence(id) + q.text() + closeFence(id) + ") AS " + r.alias, rels: []*relation{r},
		cols: r.cols}
}

// lateralQuery binds a sub-select of FROM. SQLite has no LATERAL: a name that means a column of a neighbour is refused,
// also deep inside; it must not be taken from farther out, where there may be one of that name.
func lateralQuery(b *binder, s *scope, it *ast.SubSelect, rels []*relation, cols []*column) *query {
	outer := &scope{up: s.up, ctes: s.ctes}
	if it.Lateral {
		outer.rels, outer.cols = rels, cols
		outer.barred = func(ast.Pos) {
			b.refuse(it.At, "a LATERAL sub-select that refers to its neighbours",
				"Write a join with GROUP BY, a window function, or a scalar sub-select.")
		}
	}
	return b.selectQuery(it.Query, outer)
}

func bindJoin(b *binder, s *scope, it *ast.JoinFrom, rels []*relation, cols []*column) source {
	l := b.fromItem(s, it.L, rels, cols)
	right, seenRels, seenCols := s, rels, cols
	if lateral(it.R) && (it.Kind == ast.JoinRight || it.Kind == ast.JoinFull) {
		seen := &scope{up: s.up, rels: l.rels, cols: l.cols, barred: func(at ast.Pos) {
			b.failHint(at, sqlerr.InvalidColumnRef, "The combining JOIN type must be INNER or LEFT for a LATERAL reference.",
				"invalid reference to FROM-clause entry of the left side")
		}}
		right = &scope{up: seen, ctes: s.ctes, level: s.level}
	} else {
		seenRels, seenCols = append(append([]*relation(nil), rels...), l.rels...), append(append([]*column(nil), cols...),
			l.cols...)
	}
	r := b.fromItem(right, it.R, seenRels, seenCols)
	distinctNames(b, it.R, l.rels, r.rels)
	word := map[ast.JoinKind]string{ast.JoinInner: "JOIN", ast.JoinLeft: "LEFT JOIN", ast.JoinRight: "RIGHT JOIN",
		ast.JoinFull: "FULL JOIN"}[it.Kind]
	if it.Kind == ast.JoinLeft || it.Kind == ast.JoinFull {
		nullable(r)
	}
	if it.Kind == ast.JoinRight || it.Kind == ast.JoinFull {
		nullable(l)
	}
	out := source{join: true, full: l.full || r.full || it.Kind >= ast.JoinRight,
		rels: append(append([]*relation(nil), l.rels...), r.rels...)}
	using := it.Using
	if it.Natural {
		using = commonNames(l.cols, r.cols)
	}
	on := ""
	if len(using) > 0 {
		on = bindUsing(b, it, l, r, using, &out)
	} else {
		out.cols = append(append([]*column(nil), l.cols...), r.cols...)
	}
	if it.On != nil {
		inner := &scope{up: s.up, rels: append(append([]*relation(nil), rels...), out.rels...),
			cols: append(append([]*column(nil), cols...), out.cols...), ctes: s.ctes, level: &level{}}
		on = bindCondition(b, inner, it.On, "JOIN/ON").sql
	}
	side := r.sql
	if r.join {
		side = "(" + side + ")"
	}
	out.sql = l.sql + " " + word + " " + side
	if on != "" {
		out.sql += " ON " + on
	} else if it.Kind != ast.JoinInner {
		out.sql += " ON TRUE"
	}
	if it.Alias.Name != "" {
		j := &relation{}
		for _, c := range out.cols {
			j.cols = append(j.cols, &column{name: c.name, typ: c.typ, mods: c.mods, sql: c.sql, notNull: c.notNull})
		}
		nameRelation(b, it.At, j, it.Alias)
		out.rels, out.cols = []*relation{j}, j.cols
	}
	return out
}

// lateral reports whether an item of FROM sees those to its left.
func lateral(it ast.FromItem) bool {
	switch it := it.(type) {
	case *ast.FuncFrom:
		return true
	case *ast.SubSelect:
		return it.Lateral
	}
	return false
}

func nullable(s source) {
	for _, r := range s.rels {
		for _, c := range r.cols {
			c.notNull = false
		}
	}
}

func commonNames(l, r []*column) []string {
	var out []string
	for _, c := range l {
		for _, d := range r {
			if c.name == d.name {
				out = append(out, c.name)
				break
			}
		}
	}
	return out
}

// bindUsing binds USING: the merged columns come first, then the rest of both sides.
func bindUsing(b *binder, it *ast.JoinFrom, l, r source, names []string, out *source) string {
	find := func(cols []*column, name, side string) *column {
		var found *column
		for _, c := range cols {
			if c.name != name {
				continue
			}
			if found != nil {
				b.fail(it.At, sqlerr.AmbiguousColumn, "common column name \"%s\" appears more than once in %s table", name, side)
			}
			found = c
		}
		if found == nil {
			b.fail(it.At, sqlerr.UndefinedColumn, "column \"%s\" specified in USING clause does not exist in %s table", name,
				side)
		}
		return found
	}
	merged := map[*column]bool{}
	var on []string
	for _, n := range names {
		a, z := find(l.cols, n, "left"), find(r.cols, n, "right")
		merged[a], merged[z] = true, true
		usingDependency(b, a)
		usingDependency(b, z)
		on = append(on, compareVals(b, it.At, "=", val{sql: a.sql, typ: a.typ}, val{sql: z.sql, typ: z.typ}).sql)
		t, _ := catalog.CommonType([]catalog.Type{a.typ, z.typ})
		m := &column{name: n, typ: t, rel: a.rel, notNull: a.notNull && z.notNull}
		if a.typ.Is(z.typ) {
			m.mods = sameMods([]val{{mods: a.mods}, {mods: z.mods}})
		}
		av, zv := b.coerce(val{sql: a.sql, typ: a.typ}, t).sql, b.coerce(val{sql: z.sql, typ: z.typ}, t).sql
		if !a.typ.Is(t) { // converted it is another expression than the column, for GROUP BY too
			av = "(" + av + ")"
		}
		switch it.Kind {
		case ast.JoinRight:
			m.sql, m.rel = zv, z.rel
		case ast.JoinFull:
			m.sql, m.rel = "coalesce("+av+", "+zv+")", nil
		default:
			m.sql = av
		}
		out.cols = append(out.cols, m)
	}
	for _, c := range append(append([]*column(nil), l.cols...), r.cols...) {
		if !merged[c] {
			out.cols = append(out.cols, c)
		}
	}
	return strings.Join(on, " AND ")
}

func usingDependency(b *binder, c *column) {
	if c.rel != nil && c.rel.table != nil {
		b.deps[dependency{objectKey{c.rel.table.Schema, c.rel.table.Name}, c.name, false}] = true
	}
}

// bindWith defines the CTEs of a SELECT in its scope and prints them.
func bindWith(b *binder, s *scope, sel *ast.Select) []string {
	return b.withList(s, sel.With, sel.Recursive)
}

func (b *binder) withList(s *scope, list []ast.CTE, recursive bool) []string {
	if len(list) == 0 {
		return nil
	}
	s.ctes = map[string]*cte{}
	var out []string
	for i := range list {
		w := &list[i]
		q, ok := w.Query.(*ast.Select)
		if !ok {
			b.refuse(w.At, "a writing statement inside WITH",
				"Run it as a statement of its own, with a temporary table for its rows.")
		}
		if s.ctes[w.Name] != nil {
			b.fail(w.At, "42712", "WITH query name \"%s\" specified more than once", w.Name)
		}
		c := &cte{name: w.Name, alias: b.alias("w"), hidden: true}
		s.ctes[w.Name] = c
		if recursive && refersTo(q, w.Name) {
			bindRecursive(b, s, w, q, c)
		}
		volatile := b.volatile
		bound := b.selectQuery(q, s)
		bound.recursive = !c.hidden
		bound.settle(b)
		if c.hidden {
			c.cols, c.hidden = cteColumns(b, w, bound), false
		}
		recursiveTypes(b, w, c, bound)
		hint := map[string]string{"yes": "MATERIALIZED ", "no": "NOT MATERIALIZED "}[w.Materialized]
		if w.Materialized == "no" && b.volatile > volatile { // Postgres does not merge it either
			hint = "MATERIALIZED "
		}
		if hint == "" && !bound.recursive {
			c.costly, c.fence = addFence(b, bound, true, b.volatile > volatile)
			hint = openFence(c.fence)
		}
		out = append(out, c.alias+columnList(len(c.cols))+" AS "+hint+"("+bound.text()+")")
	}
	return out
}

func cteColumns(b *binder, w *ast.CTE, q *query) []*column {
	if len(w.Cols) > len(q.cols) {
		b.fail(w.At, sqlerr.InvalidColumnRef, "WITH query \"%s\" has %d columns available but %d columns specified", w.Name,
			len(q.cols), len(w.Cols))
	}
	var cols []*column
	for i, oc := range q.cols {
		name := oc.name
		if i < len(w.Cols) {
			name = w.Cols[i]
		}
		cols = append(cols, &column{name: name, typ: oc.typ, mods: oc.mods, notNull: oc.notNull && q.l == nil})
	}
	return cols
}

func refersTo(q *ast.Select, name string) bool {
	found := false
	ast.Walk(q, func(n ast.Tree) bool {
		if r, ok := n.(*ast.TableRef); ok && r.Schema == "" && r.Name == name {
			found = true
		}
		return !found
	})
	return found
}
