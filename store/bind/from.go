package bind

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/store/definitions"
)

// source is a bound FROM item.
type source struct {
	SQL  string
	rels []*Relation
	cols []*Column
	join bool // needs parentheses at the right of a join
	full bool // contains RIGHT or FULL joins: needs parentheses after a comma
}

// From binds the FROM list into the scope and prints it.
func (b *Binder) From(s *Scope, items []ast.FromItem) string {
	var parts []string
	for i, it := range items {
		src := b.fromItem(s, it, s.Relations, s.Columns)
		distinctNames(b, it, s.Relations, src.rels)
		s.Relations, s.Columns = append(s.Relations, src.rels...), append(s.Columns, src.cols...)
		if src.full && i > 0 {
			src.SQL = "(" + src.SQL + ")"
		}
		parts = append(parts, src.SQL)
	}
	return strings.Join(parts, " JOIN ")
}

// joinsRight reports whether a FROM item has a RIGHT or FULL JOIN, sub-queries apart.
func joinsRight(it ast.FromItem) bool {
	j, ok := it.(*ast.JoinFrom)
	return ok && (j.Kind >= ast.JoinRight || joinsRight(j.L) || joinsRight(j.R))
}

func distinctNames(b *Binder, it ast.FromItem, have, more []*Relation) {
	for _, m := range more {
		for _, h := range have {
			if h.Name == m.Name && h.Name != "" && h.Schema == m.Schema {
				b.Fail(it.Position(), "42712", "table name \"%s\" specified more than once", m.Name)
			}
		}
	}
}

// fromItem binds one item. A lateral function may refer to rels and cols.
func (b *Binder) fromItem(s *Scope, it ast.FromItem, rels []*Relation, cols []*Column) source {
	switch it := it.(type) {
	case *ast.TableRef:
		r := tableRef(b, s, it)
		return source{SQL: r.SQL, rels: []*Relation{r.Relation}, cols: r.Relation.Columns}
	case *ast.SubSelect:
		return subSelect(b, s, it, rels, cols)
	case *ast.FuncFrom:
		inner := &Scope{Outer: s.Outer, Relations: rels, Columns: cols, ctes: s.ctes,
			Level: &Level{Clause: "functions in FROM", InAgg: true}}
		return funcFrom(b, inner, it)
	case *ast.JoinFrom:
		return bindJoin(b, s, it, rels, cols)
	}
	b.Fail(it.Position(), sqlerr.Internal, "internal error: store does not know %T", it)
	return source{}
}

// NameRelation applies an alias to the columns of a new relation.
func NameRelation(b *Binder, at ast.Pos, r *Relation, a ast.Alias) *Relation {
	if a.Name != "" {
		r.Name, r.Schema = a.Name, ""
	}
	if len(a.Cols) > len(r.Columns) {
		b.Fail(at, sqlerr.InvalidColumnRef, "table \"%s\" has %d columns available but %d columns specified", r.Name,
			len(r.Columns), len(a.Cols))
	}
	for i, c := range r.Columns {
		c.Relation = r
		if i < len(a.Cols) {
			c.Name = a.Cols[i]
		}
	}
	return r
}

type boundTable struct {
	SQL      string
	Relation *Relation
}

// tableRef binds a table, view or CTE.
func tableRef(b *Binder, s *Scope, it *ast.TableRef) boundTable {
	if it.Schema == "" {
		if c := s.cte(it.Name); c != nil {
			return cteRef(b, it, c)
		}
	}
	if t := systemView(b, it); t != nil {
		return systemRef(b, it, t)
	}
	t, v := b.session.Definitions().Relation(b.Path, it.Schema, it.Name)
	switch {
	case t != nil:
		b.Deps[Dependency{definitions.Key{Schema: t.Schema, Name: t.Name}, "", false}] = true
		b.Check(it.At, b.session.Use(t))
		if !b.Unread {
			b.Check(it.At, definitions.CheckPopulated(t))
		}
		r := b.TableRelation(t)
		showRuns(b, t, r)
		return boundTable{definitions.SQL(t) + " AS " + r.Alias, NameRelation(b, it.At, r, it.Alias)}
	case v != nil:
		b.Deps[Dependency{definitions.Key{Schema: v.Schema, Name: v.Name}, "", false}] = true
		return ViewRef(b, it, v)
	}
	b.UndefinedTable(it.At, it.Schema, it.Name)
	return boundTable{}
}

