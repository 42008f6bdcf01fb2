package store

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/definitions"
)

// checkMention refuses a statement that mentions an object which does not exist.
func checkMention(b *writer, at ast.Pos, m ast.Mention) {
	if s := m.Schema; s != "" && s != "pg_temp" && s != "pg_catalog" && !b.db.cat.HasSchema(s) {
		noSchema(b, at, s)
	}
	switch m.Kind {
	case "schema":
		if !b.db.cat.HasSchema(m.Name) {
			noSchema(b, at, m.Name)
		}
	case "function", "procedure", "routine":
		mentionedFunction(b, at, m)
	case "index":
		mentionedIndex(b, at, m)
	case "sequence":
		if !isSequence(b, m.ObjectName) {
			b.UndefinedTable(at, m.Schema, m.Name)
		}
	default:
		mentionedRelation(b, at, m)
	}
}

func noSchema(b *writer, at ast.Pos, name string) {
	hint := perhaps(name, b.db.cat.Schemas)
	if hint == "" {
		hint = "The embedded store has the schemas " + strings.Join(b.db.cat.Schemas, ", ") + "."
	}
	b.FailHint(at, "3F000", hint, "schema \"%s\" does not exist", name)
}

func mentionedRelation(b *writer, at ast.Pos, m ast.Mention) {
	t, v := b.db.cat.Relation(b.Path, m.Schema, m.Name)
	switch {
	case t == nil && v == nil:
		if t, _ := findIndex(b, m.ObjectName); t != nil || isSequence(b, m.ObjectName) {
			b.Fail(at, sqlerr.WrongObjectType, "\"%s\" is not a table or view", m.Name)
		}
		b.UndefinedTable(at, m.Schema, m.Name)
	case m.Kind == "table" && (t == nil || t.Matview != nil), m.Kind == "materialized view" &&
		(t == nil || t.Matview == nil), m.Kind == "view" && v == nil:
		b.Fail(at, sqlerr.WrongObjectType, "\"%s\" is not a %s", m.Name, m.Kind)
	case m.Kind == "constraint":
		if t == nil {
			b.Fail(at, sqlerr.WrongObjectType, "\"%s\" is not a table", m.Name)
		}
		names := definitions.ConstraintNames(t)
		if !slices.Contains(names, m.Parts[0]) && !slices.Contains(names, "") { // an old foreign key has no name
			b.FailHint(at, sqlerr.UndefinedObject, perhaps(m.Parts[0], names),
				"constraint \"%s\" for table \"%s\" does not exist", m.Parts[0], t.Name)
		}
	case t != nil:
		for _, c := range m.Parts {
			columnOf(b, at, t, c)
		}
	default: // columns of a view are treated as a table's
		cols := &catalog.TableDef{Name: v.Name}
		for _, c := range v.Cols {
			cols.Cols = append(cols.Cols, catalog.Column{Name: c.Name})
		}
		for _, c := range m.Parts {
			columnOf(b, at, cols, c)
		}
	}
}

// perhaps is a hint at the most similar of the names, "" where none is similar.
func perhaps(name string, names []string) string {
	if near := sqlerr.Nearest(name, names); near != "" {
		return "Perhaps you meant \"" + near + "\"."
	}
	return ""
}

func mentionedIndex(b *writer, at ast.Pos, m ast.Mention) {
	var known []string
	for _, k := range definitions.SortedKeys(b.db.cat.Tables, func(k definitions.Key) bool {
		return m.Schema == k.Schema || m.Schema == "" && visibleSchema(b, k.Schema)
	}) {
		t := b.db.cat.Tables[k]
		known = append(known, definitions.KeyNames(t)...)
		for _, x := range t.Indexes {
			known = append(known, x.Name)
		}
	}
	if slices.Contains(known, m.Name) {
		return
	}
	if t, v := b.db.cat.Relation(b.Path, m.Schema, m.Name); t != nil || v != nil {
		b.Fail(at, sqlerr.WrongObjectType, "\"%s\" is not an index", m.Name)
	}
	b.FailHint(at, sqlerr.UndefinedTable, perhaps(m.Name, known), "index \"%s\" does not exist", m.ObjectName)
}

// visibleSchema reports whether names are looked up in a schema.
func visibleSchema(b *writer, schema string) bool {
	return schema == "pg_temp" || slices.Contains(b.Path, schema)
}

// isSequence reports whether Postgres would have a sequence of this name for an identity column.
func isSequence(b *writer, n ast.ObjectName) bool {
	for k, t := range b.db.cat.Tables {
		if n.Schema != "" && k.Schema != n.Schema || n.Schema == "" && !visibleSchema(b, k.Schema) {
			continue
		}
		for _, c := range t.Cols {
			if c.Identity != nil && n.Name == definitions.ObjectName(t.Name, c.Name, "seq") {
				return true
			}
		}
	}
	return false
}

// callWith prints a function's name with arguments.
func callWith(name string, args []ast.FuncParam) string {
	return (&ast.CreateFunction{Name: name, Params: args}).Signature()
}

// mentionedFunction finds a function, the user's or a built-in one, by name alone: no two functions of a user have the
// same name.
func mentionedFunction(b *writer, at ast.Pos, m ast.Mention) {
	f := b.db.cat.Funcs[functionKey(b, m.ObjectName)]
	switch {
	case f != nil && (m.Kind == "function" && f.Procedure || m.Kind == "procedure" && !f.Procedure):
		other := map[bool]string{true: "procedure", false: "function"}[f.Procedure]
		b.FailHint(at, sqlerr.WrongObjectType, "Write "+strings.ToUpper(other)+" "+m.Name+".", "%s is not a %s", m.Name,
			m.Kind)
	case f == nil:
		known := []string{"train"}
		if m.Kind != "procedure" {
			known = append(append(bind.BuiltinNames(), "gradient", "check_gradient"), known...)
		}
		if slices.Contains(known, m.Name) {
			return
		}
		b.FailHint(at, sqlerr.UndefinedFunction, perhaps(m.Name, append(known, b.db.Functions()...)),
			"could not find a %s named \"%s\"", m.Kind, m.Name)
	case m.Args != nil && !f.Named(m.Args):
		b.FailHint(at, sqlerr.UndefinedFunction, "There is "+f.Signature()+".", "%s %s does not exist", m.Kind,
			callWith(m.Name, m.Args))
	}
}
