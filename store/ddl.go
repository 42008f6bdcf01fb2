package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
)

// newKey chooses the schema of a new relation and refuses names in use. skip: IF NOT EXISTS applies.
func newKey(b *writer, at ast.Pos, schema, name string, temp, ifNotExists bool) (k definitions.Key, skip bool) {
	switch {
	case temp && schema != "" && schema != "pg_temp":
		b.Fail(at, "42P16", "cannot create temporary relation in non-temporary schema")
	case temp || schema == "pg_temp":
		schema = "pg_temp"
	case schema == "":
		schema = "public"
		if len(b.Path) > 0 {
			schema = b.Path[0]
		}
	case !b.db.cat.HasSchema(schema):
		b.Fail(at, "3F000", "schema \"%s\" does not exist", schema)
	}
	if strings.HasPrefix(name, "relgrad_") || strings.HasPrefix(name, "sqlite_") {
		b.Fail(at, "42939", "relation name \"%s\" is reserved: names that begin with relgrad_ or sqlite_ belong to the store",
			name)
	}
	k = definitions.Key{Schema: schema, Name: name}
	if b.db.cat.Exists(k) {
		if ifNotExists {
			return k, true
		}
		b.Fail(at, sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
	}
	return k, false
}

func skipped(b *writer, tag, name string) (*catalog.Result, error) {
	return &catalog.Result{Tag: tag, Notice: fmt.Sprintf("relation \"%s\" already exists, skipping", name)}, nil
}

func createTable(b *writer, s *ast.CreateTable) (*catalog.Result, error) {
	k, skip := newKey(b, s.At, s.Schema, s.Name, s.Temp, s.IfNotExists)
	if skip {
		return skipped(b, "CREATE TABLE", s.Name)
	}
	t := &catalog.TableDef{Schema: k.Schema, Name: k.Name, Temp: k.Schema == "pg_temp"}
	if s.Like.Name != "" {
		likeTable(b, s, t)
	}
	var constraints []ast.TableConstraint
	for i := range s.Cols {
		addColumn(b, t, &s.Cols[i])
		constraints = append(constraints, s.Cols[i].Constraints...)
	}
	addConstraints(b, t, append(constraints, s.Constraints...)) // last, for they may name any column
	return &catalog.Result{Tag: "CREATE TABLE"}, makeTable(b, t)
}

// likeTable copies the columns of another table; INCLUDING ALL also copies defaults, identities, keys and indexes.
func likeTable(b *writer, s *ast.CreateTable, t *catalog.TableDef) {
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
func addColumn(b *writer, t *catalog.TableDef, d *ast.ColumnDef) {
	if t.Column(d.Name) >= 0 {
		b.Fail(d.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", d.Name)
	}
	c := catalog.Column{Name: d.Name, Type: bind.TypeOf(b.Binder, d.Type), Mods: d.Type.Mods, NotNull: d.NotNull}
	if d.Identity != nil {
		if d.Default != nil {
			b.Fail(d.At, sqlerr.Syntax, "both default and identity specified for column \"%s\" of table \"%s\"", d.Name, t.Name)
		}
		if !c.Type.IsInt() {
			b.Fail(d.At, sqlerr.InvalidParameter, "identity column type must be smallint, integer, or bigint")
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

// defaultText prints a default for use in later INSERTs.
func defaultText(b *writer, t *catalog.TableDef, c *catalog.Column, e ast.Expr) string {
	b.Literal = true
	defer func() { b.Literal = false }()
	noSubQuery(b, e, "DEFAULT expression")
	v := b.Expr(&bind.Scope{Level: &bind.Level{Clause: "DEFAULT expressions"}}, e)
	if !catalog.Assignable(v.Type, c.Type) {
		b.Fail(v.At, sqlerr.DatatypeMismatch, "column \"%s\" is of type %s but default expression is of type %s", c.Name,
			c.Type, v.Type)
	}
	return b.Cast(v.At, v, c.Type, c.Mods).SQL
}

// noSubQuery refuses a sub-query in an expression that is stored with a table.
func noSubQuery(b *writer, e ast.Expr, what string) {
	ast.Each(e, func(s *ast.SubLink) { b.Fail(s.At, sqlerr.FeatureNotSupported, "cannot use subquery in %s", what) })
}

func orName(name, otherwise string) string {
	if name != "" {
		return name
	}
	return otherwise
}

func makeTable(b *writer, t *catalog.TableDef) error {
	if err := b.db.exec(definitions.CreateTable(t, definitions.FileName(t))); err != nil {
		return err
	}
	for _, x := range t.Indexes {
		if err := b.db.exec(definitions.CreateIndex(t, x)); err != nil {
			return err
		}
	}
	b.db.bump(definitions.KeyOf(t), true)
	t.Count = &catalog.Count{}
	return b.db.putTable(definitions.KeyOf(t), t)
}

func createTableAs(b *writer, s *ast.CreateTableAs) (*catalog.Result, error) {
	k, skip := newKey(b, s.At, s.Schema, s.Name, s.Temp, s.IfNotExists)
	tag := "CREATE TABLE AS"
	if s.Matview {
		tag = "CREATE MATERIALIZED VIEW"
	}
	if skip {
		return skipped(b, tag, s.Name)
	}
	t := &catalog.TableDef{Schema: k.Schema, Name: k.Name, Temp: k.Schema == "pg_temp"}
	var q *bind.Query
	if s.Matview {
		q = materializedQuery(b, t, s)
	} else {
		q = b.SelectQuery(s.Query, nil)
		q.Settle(b.Binder)
	}
	if len(s.Cols) > len(q.Columns) {
		b.Fail(s.At, sqlerr.Syntax, "too many column names were specified")
	}
	if len(q.Columns) == 0 {
		b.Refuse(s.At, "a table without columns", "Select at least one column.")
	}
	for i, oc := range q.Columns {
		name := oc.Name
		if i < len(s.Cols) {
			name = s.Cols[i]
		}
		if t.Column(name) >= 0 {
			b.Fail(s.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", name)
		}
		storable(b, s.At, name, oc.Type)
		t.Cols = append(t.Cols, catalog.Column{Name: name, Type: oc.Type, Mods: oc.Mods})
		if t.Matview != nil {
			t.Matview.Cols = append(t.Matview.Cols, catalog.ViewColumn{Name: name, Type: oc.Type})
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
		list[i] = definitions.Ident(t.Cols[i].Name)
		exprs[i] = b.Assign(bind.Value{SQL: "s." + q.Phys(i), Type: q.Columns[i].Type}, t, &t.Cols[i])
	}
	sql := "INSERT INTO " + definitions.SQL(t) + " (" + strings.Join(list, ", ") + ") SELECT " +
		strings.Join(exprs, ", ") +
		" FROM (" + q.Body() + ") AS s"
	return runWrite(b, t, q.With, sql, "SELECT", returning{}, true)
}

func storable(b *writer, at ast.Pos, name string, t catalog.Type) {
	if columns.Storage[t.Name] == "" {
		b.Fail(at, "42P16", "column \"%s\" has pseudo-type %s", name, t)
	}
}

func createView(b *writer, s *ast.CreateView) (*catalog.Result, error) {
	old := b.db.cat.Views[definitions.Key{Schema: orName(s.Schema, firstSchema(b, s.Temp)), Name: s.Name}]
	k := definitions.Key{}
	if old != nil && s.Replace {
		k = definitions.Key{Schema: old.Schema, Name: old.Name}
	} else {
		k, _ = newKey(b, s.At, s.Schema, s.Name, s.Temp, false)
	}
	v := &catalog.ViewDef{Schema: k.Schema, Name: k.Name, Temp: k.Schema == "pg_temp", SQL: s.SQL, Path: b.Path,
		Stars: map[int][]string{}}
	b.Stars, b.Unread = v.Stars, true
	q := selectView(b, v, s)
	b.Stars, b.Unread = nil, false
	if len(s.Cols) > len(q.Columns) {
		b.Fail(s.At, sqlerr.Syntax, "CREATE VIEW specifies more column names than columns")
	}
	for i, c := range q.Columns {
		name := c.Name
		if i < len(s.Cols) {
			name = s.Cols[i]
		}
		for _, o := range v.Cols {
			if o.Name == name {
				b.Fail(s.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", name)
			}
		}
		v.Cols = append(v.Cols, catalog.ViewColumn{Name: name, Type: c.Type})
	}
	replaceable(b, s.At, old, v)
	for d := range b.Deps {
		v.Deps = append(v.Deps, catalog.Dep{Schema: d.Schema, Name: d.Name, Col: d.Column, Function: d.Function})
		t, w := b.db.cat.Tables[d.Key], b.db.cat.Views[d.Key]
		if t != nil && t.Temp || w != nil && w.Temp {
			v.Temp = true // as in Postgres: the view lives as long as the temporary table
		}
	}
	if v.Temp {
		k.Schema, v.Schema = "pg_temp", "pg_temp"
	}
	return &catalog.Result{Tag: "CREATE VIEW"}, b.db.putView(k, v)
}

func firstSchema(b *writer, temp bool) string {
	switch {
	case temp:
		return "pg_temp"
	case len(b.Path) > 0:
		return b.Path[0]
	}
	return "public"
}

// replaceable checks that CREATE OR REPLACE VIEW only appends columns.
func replaceable(b *writer, at ast.Pos, old, v *catalog.ViewDef) {
	if old == nil {
		return
	}
	if len(v.Cols) < len(old.Cols) {
		b.Fail(at, "42P16", "cannot drop columns from view")
	}
	for i, c := range old.Cols {
		if v.Cols[i].Name != c.Name {
			b.FailHint(at, "42P16", "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
				"cannot change name of view column \"%s\" to \"%s\"", c.Name, v.Cols[i].Name)
		}
		if !v.Cols[i].Type.Is(c.Type) {
			b.Fail(at, "42P16", "cannot change data type of view column \"%s\" from %s to %s", c.Name, c.Type, v.Cols[i].Type)
		}
	}
}

// selectView binds the text of a view that is being created. It binds the view's own text, because expansions of stars
// are remembered by position there; errors point into the statement.
func selectView(b *writer, v *catalog.ViewDef, s *ast.CreateView) *bind.Query {
	caller, inner := b.Text, &ast.Text{SQL: v.SQL}
	b.Text = inner
	defer func() {
		b.Text = caller
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
	b.Check(s.At, err)
	q := b.SelectQuery(tree, nil)
	q.Settle(b.Binder)
	return q
}

func createSchema(b *writer, s *ast.CreateSchema) (*catalog.Result, error) {
	if b.db.cat.HasSchema(s.Name) {
		if s.IfNotExists {
			return &catalog.Result{Tag: "CREATE SCHEMA",
				Notice: fmt.Sprintf("schema \"%s\" already exists, skipping", s.Name)}, nil
		}
		b.Fail(s.At, "42P06", "schema \"%s\" already exists", s.Name)
	}
	cat := b.db.cat.Clone()
	cat.Schemas = append(cat.Schemas, s.Name)
	b.db.cat = cat
	return &catalog.Result{Tag: "CREATE SCHEMA"}, b.db.save("schema", s.Name, "", struct{}{})
}

func createIndex(b *writer, s *ast.CreateIndex) (*catalog.Result, error) {
	t := tableOf(b, s.At, s.Table.Schema, s.Table.Name)
	refuseInTransaction(b, s.At, s.Outside, "CREATE INDEX CONCURRENTLY")
	x := catalog.Index{Name: s.Name, Unique: s.Unique}
	rel := plainRelation(b, t, t.Name, "")
	sc := &bind.Scope{Relations: []*bind.Relation{rel}, Columns: rel.Columns,
		Level: &bind.Level{InAgg: true, Clause: "index expressions"}}
	b.Literal = true
	var keys []string
	volatile := b.Volatile
	immutable := func(e ast.Expr, what string) {
		if b.Volatile > volatile {
			b.Fail(e.Position(), "42P17", "functions in index %s must be marked IMMUTABLE", what)
		}
	}
	for _, k := range s.Keys {
		noSubQuery(b, k.X, "index expression")
		v := b.Expr(sc, k.X)
		immutable(k.X, "expression")
		if v.Type.Array {
			b.Fail(s.At, sqlerr.DatatypeMismatch, "cannot index an array (%s)", v.Type)
		}
		indexable(b, s.At, v.Type)
		text := v.Collate()
		if k.Desc {
			text += " DESC"
		}
		keys = append(keys, text)
		if r, ok := k.X.(*ast.ColumnRef); ok {
			x.Cols = append(x.Cols, r.Names[len(r.Names)-1])
		}
	}
	if len(x.Cols) < len(keys) {
		x.Cols = nil
	}
	x.Keys = strings.Join(keys, ", ")
	if s.Where != nil {
		noSubQuery(b, s.Where, "index predicate")
		x.Where = bind.BindCondition(b.Binder, sc, s.Where, "index predicates").SQL
		immutable(s.Where, "predicate")
	}
	b.Literal = false
	if x.Name == "" {
		x.Name = freshName(b, t, orName(strings.Join(x.Cols, "_"), "expr"), "idx")
	} else if b.db.cat.Exists(definitions.Key{Schema: t.Schema, Name: x.Name}) {
		if s.IfNotExists {
			return skipped(b, "CREATE INDEX", s.Name)
		}
		b.Fail(s.At, sqlerr.DuplicateTable, "relation \"%s\" already exists", x.Name)
	}
	n := t.Clone()
	n.Indexes = append(n.Indexes, x)
	if err := b.db.exec(definitions.CreateIndex(n, x)); err != nil {
		return nil, notUnique(err, n, x.Name)
	}
	b.db.bump(definitions.KeyOf(t), true)
	return &catalog.Result{Tag: "CREATE INDEX"}, b.db.putTable(definitions.KeyOf(t), n)
}