// showRuns shows runs that nobody trains as interrupted (see store.DB.SetTrained).
func showRuns(b *Binder, t *catalog.TableDef, r *Relation) {
	run, status := t.Column("run"), t.Column("status")
	if b.session.ShowsRuns() && t.Schema == "relgrad" && t.Name == "run" && run >= 0 && status >= 0 {
		r.Columns[status].SQL = "rg_run_status(" + r.Columns[run].SQL + ", " + r.Columns[status].SQL + ")"
	}
}

// TableRelation gives a table an alias and columns.
func (b *Binder) TableRelation(t *catalog.TableDef) *Relation {
	r := &Relation{Name: t.Name, Schema: t.Schema, Alias: b.alias("t"), Table: t}
	for i := range t.Cols {
		c := &t.Cols[i]
		r.Columns = append(r.Columns, &Column{Name: c.Name, Type: c.Type, Mods: c.Mods,
			SQL: definitions.ReadColumn(t, r.Alias+".", i), NotNull: c.NotNull})
	}
	return r
}

// UndefinedTable is the error of a name that no relation has.
func (b *Binder) UndefinedTable(at ast.Pos, schema, name string) {
	full := name
	if schema != "" {
		full = schema + "." + name
	}
	hint := ""
	if near := sqlerr.Nearest(full, b.session.Definitions().RelationNames(b.session.SearchPath())); near != "" &&
		near != name {
		hint = "Perhaps you meant \"" + near + "\"."
	}
	if there := definitions.SortedKeys(b.session.Definitions().Tables,
		func(k definitions.Key) bool { return k.Name == name && schema == "" }); len(there) > 0 {
		hint = "It exists in schema " + there[0].Schema + ": SET search_path = public, " + there[0].Schema + "."
	}
	if schema == "information_schema" || schema == "pg_catalog" || schema == "" && strings.HasPrefix(name, "pg_") &&
		hint == "" {
		hint = "\\d lists what the store holds; of the catalogue's views there are " +
			strings.Join(slices.Sorted(maps.Keys(definitions.SystemViews)), ", ") + "."
	}
	b.FailHint(at, sqlerr.UndefinedTable, hint, "relation \"%s\" does not exist", full)
}

func cteRef(b *Binder, it *ast.TableRef, c *cte) boundTable {
	r := &Relation{Name: c.name, Alias: b.alias("t")}
	for i, cc := range c.cols {
		r.Columns = append(r.Columns, &Column{Name: cc.Name, Type: cc.Type, Mods: cc.Mods, SQL: r.Alias + "." + outName(i),
			NotNull: cc.NotNull})
	}
	useFence(b, c.fence, c.costly, r)
	return boundTable{c.alias + " AS " + r.Alias, NameRelation(b, it.At, r, it.Alias)}
}

// ViewRef refers to a view, which is printed once as a CTE of the statement.
func ViewRef(b *Binder, it *ast.TableRef, v *catalog.ViewDef) boundTable {
	tmpl := b.View(it.At, v, b.needs.Views[it]...)
	r := &Relation{Name: v.Name, Schema: v.Schema, Alias: b.alias("t")}
	for i, c := range tmpl.Columns {
		r.Columns = append(r.Columns, &Column{Name: c.Name, Type: c.Type, Mods: c.Mods, SQL: r.Alias + "." + outName(i)})
	}
	useFence(b, tmpl.fence, tmpl.costly, r)
	return boundTable{tmpl.Alias + " AS " + r.Alias, NameRelation(b, it.At, r, it.Alias)}
}

// Meaning is what a view expands to by the present definitions, or why it does not: what is equal means the same.
func Meaning(ctx context.Context, session Session, v *catalog.ViewDef) (text string) {
	b := New(ctx, session, nil)
	b.Unread = true
	defer func() {
		if p := recover(); p != nil {
			text = BindError(p).Error()
		}
	}()
	b.View(-1, v)
	return strings.Join(b.ctes, "\n")
}

