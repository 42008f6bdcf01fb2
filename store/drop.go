package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// findIndex finds an index, which stands in the schema of its table; no two have one name.
func findIndex(b *binder, n ast.ObjectName) (*catalog.TableDef, int) {
	for _, t := range b.db.cat.tables {
		if n.Schema != "" && t.Schema != n.Schema || n.Schema == "" && !visibleSchema(b, t.Schema) {
			continue
		}
		for i, x := range t.Indexes {
			if x.Name == n.Name {
				return t, i
			}
		}
	}
	return nil, -1
}

func dropObjects(b *binder, s *ast.Drop) (*catalog.Result, error) {
	r := &catalog.Result{Tag: "DROP " + strings.ToUpper(s.Kind)}
	refuseInTransaction(b, s.At, s.Outside, "DROP INDEX CONCURRENTLY")
	for i, name := range s.Names {
		var args []ast.FuncParam
		if i < len(s.Args) {
			args = s.Args[i]
		}
		found, err := dropOne(b, s, name, args)
		if err != nil {
			return nil, err
		}
		if !found {
			if !s.IfExists {
				undefinedObject(b, s, name.String(), args)
			}
			r.Notice = strings.TrimPrefix(r.Notice+"\n", "\n") +
				fmt.Sprintf("%s %s does not exist, skipping", s.Kind, callName(name.String(), args))
		}
	}
	return r, nil
}

// callName prints the name of an object, of a function with its arguments where they are given.
func callName(name string, args []ast.FuncParam) string {
	if args != nil {
		return callWith(name, args)
	}
	return "\"" + name + "\""
}

func undefinedObject(b *binder, s *ast.Drop, name string, args []ast.FuncParam) {
	code := sqlerr.UndefinedTable
	switch s.Kind {
	case "index", "schema":
		code = sqlerr.UndefinedObject
	case "function", "procedure", "routine":
		code = sqlerr.UndefinedFunction
	}
	hint := ""
	if near := sqlerr.Nearest(name, append(b.db.Relations(), b.db.Functions()...)); near != "" && near != name {
		hint = "Perhaps you meant \"" + near + "\"."
	}
	b.failHint(s.At, code, hint, "%s %s does not exist", s.Kind, callName(name, args))
}

func dropOne(b *binder, s *ast.Drop, n ast.ObjectName, args []ast.FuncParam) (bool, error) {
	schema, name := n.Schema, n.Name
	db := b.db
	switch s.Kind {
	case "table", "view", "materialized view":
		t, v := db.cat.relation(b.path, schema, name)
		switch {
		case t != nil && s.Kind != kindOf(t), v != nil && s.Kind != "view":
			b.fail(s.At, sqlerr.WrongObjectType, "\"%s\" is not a %s", name, s.Kind)
		case t != nil:
			return true, dropTable(b, s, t)
		case v != nil:
			return true, dropView(b, s, v)
		}
		return false, nil
	case "index":
		t, i := findIndex(b, n)
		if t == nil {
			return false, nil
		}
		def := t.Clone()
		def.Indexes = slices.Delete(def.Indexes, i, i+1)
		db.bump(keyOf(t), true)
		if err := db.exec("DROP INDEX " + dbOf(t) + "." + sqltext.Ident(physical(t.Schema, name)+"^i")); err != nil {
			return true, err
		}
		return true, db.putTable(keyOf(t), def)
	case "function", "procedure", "routine":
		k := functionKey(b, n)
		f := db.cat.funcs[k]
		if f == nil || args != nil && !f.Named(args) {
			return false, nil
		}
		if s.Kind != "routine" && f.Procedure != (s.Kind == "procedure") {
			b.failHint(s.At, sqlerr.WrongObjectType, "Write DROP ROUTINE.", "%s is not a %s", f.Signature(), s.Kind)
		}
		if err := dropCallers(b, s, k); err != nil {
			return true, err
		}
		db.cat = db.cat.clone()
		delete(db.cat.funcs, k)
		return true, db.save("function", k.schema, k.name, nil)
	case "schema":
		return dropSchema(b, s, name)
	}
	return false, nil
}

// dropCallers refuses to drop a function that views call; with CASCADE it drops them.
func dropCallers(b *binder, s *ast.Drop, k objectKey) error {
	for _, c := range b.db.cat.callers(k) {
		v := b.db.cat.query(c)
		if v == nil { // gone with another
			continue
		}
		if !s.Cascade {
			fn := b.db.cat.funcs[k].Signature()
			e := sqlerr.At(int(s.At), "2BP01", "cannot drop function %s because other objects depend on it", fn).
				WithDetail("%s %s depends on function %s", b.db.cat.kind(v), v.Name, fn).
				WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
			e.Text = b.text
			panic(e)
		}
		if err := dropView(b, s, v); err != nil {
			return err
		}
	}
	return nil
}

func dropSchema(b *binder, s *ast.Drop, name string) (bool, error) {
	if name == "public" || name == "relgrad" {
		b.fail(s.At, "2BP01", "cannot drop schema %s", name)
	}
	if !b.db.cat.hasSchema(name) {
		return false, nil
	}
	if err := emptySchema(b, s, name); err != nil {
		return true, err
	}
	cat := b.db.cat.clone()
	cat.schemas = slices.DeleteFunc(cat.schemas, func(n string) bool { return n == name })
	b.db.cat = cat
	return true, b.db.save("schema", name, "", nil)
}

