package store

import (
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// A materialized view is a table that holds the rows of a view as of its creation or its last REFRESH. Nothing else
// writes it.

// materializedQuery binds the query of CREATE MATERIALIZED VIEW and keeps it with the table, as a view.
func materializedQuery(b *binder, t *catalog.TableDef, s *ast.CreateTableAs) *query {
	v := &catalog.ViewDef{Schema: t.Schema, Name: t.Name, SQL: s.SQL, Path: b.path, Stars: map[int][]string{}}
	b.stars, b.unread = v.Stars, s.NoData
	q := selectView(b, v, &ast.CreateView{Node: s.Node, SQL: s.SQL, SQLAt: s.SQLAt})
	b.stars, b.unread = nil, false
	for d := range b.deps {
		t, w := b.db.cat.tables[d.objectKey], b.db.cat.views[d.objectKey]
		if t != nil && t.Temp || w != nil && w.Temp {
			b.fail(s.At, sqlerr.FeatureNotSupported, "materialized views must not use temporary tables or views")
		}
		v.Deps = append(v.Deps, catalog.Dep{Schema: d.schema, Name: d.name, Col: d.col, Function: d.function})
	}
	t.Matview, t.Unread = v, s.NoData
	return q
}

// refreshView fills a materialized view anew.
func refreshView(b *binder, s *ast.Refresh) (*catalog.Result, error) {
	t, v := b.db.cat.relation(b.path, s.Schema, s.Name)
	switch {
	case t == nil && v == nil:
		b.undefinedTable(s.At, s.Schema, s.Name)
	case t == nil || t.Matview == nil:
		b.fail(s.At, sqlerr.FeatureNotSupported, "\"%s\" is not a materialized view", s.Name)
	}
	b.check(s.At, b.db.use(t))
	n := t.Clone()
	n.Unread = s.NoData
	n.Count = &catalog.Count{}
	for i := range n.Cols {
		n.Cols[i].Shape = nil
	}
	var list, exprs []string
	var from string
	if !s.NoData { // bound before its rows go
		r := viewRef(b, &ast.TableRef{Node: s.Node}, t.Matview)
		from = r.sql
		for i := range n.Cols {
			c := r.rel.cols[i]
			list = append(list, ident(n.Cols[i].Name))
			exprs = append(exprs, b.assign(val{sql: c.sql, typ: c.typ, at: s.At}, n, &n.Cols[i]))
		}
	}
	if err := b.db.exec("DELETE FROM " + sqlOf(t)); err != nil {
		return nil, err
	}
	b.db.bump(keyOf(t), true)
	if err := b.db.putTable(keyOf(t), n); err != nil || s.NoData {
		return &catalog.Result{Tag: "REFRESH MATERIALIZED VIEW"}, err
	}
	rows := "SELECT " + strings.Join(exprs, ", ") + " FROM " + from + " WHERE TRUE"
	sql := "INSERT INTO " + sqlOf(t) + " (" + strings.Join(list, ", ") + ") " + rows
	if _, err := runWrite(b, n, nil, sql, "SELECT", returning{}, true); err != nil {
		return nil, err
	}
	return &catalog.Result{Tag: "REFRESH MATERIALIZED VIEW"}, nil
}

// populated refuses to read a materialized view WITH NO DATA.
func populated(t *catalog.TableDef) error {
	if !t.Unread {
		return nil
	}
	return sqlerr.New(sqlerr.ObjectNotPrereqState, "materialized view \"%s\" has not been populated", t.Name).
		WithHint("Use the REFRESH MATERIALIZED VIEW command.")
}

// kindOf names what a table is.
func kindOf(t *catalog.TableDef) string {
	if t.Matview != nil {
		return "materialized view"
	}
	return "table"
}

// removeQuery drops a view or a materialized view, with nothing else.
func removeQuery(db *DB, v *catalog.ViewDef) error {
	k := objectKey{v.Schema, v.Name}
	t := db.cat.tables[k]
	if t == nil {
		return db.putView(k, nil)
	}
	if err := db.exec("DROP TABLE " + sqlOf(t)); err != nil {
		return err
	}
	db.bump(k, true)
	return db.putTable(k, nil)
}