// View expands a view into b.ctes. Positions inside point into the view's own text. Of a view that reads what lies
// outside of the store, only the rows may be there of which conditions on its columns hold.
func (b *Binder) View(at ast.Pos, v *catalog.ViewDef, where ...ast.Condition) *Relation {
	if r := b.views[v]; r != nil {
		return r
	}
	volatile := b.Volatile
	if t := engineView(b, v); t != nil {
		r := &Relation{Name: v.Name, Alias: b.alias("v")}
		list := make([]string, len(v.Cols))
		for i, c := range v.Cols {
			r.Columns = append(r.Columns, &Column{Name: c.Name, Type: c.Type})
			list[i] = definitions.ReadColumn(t, "", i)
		}
		b.ctes = append(b.ctes, r.Alias+columnList(len(list))+" AS (SELECT "+strings.Join(list, ", ")+" FROM "+
			definitions.SQL(t)+")")
		b.views[v] = r
		return r
	}
	sel, text, err := b.session.Tree(v)
	b.Check(at, err)
	if where != nil && !readsRange(b, v, sel, map[*catalog.ViewDef]bool{}) {
		where = nil
	}
	if len(b.stack) >= bind.MaxViews {
		b.Fail(at, sqlerr.TooComplex, "views are nested more than %d deep", bind.MaxViews)
	}
	old := *b
	b.Text, b.Path, b.Stars, b.fixed = text, v.ReadPath(), nil, v.Stars
	if b.fixed == nil {
		b.fixed = map[int][]string{}
	}
	b.stack, b.Deps = append(b.stack, v.Name), map[Dependency]bool{}
	b.needs.Around(sel, where)
	q := b.SelectQuery(sel, nil)
	q.Settle(b)
	b.Text, b.Path, b.Stars, b.fixed, b.stack, b.Deps = old.Text, old.Path, old.Stars, old.fixed, old.stack, old.Deps
	if len(q.Columns) != len(v.Cols) {
		b.Fail(at, sqlerr.Internal, "internal error: view \"%s\" has %d columns, but was created with %d", v.Name,
			len(q.Columns), len(v.Cols))
	}
	r := &Relation{Name: v.Name, Alias: b.alias("v")}
	for i, c := range v.Cols {
		if where != nil && q.Columns[i].Name != c.Name { // the conditions may be on other columns
			return b.View(at, v)
		}
		r.Columns = append(r.Columns, &Column{Name: c.Name, Type: q.Columns[i].Type, Mods: q.Columns[i].Mods})
	}
	r.costly, r.fence = addFence(b, q, true, b.Volatile > volatile)
	b.ctes = append(b.ctes, r.Alias+columnList(len(q.Columns))+" AS "+openFence(r.fence)+"("+q.Text()+")")
	if where != nil { // other uses may need other rows
		return r
	}
	if b.Volatile == volatile { // a volatile view is computed at each use
		b.views[v] = r
	}
	return r
}

// readsRange reports whether a view reads what lies outside of the store, itself or through other views.
func readsRange(b *Binder, v *catalog.ViewDef, sel *ast.Select, seen map[*catalog.ViewDef]bool) bool {
	seen[v] = true
	found := ast.ReadsRange(sel)
	ast.Walk(sel, func(t ast.Tree) bool {
		if x, ok := t.(*ast.TableRef); ok && !found {
			if _, w := b.session.Definitions().Relation(v.ReadPath(), x.Schema, x.Name); w != nil && !seen[w] {
				inner, _, err := b.session.Tree(w)
				found = err == nil && readsRange(b, w, inner, seen)
			}
		}
		return !found
	})
	return found
}

func outName(i int) string { return "c" + strconv.Itoa(i+1) }

func columnList(n int) string {
	p := make([]string, n)
	for i := range p {
		p[i] = outName(i)
	}
	return "(" + strings.Join(p, ", ") + ")"
}

func subSelect(b *Binder, s *Scope, it *ast.SubSelect, rels []*Relation, cols []*Column) source {
	volatile := b.Volatile
	q := lateralQuery(b, s, it, rels, cols)
	q.Settle(b)
	r := &Relation{Name: it.Alias.Name, Alias: b.alias("t")}
	for i, c := range q.Columns {
		r.Columns = append(r.Columns, &Column{Name: c.Name, Type: c.Type, Mods: c.Mods, SQL: r.Alias + "." + q.Phys(i),
			NotNull: c.NotNull})
	}
	NameRelation(b, it.At, r, it.Alias)
	costly, id := addFence(b, q, false, b.Volatile > volatile)
	useFence(b, id, costly, r)
	return source{SQL: "(" + openFence(id) + q.Text() + closeFence(id) + ") AS " + r.Alias, rels: []*Relation{r},
		cols: r.Columns}
}

// lateralQuery binds a sub-select of FROM. SQLite has no LATERAL, so a name that means a neighbour's column is refused
// at any depth: it must not be resolved farther out, where another column may have the same name.
func lateralQuery(b *Binder, s *Scope, it *ast.SubSelect, rels []*Relation, cols []*Column) *Query {
	outer := &Scope{Outer: s.Outer, ctes: s.ctes}
	if it.Lateral {
		outer.Relations, outer.Columns = rels, cols
		outer.barred = func(ast.Pos) {
			b.Refuse(it.At, "a LATERAL sub-select that refers to its neighbours",
				"Write a join with GROUP BY, a window function, or a scalar sub-select.")
		}
	}
	return b.SelectQuery(it.Query, outer)
}

