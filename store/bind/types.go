package bind

import (
	"fmt"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
)

// TypeOf resolves a type name of the user's text.
func TypeOf(b *Binder, n ast.TypeName) catalog.Type {
	t := catalog.Type{Name: n.Name, Array: n.Dims > 0, Rank: n.Dims}
	switch n.Name {
	case "character varying":
		t.Name = "text"
	case "\"char\"":
		b.Refuse(n.At, "the type \"char\", of one byte,", "Use text.")
	case "character":
		b.Refuse(n.At, "type character(n), which pads with blanks", "Use text, or ")
	case "oid":
		b.Refuse(n.At, "the type oid, whose numbers have no sign", "Use bigint.")
	case "regclass":
		b.Refuse(n.At, "the type regclass", "Name the table in information_schema.tables: table_name = 't'.")
	}
	modifiers(b, n, t)
	if columns.Storage[t.Name] == "" {
		if t, v := b.session.Definitions().Relation(b.Path, n.Schema, n.Name); t != nil || v != nil {
			b.FailHint(n.At, sqlerr.UndefinedObject, "A table's row type stands only in FROM gradient('loss', NULL::"+n.Name+
				").", "a value of the row type \"%s\" cannot stand here", n.Name)
		}
		names := make([]string, 0, len(columns.Storage))
		for k := range columns.Storage {
			names = append(names, k)
		}
		if near := sqlerr.Nearest(n.Name, names); near != "" && len(n.Name) > 2 {
			b.FailHint(n.At, sqlerr.UndefinedObject, "Perhaps you meant \""+near+"\".",
				"type \"%s\" does not exist in the embedded store", n.Name)
		}
		b.FailHint(n.At, sqlerr.UndefinedObject, "", "type \"%s\" does not exist in the embedded store", n.Name)
	}
	return t
}

// modifiers refuses modifiers that a type does not have.
func modifiers(b *Binder, n ast.TypeName, t catalog.Type) {
	if len(n.Mods) == 0 {
		return
	}
	m, most := n.Mods[0], 1
	invalid := func(format string, args ...any) { b.Fail(n.At, sqlerr.InvalidParameter, format, args...) }
	switch {
	case n.Name == "numeric":
		if most = 2; m < 1 || m > 1000 {
			invalid("NUMERIC precision %d must be between 1 and 1000", m)
		}
		if len(n.Mods) > 1 && (n.Mods[1] < -1000 || n.Mods[1] > 1000) {
			invalid("NUMERIC scale %d must be between -1000 and 1000", n.Mods[1])
		}
	case n.Name == "character varying":
		if m < 1 {
			invalid("length for type varchar must be at least 1")
		}
		if m > 10485760 {
			invalid("length for type varchar cannot exceed 10485760")
		}
	case t.Elem().IsTime() && n.Name != "date":
		if m < 0 || m > 6 {
			b.Refuse(n.At, fmt.Sprintf("a precision of %d digits of type %s", m, n.Name), "The most is 6.")
		}
	default:
		b.Fail(n.At, sqlerr.Syntax, "type modifier is not allowed for type \"%s\"", n.Name)
	}
	if len(n.Mods) > most {
		invalid("invalid %s type modifier", n.Name)
	}
	if t.Array {
		b.Refuse(n.At, "an array whose elements have a precision or a length",
			"Leave it out, or cast the elements: ARRAY(SELECT x::numeric(5, 2) FROM unnest(a) AS x).")
	}
}
