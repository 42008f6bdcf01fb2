package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/definitions"
)

// findIndex finds an index. It belongs to the schema of its table, and its name is unique there.
func findIndex(b *writer, n ast.ObjectName) (*catalog.TableDef, int) {
	for _, t := range b.db.cat.Tables {
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

func dropObjects(b *writer, s *ast.Drop) (*catalog.Result, error) {
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

func undefinedObject(b *writer, s *ast.Drop, name string, args []ast.FuncParam) {
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
	b.FailHint(s.At, code, hint, "%s %s does not exist", s.Kind, callName(name, args))
}

func dropOne(b *writer, s *ast.Drop, n ast.ObjectName, args []ast.FuncParam) (bool, error) {
	schema, name := n.Schema, n.Name
	db := b.db
	switch s.Kind {
	case "table", "view", "materialized view":
		t, v := db.cat.Relation(b.Path, schema, name)
		switch {
		case t != nil && s.Kind != definitions.KindOf(t), v != nil && s.Kind != "view":
			b.Fail(s.At, sqlerr.WrongObjectType, "\"%s\" is not a %s", name, s.Kind)
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
		db.bump(definitions.KeyOf(t), true)
		if err := db.exec("DROP INDEX " + definitions.Database(t) + "." +
			sqltext.Ident(definitions.FileNameOf(t.Schema, name)+"^i")); err != nil {
			return true, err
		}
		return true, db.putTable(definitions.KeyOf(t), def)
	case "function", "procedure", "routine":
		k := functionKey(b, n)
		f := db.cat.Funcs[k]
		if f == nil || args != nil && !f.Named(args) {
			return false, nil
		}
		if s.Kind != "routine" && f.Procedure != (s.Kind == "procedure") {
			b.FailHint(s.At, sqlerr.WrongObjectType, "Write DROP ROUTINE.", "%s is not a %s", f.Signature(), s.Kind)
		}
		if err := dropCallers(b, s, k); err != nil {
			return true, err
		}
		db.cat = db.cat.Clone()
		delete(db.cat.Funcs, k)
		return true, db.save("function", k.Schema, k.Name, nil)
	case "schema":
		return dropSchema(b, s, name)
	}
	return false, nil
}

// dropCallers refuses to drop a function that views call; with CASCADE it drops them.
func dropCallers(b *writer, s *ast.Drop, k definitions.Key) error {
	for _, c := range b.db.cat.Callers(k) {
		v := b.db.cat.Query(c)
		if v == nil { // dropped together with another view
			continue
		}
		if !s.Cascade {
			fn := b.db.cat.Funcs[k].Signature()
			e := sqlerr.At(int(s.At), "2BP01", "cannot drop function %s because other objects depend on it", fn).
				WithDetail("%s %s depends on function %s", b.db.cat.Kind(v), v.Name, fn).
				WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
			e.Text = b.Text
			panic(e)
		}
		if err := dropView(b, s, v); err != nil {
			return err
		}
	}
	return nil
}

func dropSchema(b *writer, s *ast.Drop, name string) (bool, error) {
	if name == "public" || name == "relgrad" {
		b.Fail(s.At, "2BP01", "cannot drop schema %s", name)
	}
	if !b.db.cat.HasSchema(name) {
		return false, nil
	}
	if err := emptySchema(b, s, name); err != nil {
		return true, err
	}
	cat := b.db.cat.Clone()
	cat.Schemas = slices.DeleteFunc(cat.Schemas, func(n string) bool { return n == name })
	b.db.cat = cat
	return true, b.db.save("schema", name, "", nil)
}

// emptySchema drops the content of a schema: views, then tables (first those to which no other table refers), then
// functions.
func emptySchema(b *writer, s *ast.Drop, name string) error {
	of := func(k definitions.Key) bool { return k.Schema == name }
	views, tables, funcs := definitions.SortedKeys(b.db.cat.Views, of), definitions.SortedKeys(b.db.cat.Tables,
		of), definitions.SortedKeys(b.db.cat.Funcs, of)
	if !s.Cascade && len(views)+len(tables)+len(funcs) > 0 {
		b.FailHint(s.At, "2BP01", "Use DROP ... CASCADE to drop the dependent objects too.",
			"cannot drop schema %s because other objects depend on it", name)
	}
	for _, k := range views {
		if v := b.db.cat.Views[k]; v != nil { // it may have gone with another
			if err := dropView(b, s, v); err != nil {
				return err
			}
		}
	}
	for len(tables) > 0 {
		i := max(0, slices.IndexFunc(tables, func(k definitions.Key) bool { return referring(b, k) == nil }))
		if t := b.db.cat.Tables[tables[i]]; t != nil { // a materialized view may have gone with another
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
		b.db.cat = b.db.cat.Clone()
		delete(b.db.cat.Funcs, k)
		if err := b.db.save("function", k.Schema, k.Name, nil); err != nil {
			return err
		}
	}
	return nil
}

// referring returns a table with a foreign key to another one; nil where there is none.
func referring(b *writer, to definitions.Key) *catalog.TableDef {
	for _, k := range definitions.SortedKeys(b.db.cat.Tables, func(k definitions.Key) bool { return k != to }) {
		o := b.db.cat.Tables[k]
		if slices.ContainsFunc(o.Foreign, func(f catalog.Foreign) bool {
			return f.Schema == to.Schema && f.Name == to.Name
		}) {
			return o
		}
	}
	return nil
}

func dropTable(b *writer, s *ast.Drop, t *catalog.TableDef) error {
	dependentsAllowed(b, s, definitions.KindOf(t), definitions.KeyOf(t))
	if o := referring(b, definitions.KeyOf(t)); o != nil {
		b.FailHint(s.At, "2BP01", "Drop table "+o.Name+" first.", "cannot drop table %s because other objects depend on it",
			t.Name)
	}
	if err := dropDependents(b, s, definitions.KeyOf(t)); err != nil {
		return err
	}
	if err := b.db.exec("DROP TABLE " + definitions.SQL(t)); err != nil {
		return err
	}
	b.db.bump(definitions.KeyOf(t), true)
	return b.db.putTable(definitions.KeyOf(t), nil)
}

func dropView(b *writer, s *ast.Drop, v *catalog.ViewDef) error {
	k := definitions.Key{Schema: v.Schema, Name: v.Name}
	dependentsAllowed(b, s, b.db.cat.Kind(v), k)
	if err := dropDependents(b, s, k); err != nil {
		return err
	}
	return removeQuery(b.db, v)
}

// dropDependents drops the views that depend on a relation. Without CASCADE the statement names them itself.
func dropDependents(b *writer, s *ast.Drop, k definitions.Key) error {
	if !s.Cascade {
		return nil
	}
	for _, v := range b.db.cat.Dependents(k, "") {
		if err := removeQuery(b.db, v); err != nil {
			return err
		}
	}
	return nil
}

// dependentsAllowed refuses a DROP that views depend on, except with CASCADE or when they are dropped too.
func dependentsAllowed(b *writer, s *ast.Drop, kind string, k definitions.Key) {
	if s.Cascade {
		return
	}
	for _, v := range b.db.cat.Dependents(k, "") {
		if s.Kind == b.db.cat.Kind(v) && slices.ContainsFunc(s.Names, func(n ast.ObjectName) bool { return means(b, n, v) }) {
			continue
		}
		e := sqlerr.At(int(s.At), "2BP01", "cannot drop %s %s because other objects depend on it", kind, k.Name).
			WithDetail("%s %s depends on %s %s", b.db.cat.Kind(v), v.Name, kind, k.Name).
			WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
		e.Text = b.Text
		panic(e)
	}
}

// means reports whether a name refers to a view.
func means(b *writer, n ast.ObjectName, v *catalog.ViewDef) bool {
	t, named := b.db.cat.Relation(b.Path, n.Schema, n.Name)
	if t != nil {
		named = t.Matview
	}
	return named != nil && named.Schema == v.Schema && named.Name == v.Name
}

// functionKey finds the schema in which a function's name lies, even if the function does not exist.
func functionKey(b *writer, n ast.ObjectName) definitions.Key {
	for _, s := range b.Path {
		if k := (definitions.Key{Schema: s, Name: n.Name}); n.Schema == "" && b.db.cat.Funcs[k] != nil {
			return k
		}
	}
	return definitions.Key{Schema: n.Schema, Name: n.Name}
}
