package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store/columns"
)

// newKey decides where a new relation goes and refuses names in use; skip is IF NOT EXISTS applying.
func newKey(b *binder, at ast.Pos, schema, name string, temp, ifNotExists bool) (k objectKey, skip bool) {
	switch {
	case temp && schema != "" && schema != "pg_temp":
		b.fail(at, "42P16", "cannot create temporary relation in non-temporary schema")
	case temp || schema == "pg_temp":
		schema = "pg_temp"
	case schema == "":
		schema = "public"
		if len(b.path) > 0 {
			schema = b.path[0]
		}
	case !b.db.cat.hasSchema(schema):
		b.fail(at, "3F000", "schema \"%s\" does not exist", schema)
	}
	if strings.HasPrefix(name, "relgrad_") || strings.HasPrefix(name, "sqlite_") {
		b.fail(at, "42939", "relation name \"%s\" is reserved: names that begin with relgrad_ or sqlite_ belong to the store",
			name)
	}
	k = objectKey{schema, name}
	if b.db.cat.relationThere(k) {
		if ifNotExists {
			return k, true
		}
		b.fail(at, sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
	}
	return k, false
}

func skipped(b *binder, tag, name string) (*catalog.Result, error) {
	return &catalog.Result{Tag: tag, Notice: fmt.Sprintf("relation \"%s\" already exists, skipping", name)}, nil
}

func createTable(b *binder, s *ast.CreateTable) (*catalog.Result, error) {
	k, skip := newKey(b, s.At, s.Schema, s.Name, s.Temp, s.IfNotExists)
	if skip {
		return skipped(b, "CREATE TABLE", s.Name)
	}
	t := &catalog.TableDef{Schema: k.schema, Name: k.name, Temp: k.schema == "pg_temp"}
	if s.Like.Name != "" {
		likeTable(b, s, t)
	}
	var constraints []ast.TableConstraint
	for i := range s.Cols {
		addColumn(b, t, &s.Cols[i])
		constraints = append(constraints, s.Cols[i].Constraints...)
	}
	addConstraints(b, t, append(constraints, s.Constraints...)) // they may name any column
	return &catalog.Result{Tag: "CREATE TABLE"}, makeTable(b, t)
}

// likeTable copies the columns of another table; INCLUDING ALL also defaults, identities, keys and indexes.
func likeTable(b *binder, s *ast.CreateTable, t *catalog.TableDef) {
	from := tableOf(b, s.At, s.Like.Schema, s.Like.Name)
	for _, c := range from.Cols {
		c.Shape = nil
		if !s.LikeIncluding {
			c.Default, c.Identity = "", nil
		} else if c.Identity != nil {
			id := *c.Identity
			id.Next = id.Start
			c.Identity = &id
		}
		t.Cols = append(t.Cols, c)
	}
	if !s.LikeIncluding {
		return
	}
	if from.PK != nil {
		t.PK = &catalog.Unique{Name: freshName(b, t, "", "pkey"), Cols: from.PK.Cols}
	}
	for _, u := range from.Uniques {
		t.Uniques = append(t.Uniques, catalog.Unique{Name: freshName(b, t, strings.Join(u.Cols, "_"), "key"), Cols: u.Cols})
	}
	for _, x := range from.Indexes {
		x.Name = freshName(b, t, orName(strings.Join(x.Cols, "_"), "expr"), "idx")
		t.Indexes = append(t.Indexes, x)
	}
	t.Checks = slices.Clone(from.Checks)
}

// addColumn appends a column without its constraints.
func addColumn(b *binder, t *catalog.TableDef, d *ast.ColumnDef) {
	if t.Column(d.Name) >= 0 {
		b.fail(d.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", d.Name)
	}
	c := catalog.Column{Name: d.Name, Type: typeOf(b, d.Type), Mods: d.Type.Mods, NotNull: d.NotNull}
	if d.Identity != nil {
		if d.Default != nil {
			b.fail(d.At, sqlerr.Syntax, "both default and identity specified for column \"%s\" of table \"%s\"", d.Name, t.Name)
		}
		if !c.Type.IsInt() {
			b.fail(d.At, sqlerr.InvalidParameter, "identity column type must be smallint, integer, or bigint")
		}
		c.Identity = &catalog.Identity{Always: d.Identity.Always, Serial: d.Identity.Serial, Start: d.Identity.Start,
			Inc: d.Identity.Inc, Next: d.Identity.Start}
		c.NotNull = true
	}
	t.Cols = append(t.Cols, c)
	if d.Default != nil {
		t.Cols[len(t.Cols)-1].Default = defaultText(b, t, &t.Cols[len(t.Cols)-1], d.Default)
	}
}

// defaultText prints a default so that it can stand in any later INSERT.
func defaultText(b *binder, t *catalog.TableDef, c *catalog.Column, e ast.Expr) string {
	b.literal = true
	defer func() { b.literal = false }()
	noSubQuery(b, e, "DEFAULT expression")
	v := b.expr(&scope{level: &level{clause: "DEFAULT expressions"}}, e)
	if !catalog.Assignable(v.typ, c.Type) {
		b.fail(v.at, sqlerr.DatatypeMismatch, "column \"%s\" is of type %s but default expression is of type %s", c.Name,
			c.Type, v.typ)
	}
	return b.cast(v.at, v, c.Type, c.Mods).sql
}

// noSubQuery refuses a sub-query in an expression that is kept with a table.
func noSubQuery(b *binder, e ast.Expr, what string) {
	ast.Walk(e, func(n ast.Tree) bool {
		if s, ok := n.(*ast.SubLink); ok {
			b.fail(s.At, sqlerr.FeatureNotSupported, "cannot use subquery in %s", what)
		}
		return true
	})
}

func orName(name, otherwise string) string {
	if name != "" {
		return name
	}
	return otherwise
}

// createSQL prints CREATE TABLE under a physical name.
func createSQL(t *catalog.TableDef, phys string) string {
	var p []string
	rowid := rowidColumn(t)
	for i := range t.Cols {
		c := &t.Cols[i]
		s := ident(c.Name) + " " + columns.StorageOf(c.Type)
		if isHeld(t, i) {
			s = ident(c.Name) + " INTEGER"
		}
		switch {
		case i == rowid:
			s += " PRIMARY KEY"
		default:
			s = columns.Collated(c.Type, s)
		}
		if c.NotNull && i != rowid {
			s += " NOT NULL"
		}
		p = append(p, s)
	}
	if t.PK != nil && rowid < 0 {
		p = append(p, "PRIMARY KEY ("+idents(t.PK.Cols)+")")
	}
	for _, u := range t.Uniques {
		p = append(p, "UNIQUE ("+idents(u.Cols)+")")
	}
	for _, c := range t.Checks {
		p = append(p, "CONSTRAINT "+sqltext.Ident(c.Name)+" CHECK ("+c.SQL+")")
	}
	for _, f := range t.Foreign {
		ref := physical(f.Schema, f.Name)
		if f.Schema == t.Schema && f.Name == t.Name {
			ref = phys
		}
		p = append(p, "FOREIGN KEY ("+idents(f.Cols)+") REFERENCES "+sqltext.Ident(ref)+" ("+idents(f.RefCols)+")")
	}
	if len(p) == 0 {
		p = []string{"\"relgrad_empty\" INTEGER"} // SQLite has no table without columns
	}
	return "CREATE TABLE " + dbOf(t) + "." + sqltext.Ident(phys) + " (" + strings.Join(p, ", ") + ") STRICT"
}

func makeTable(b *binder, t *catalog.TableDef) error {
	if err := b.db.exec(createSQL(t, physOf(t))); err != nil {
		return err
	}
	for _, x := range t.Indexes {
		if err := b.db.exec(indexSQL(t, x)); err != nil {
			return err
		}
	}
	b.db.bump(keyOf(t), true)
	t.Count = &catalog.Count{}
	return b.db.putTable(keyOf(t), t)
}

func createTableAs(b *binder, s *ast.CreateTableAs) (*catalog.Result, error) {
	k, skip := newKey(b, s.At, s.Schema, s.Name, s.Temp, s.IfNotExists)
	tag := "CREATE TABLE AS"
	if s.Matview {
		tag = "CREATE MATERIALIZED VIEW"
	}
	if skip {
		return skipped(b, tag, s.Name)
	}
	t := &catalog.TableDef{Schema: k.schema, Name: k.name, Temp: k.schema == "pg_temp"}
	var q *query
	if s.Matview {
		q = materializedQuery(b, t, s)
	} else {
		q = b.selectQuery(s.Query, nil)
		q.settle(b)
	}
	if len(s.Cols) > len(q.cols) {
		b.fail(s.At, sqlerr.Syntax, "too many column names were specified")
	}
	if len(q.cols) == 0 {
		b.refuse(s.At, "a table without columns", "Select at least one column.")
	}
	for i, oc := range q.cols {
		name := oc.name
		if i < len(s.Cols) {
			name = s.Cols[i]
		}
		if t.Column(name) >= 0 {
			b.fail(s.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", name)
		}
		storable(b, s.At, name, oc.typ)
		t.Cols = append(t.Cols, catalog.Column{Name: name, Type: oc.typ, Mods: oc.mods})
		if t.Matview != nil {
			t.Matview.Cols = append(t.Matview.Cols, catalog.ViewColumn{Name: name, Type: oc.typ})
		}
	}
	if err := makeTable(b, t); err != nil {
		return nil, err
	}
	if s.NoData {
		return &catalog.Result{Tag: tag}, nil
	}
	list, exprs := make([]string, len(t.Cols)), make([]string, len(t.Cols))
	for i := range t.Cols {
		list[i] = ident(t.Cols[i].Name)
		exprs[i] = b.assign(val{sql: "s." + q.phys(i), typ: q.cols[i].typ}, t, &t.Cols[i])
	}
	sql := "INSERT INTO " + sqlOf(t) + " (" + strings.Join(list, ", ") + ") SELECT " + strings.Join(exprs, ", ") +
		" FROM (" + q.body() + ") AS s"
	return runWrite(b, t, q.with, sql, "SELECT", returning{}, true)
}

func storable(b *binder, at ast.Pos, name string, t catalog.Type) {
	if columns.Storage[t.Name] == "" {
		b.fail(at, "42P16", "column \"%s\" has pseudo-type %s", name, t)
	}
}

func createView(b *binder, s *ast.CreateView) (*catalog.Result, error) {
	old := b.db.cat.views[objectKey{orName(s.Schema, firstSchema(b, s.Temp)), s.Name}]
	k := objectKey{}
	if old != nil && s.Replace {
		k = objectKey{old.Schema, old.Name}
	} else {
		k, _ = newKey(b, s.At, s.Schema, s.Name, s.Temp, false)
	}
	v := &catalog.ViewDef{Schema: k.schema, Name: k.name, Temp: k.schema == "pg_temp", SQL: s.SQL, Path: b.path,
		Stars: map[int][]string{}}
	b.stars, b.unread = v.Stars, true
	q := selectView(b, v, s)
	b.stars, b.unread = nil, false
	if len(s.Cols) > len(q.cols) {
		b.fail(s.At, sqlerr.Syntax, "CREATE VIEW specifies more column names than columns")
	}
	for i, c := range q.cols {
		name := c.name
		if i < len(s.Cols) {
			name = s.Cols[i]
		}
		for _, o := range v.Cols {
			if o.Name == name {
				b.fail(s.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", name)
			}
		}
		v.Cols = append(v.Cols, catalog.ViewColumn{Name: name, Type: c.typ})
	}
	replaceable(b, s.At, old, v)
	for d := range b.deps {
		v.Deps = append(v.Deps, catalog.Dep{Schema: d.schema, Name: d.name, Col: d.col, Function: d.function})
		t, w := b.db.cat.tables[d.objectKey], b.db.cat.views[d.objectKey]
		if t != nil && t.Temp || w != nil && w.Temp {
			v.Temp = true // as Postgres does; the view lives as long as its table
		}
	}
	if v.Temp {
		k.schema, v.Schema = "pg_temp", "pg_temp"
	}
	return &catalog.Result{Tag: "CREATE VIEW"}, b.db.putView(k, v)
}

func firstSchema(b *binder, temp bool) string {
	switch {
	case temp:
		return "pg_temp"
	case len(b.path) > 0:
		return b.path[0]
	}
	return "public"
}

// replaceable checks that CREATE OR REPLACE VIEW only appends columns.
func replaceable(b *binder, at ast.Pos, old, v *catalog.ViewDef) {
	if old == nil {
		return
	}
	if len(v.Cols) < len(old.Cols) {
		b.fail(at, "42P16", "cannot drop columns from view")
	}
	for i, c := range old.Cols {
		if v.Cols[i].Name != c.Name {
			b.failHint(at, "42P16", "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
				"cannot change name of view column \"%s\" to \"%s\"", c.Name, v.Cols[i].Name)
		}
		if !v.Cols[i].Type.Is(c.Type) {
			b.fail(at, "42P16", "cannot change data type of view column \"%s\" from %s to %s", c.Name, c.Type, v.Cols[i].Type)
		}
	}
}

// selectView binds the text of a view that is being created. The view's own text is bound, because the
// positions of its stars are those of later expansions; errors point into the statement.
func selectView(b *binder, v *catalog.ViewDef, s *ast.CreateView) *query {
	caller, inner := b.text, &ast.Text{SQL: v.SQL}
	b.text = inner
	defer func() {
		b.text = caller
		if p := recover(); p != nil {
			if e, ok := p.(*sqlerr.Error); ok && e.Text == inner {
				c := *e
				c.Text = caller
				if c.Pos >= 0 {
					c.Pos += int(s.SQLAt)
				}
				panic(&c)
			}
			panic(p)
		}
	}()
	tree, err := parse.ParseSelect(inner)
	b.check(s.At, err)
	q := b.selectQuery(tree, nil)
	q.settle(b)
	return q
}

func createSchema(b *binder, s *ast.CreateSchema) (*catalog.Result, error) {
	if b.db.cat.hasSchema(s.Name) {
		if s.IfNotExists {
			return &catalog.Result{Tag: "CREATE SCHEMA",
				Notice: fmt.Sprintf("schema \"%s\" already exists, skipping", s.Name)}, nil
		}
		b.fail(s.At, "42P06", "schema \"%s\" already exists", s.Name)
	}
	cat := b.db.cat.clone()
	cat.schemas = append(cat.schemas, s.Name)
	b.db.cat = cat
	return &catalog.Result{Tag: "CREATE SCHEMA"}, b.db.save("schema", s.Name, "", struct{}{})
}
