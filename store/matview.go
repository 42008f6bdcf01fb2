package store

import (
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/definitions"
)

// A materialized view is a table that holds a view's rows as of its creation or last REFRESH. Only REFRESH writes it.

// materializedQuery binds the query of CREATE MATERIALIZED VIEW and stores it with the table, as a view.
func materializedQuery(b *writer, t *catalog.TableDef, s *ast.CreateTableAs) *bind.Query {
	v := &catalog.ViewDef{Schema: t.Schema, Name: t.Name, SQL: s.SQL, Path: b.Path, Stars: map[int][]string{}}
	b.Stars, b.Unread = v.Stars, s.NoData
	q := selectView(b, v, &ast.CreateView{Node: s.Node, SQL: s.SQL, SQLAt: s.SQLAt})
	b.Stars, b.Unread = nil, false
	for d := range b.Deps {
		t, w := b.db.cat.Tables[d.Key], b.db.cat.Views[d.Key]
		if t != nil && t.Temp || w != nil && w.Temp {
			b.Fail(s.At, sqlerr.FeatureNotSupported, "materialized views must not use temporary tables or views")
		}
		v.Deps = append(v.Deps, catalog.Dep{Schema: d.Schema, Name: d.Name, Col: d.Column, Function: d.Function})
	}
	t.Matview, t.Unread = v, s.NoData
	return q
}

// refreshView fills a materialized view anew.
func refreshView(b *writer, s *ast.Refresh) (*catalog.Result, error) {
	t, v := b.db.cat.Relation(b.Path, s.Schema, s.Name)
	switch {
	case t == nil && v == nil:
		b.UndefinedTable(s.At, s.Schema, s.Name)
	case t == nil || t.Matview == nil:
		b.Fail(s.At, sqlerr.FeatureNotSupported, "\"%s\" is not a materialized view", s.Name)
	}
	b.Check(s.At, b.db.use(t))
	n := t.Clone()
	n.Unread = s.NoData
	n.Count = &catalog.Count{}
	for i := range n.Cols {
		n.Cols[i].Shape = nil
	}
	var list, exprs []string
	var from string
	if !s.NoData { // bound before the old rows are deleted
		r := bind.ViewRef(b.Binder, &ast.TableRef{Node: s.Node}, t.Matview)
		from = r.SQL
		for i := range n.Cols {
			c := r.Relation.Columns[i]
			list = append(list, definitions.Ident(n.Cols[i].Name))
			exprs = append(exprs, b.Assign(bind.Value{SQL: c.SQL, Type: c.Type, At: s.At}, n, &n.Cols[i]))
		}
	}
	if err := b.db.exec("DELETE FROM " + definitions.SQL(t)); err != nil {
		return nil, err
	}
	b.db.bump(definitions.KeyOf(t), true)
	if err := b.db.putTable(definitions.KeyOf(t), n); err != nil || s.NoData {
		return &catalog.Result{Tag: "REFRESH MATERIALIZED VIEW"}, err
	}
	rows := "SELECT " + strings.Join(exprs, ", ") + " FROM " + from + " WHERE TRUE"
	sql := "INSERT INTO " + definitions.SQL(t) + " (" + strings.Join(list, ", ") + ") " + rows
	if _, err := runWrite(b, n, nil, sql, "SELECT", returning{}, true); err != nil {
		return nil, err
	}
	return &catalog.Result{Tag: "REFRESH MATERIALIZED VIEW"}, nil
}

// removeQuery drops a view or materialized view, but none that depend on it.
func removeQuery(db *DB, v *catalog.ViewDef) error {
	k := definitions.Key{Schema: v.Schema, Name: v.Name}
	t := db.cat.Tables[k]
	if t == nil {
		return db.putView(k, nil)
	}
	if err := db.exec("DROP TABLE " + definitions.SQL(t)); err != nil {
		return err
	}
	db.bump(k, true)
	return db.putTable(k, nil)
}