func bindJoin(b *Binder, s *Scope, it *ast.JoinFrom, rels []*Relation, cols []*Column) source {
	l := b.fromItem(s, it.L, rels, cols)
	right, seenRels, seenCols := s, rels, cols
	if lateral(it.R) && (it.Kind == ast.JoinRight || it.Kind == ast.JoinFull) {
		seen := &Scope{Outer: s.Outer, Relations: l.rels, Columns: l.cols, barred: func(at ast.Pos) {
			b.FailHint(at, sqlerr.InvalidColumnRef, "The combining JOIN type must be INNER or LEFT for a LATERAL reference.",
				"invalid reference to FROM-clause entry of the left side")
		}}
		right = &Scope{Outer: seen, ctes: s.ctes, Level: s.Level}
	} else {
		seenRels, seenCols = append(append([]*Relation(nil), rels...), l.rels...), append(append([]*Column(nil), cols...),
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
		rels: append(append([]*Relation(nil), l.rels...), r.rels...)}
	using := it.Using
	if it.Natural {
		using = commonNames(l.cols, r.cols)
	}
	on := ""
	if len(using) > 0 {
		on = bindUsing(b, it, l, r, using, &out)
	} else {
		out.cols = append(append([]*Column(nil), l.cols...), r.cols...)
	}
	if it.On != nil {
		inner := &Scope{Outer: s.Outer, Relations: append(append([]*Relation(nil), rels...), out.rels...),
			Columns: append(append([]*Column(nil), cols...), out.cols...), ctes: s.ctes, Level: &Level{}}
		on = BindCondition(b, inner, it.On, "JOIN/ON").SQL
	}
	side := r.SQL
	if r.join {
		side = "(" + side + ")"
	}
	out.SQL = l.SQL + " " + word + " " + side
	if on != "" {
		out.SQL += " ON " + on
	} else if it.Kind != ast.JoinInner {
		out.SQL += " ON TRUE"
	}
	return out
}

// lateral reports whether an item of FROM sees the items to its left.
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
		for _, c := range r.Columns {
			c.NotNull = false
		}
	}
}

func commonNames(l, r []*Column) []string {
	var out []string
	for _, c := range l {
		for _, d := range r {
			if c.Name == d.Name {
				out = append(out, c.Name)
				break
			}
		}
	}
	return out
}

// bindUsing binds USING: merged columns first, then the other columns of both sides.
func bindUsing(b *Binder, it *ast.JoinFrom, l, r source, names []string, out *source) string {
	find := func(cols []*Column, name, side string) *Column {
		var found *Column
		for _, c := range cols {
			if c.Name != name {
				continue
			}
			if found != nil {
				b.Fail(it.At, sqlerr.AmbiguousColumn, "common column name \"%s\" appears more than once in %s table", name, side)
			}
			found = c
		}
		if found == nil {
			b.Fail(it.At, sqlerr.UndefinedColumn, "column \"%s\" specified in USING clause does not exist in %s table", name,
				side)
		}
		return found
	}
	merged := map[*Column]bool{}
	var on []string
	for _, n := range names {
		a, z := find(l.cols, n, "left"), find(r.cols, n, "right")
		merged[a], merged[z] = true, true
		usingDependency(b, a)
		usingDependency(b, z)
		on = append(on, compareVals(b, it.At, "=", Value{SQL: a.SQL, Type: a.Type}, Value{SQL: z.SQL, Type: z.Type}).SQL)
		t, _ := catalog.CommonType([]catalog.Type{a.Type, z.Type})
		m := &Column{Name: n, Type: t, Relation: a.Relation, NotNull: a.NotNull && z.NotNull}
		if a.Type.Is(z.Type) {
			m.Mods = sameMods([]Value{{mods: a.Mods}, {mods: z.Mods}})
		}
		av, zv := b.coerce(Value{SQL: a.SQL, Type: a.Type}, t).SQL, b.coerce(Value{SQL: z.SQL, Type: z.Type}, t).SQL
		if !a.Type.Is(t) { // a converted column is another expression than the column, also for GROUP BY
			av = "(" + av + ")"
		}
		switch it.Kind {
		case ast.JoinRight:
			m.SQL, m.Relation = zv, z.Relation
		case ast.JoinFull:
			m.SQL, m.Relation = "coalesce("+av+", "+zv+")", nil
		default:
			m.SQL = av
		}
		out.cols = append(out.cols, m)
	}
	for _, c := range append(append([]*Column(nil), l.cols...), r.cols...) {
		if !merged[c] {
			out.cols = append(out.cols, c)
		}
	}
	return strings.Join(on, " AND ")
}

