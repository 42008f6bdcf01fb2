package store

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
)

func onConflict(b *writer, s *ast.Insert, t *catalog.TableDef) string {
	oc := s.OnConflict
	if oc == nil {
		return ""
	}
	out := " ON CONFLICT"
	if len(oc.Cols) > 0 {
		for _, c := range oc.Cols {
			columnOf(b, s.At, t, c)
		}
		if !definitions.HasUnique(t, oc.Cols) {
			b.Fail(s.At, sqlerr.InvalidColumnRef,
				"there is no unique or exclusion constraint matching the ON CONFLICT specification")
		}
		out += " (" + definitions.Idents(oc.Cols) + ")"
	}
	if oc.Set == nil {
		return out + " DO NOTHING"
	}
	if len(oc.Cols) == 0 {
		b.Fail(s.At, sqlerr.Syntax, "ON CONFLICT DO UPDATE requires inference specification or constraint name")
	}
	if insertAlias(b, s) == "excluded" {
		b.FailHint(s.At, "42P09", "Give the table an alias: INSERT INTO excluded AS t.",
			"table reference \"excluded\" is ambiguous")
	}
	name := insertAlias(b, s)
	mine := plainRelation(b, t, name, definitions.Ident(name))
	excluded := plainRelation(b, t, "excluded", "excluded")
	sc := &bind.Scope{Relations: []*bind.Relation{mine, excluded}, Columns: mine.Columns,
		Level: &bind.Level{InAgg: true, Clause: "ON CONFLICT"}}
	out += " DO UPDATE SET " + strings.Join(assignments(b, sc, t, oc.Set), ", ")
	if oc.Where != nil {
		out += " WHERE " + bind.BindCondition(b.Binder, sc, oc.Where, "WHERE").SQL
	}
	return out
}

// proposedKey gives the positions of the conflict target's columns in the list of columns, and which of them are
// numeric; nil where ON CONFLICT updates nothing.
func proposedKey(b *writer, s *ast.Insert, t *catalog.TableDef, list []string) (key []int, kinds string) {
	if s.OnConflict == nil || s.OnConflict.Set == nil {
		return nil, ""
	}
	for _, c := range s.OnConflict.Cols {
		if i := slices.Index(list, definitions.Ident(c)); i >= 0 {
			key = append(key, i)
			kinds += "-n"[columns.Bit(columnOf(b, s.At, t, c).Type.Is(catalog.Numeric)):][:1]
		}
	}
	return key, kinds
}

// onceProposed makes the first expression of a key check that no earlier row of the statement has the same key:
// Postgres refuses that, but SQLite would update the row again.
func onceProposed(exprs []string, key []int, kinds string) []string {
	args := []string{sqltext.Plain(kinds)}
	for _, k := range key {
		args = append(args, exprs[k])
	}
	out := slices.Clone(exprs)
	out[key[0]] = "rg_proposed(" + strings.Join(args, ", ") + ")"
	return out
}

// b2point is the point that a number without one needs before its trailing zeros can be cut.
func b2point(digits string) string {
	if strings.Contains(digits, ".") {
		return ""
	}
	return "."
}