// emptySchema drops what a schema holds: views, then tables, those first to which no other refers, and functions.
func emptySchema(b *binder, s *ast.Drop, name string) error {
	of := func(k objectKey) bool { return k.schema == name }
	views, tables, funcs := keysOf(b.db.cat.views, of), keysOf(b.db.cat.tables, of), keysOf(b.db.cat.funcs, of)
	if !s.Cascade && len(views)+len(tables)+len(funcs) > 0 {
		b.failHint(s.At, "2BP01", "Use DROP ... CASCADE to drop the dependent objects too.",
			"cannot drop schema %s because other objects depend on it", name)
	}
	for _, k := range views {
		if v := b.db.cat.views[k]; v != nil { // it may have gone with another
			if err := dropView(b, s, v); err != nil {
				return err
			}
		}
	}
	for len(tables) > 0 {
		i := max(0, slices.IndexFunc(tables, func(k objectKey) bool { return referring(b, k) == nil }))
		if t := b.db.cat.tables[tables[i]]; t != nil { // a materialized view may have gone with another
			if err := dropTable(b, s, t); err != nil {
				return err
			}
		}
		tables = slices.Delete(tables, i, i+1)
	}
	for _, k := range funcs {
		if err := dropCallers(b, s, k); err != nil {
			return err
		}
		b.db.cat = b.db.cat.clone()
		delete(b.db.cat.funcs, k)
		if err := b.db.save("function", k.schema, k.name, nil); err != nil {
			return err
		}
	}
	return nil
}

// keysOf lists the objects for which a condition holds, by name.
func keysOf[T any](m map[objectKey]T, holds func(objectKey) bool) []objectKey {
	var out []objectKey
	for k := range m {
		if holds(k) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(x, y objectKey) int { return before(x.schema, x.name, y.schema, y.name) })
	return out
}

// referring returns a table with a foreign key to another one; nil where there is none.
func referring(b *binder, to objectKey) *catalog.TableDef {
	for _, k := range keysOf(b.db.cat.tables, func(k objectKey) bool { return k != to }) {
		o := b.db.cat.tables[k]
		if slices.ContainsFunc(o.Foreign, func(f catalog.Foreign) bool {
			return f.Schema == to.schema &&
				f.Name == to.name
		}) {
			return o
		}
	}
	return nil
}

func dropTable(b *binder, s *ast.Drop, t *catalog.TableDef) error {
	dependentsAllowed(b, s, kindOf(t), keyOf(t))
	if o := referring(b, keyOf(t)); o != nil {
		b.failHint(s.At, "2BP01", "Drop table "+o.Name+" first.", "cannot drop table %s because other objects depend on it",
			t.Name)
	}
	if err := dropDependents(b, s, keyOf(t)); err != nil {
		return err
	}
	if err := b.db.exec("DROP TABLE " + sqlOf(t)); err != nil {
		return err
	}
	b.db.bump(keyOf(t), true)
	return b.db.putTable(keyOf(t), nil)
}

func dropView(b *binder, s *ast.Drop, v *catalog.ViewDef) error {
	k := objectKey{v.Schema, v.Name}
	dependentsAllowed(b, s, b.db.cat.kind(v), k)
	if err := dropDependents(b, s, k); err != nil {
		return err
	}
	return removeQuery(b.db, v)
}

// dropDependents drops the views on a relation; without CASCADE they are dropped by their own names.
func dropDependents(b *binder, s *ast.Drop, k objectKey) error {
	if !s.Cascade {
		return nil
	}
	for _, v := range b.db.cat.dependents(k, "") {
		if err := removeQuery(b.db, v); err != nil {
			return err
		}
	}
	return nil
}

// dependentsAllowed refuses a DROP that views depend on, except with CASCADE or when they are dropped too.
func dependentsAllowed(b *binder, s *ast.Drop, kind string, k objectKey) {
	if s.Cascade {
		return
	}
	for _, v := range b.db.cat.dependents(k, "") {
		if s.Kind == b.db.cat.kind(v) && slices.ContainsFunc(s.Names, func(n ast.ObjectName) bool { return means(b, n, v) }) {
			continue
		}
		e := sqlerr.At(int(s.At), "2BP01", "cannot drop %s %s because other objects depend on it", kind, k.name).
			WithDetail("%s %s depends on %s %s", b.db.cat.kind(v), v.Name, kind, k.name).
			WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
		e.Text = b.text
		panic(e)
	}
}

// means reports whether a name is that of a view.
func means(b *binder, n ast.ObjectName, v *catalog.ViewDef) bool {
	t, named := b.db.cat.relation(b.path, n.Schema, n.Name)
	if t != nil {
		named = t.Matview
	}
	return named != nil && named.Schema == v.Schema && named.Name == v.Name
}

// functionKey finds the schema of a function's name; the function need not be there.
func functionKey(b *binder, n ast.ObjectName) objectKey {
	for _, s := range b.path {
		if k := (objectKey{s, n.Name}); n.Schema == "" && b.db.cat.funcs[k] != nil {
			return k
		}
	}
	return objectKey{n.Schema, n.Name}
}