func usingDependency(b *Binder, c *Column) {
	if c.Relation != nil && c.Relation.Table != nil {
		b.Deps[Dependency{definitions.Key{Schema: c.Relation.Table.Schema, Name: c.Relation.Table.Name}, c.Name,
			false}] = true
	}
}

// bindWith defines the CTEs of a SELECT in its scope and prints them.
func bindWith(b *Binder, s *Scope, sel *ast.Select) []string {
	b.needs.With(sel)
	return b.WithList(s, sel.With, sel.Recursive)
}

// WithList binds WITH items and prints them.
func (b *Binder) WithList(s *Scope, list []ast.CTE, recursive bool) []string {
	if len(list) == 0 {
		return nil
	}
	s.ctes = map[string]*cte{}
	var out []string
	for i := range list {
		w := &list[i]
		q, ok := w.Query.(*ast.Select)
		if !ok {
			b.Refuse(w.At, "a writing statement inside WITH",
				"Run it as a statement of its own, with a temporary table for its rows.")
		}
		if s.ctes[w.Name] != nil {
			b.Fail(w.At, "42712", "WITH query name \"%s\" specified more than once", w.Name)
		}
		c := &cte{name: w.Name, alias: b.alias("w"), hidden: true}
		s.ctes[w.Name] = c
		if recursive && refersTo(q, w.Name) {
			bindRecursive(b, s, w, q, c)
		}
		volatile := b.Volatile
		bound := b.SelectQuery(q, s)
		bound.recursive = !c.hidden
		bound.Settle(b)
		if c.hidden {
			c.cols, c.hidden = cteColumns(b, w, bound), false
		}
		recursiveTypes(b, w, c, bound)
		hint := map[string]string{"yes": "MATERIALIZED ", "no": "NOT MATERIALIZED "}[w.Materialized]
		if w.Materialized == "no" && b.Volatile > volatile { // Postgres does not merge it either
			hint = "MATERIALIZED "
		}
		if hint == "" && !bound.recursive {
			c.costly, c.fence = addFence(b, bound, true, b.Volatile > volatile)
			hint = openFence(c.fence)
		}
		out = append(out, c.alias+columnList(len(c.cols))+" AS "+hint+"("+bound.Text()+")")
	}
	return out
}

func cteColumns(b *Binder, w *ast.CTE, q *Query) []*Column {
	if len(w.Cols) > len(q.Columns) {
		b.Fail(w.At, sqlerr.InvalidColumnRef, "WITH query \"%s\" has %d columns available but %d columns specified", w.Name,
			len(q.Columns), len(w.Cols))
	}
	var cols []*Column
	for i, oc := range q.Columns {
		name := oc.Name
		if i < len(w.Cols) {
			name = w.Cols[i]
		}
		cols = append(cols, &Column{Name: name, Type: oc.Type, Mods: oc.Mods, NotNull: oc.NotNull && q.l == nil})
	}
	return cols
}

func refersTo(q *ast.Select, name string) bool {
	return ast.Any(q, func(r *ast.TableRef) bool { return r.Schema == "" && r.Name == name })
}

// systemView fills a view of the system catalogue for the running statement; nil for other names.
func systemView(b *Binder, it *ast.TableRef) *catalog.TableDef {
	schema := it.Schema
	if schema == "" {
		schema = "pg_catalog" // it comes before the search path
	}
	rows := definitions.SystemViews[schema+"."+it.Name]
	if rows == nil {
		return nil
	}
	o, err := b.session.Objects()
	b.Check(it.At, err)
	t, err := b.session.PutResult(rows(o))
	b.Check(it.At, err)
	b.Results = append(b.Results, t)
	return t
}

// systemRef refers to a view of the system catalogue.
func systemRef(b *Binder, it *ast.TableRef, t *catalog.TableDef) boundTable {
	r := b.TableRelation(t)
	r.Name, r.Table = it.Name, nil
	return boundTable{definitions.SQL(t) + " AS " + r.Alias, NameRelation(b, it.At, r, it.Alias)}
}
