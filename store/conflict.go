package store

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
)

// onConflict prints ON CONFLICT.
func onConflict(b *binder, s *ast.Insert, t *catalog.TableDef) string {
	oc := s.OnConflict
	if oc == nil {
		return ""
	}
	out := " ON CONFLICT"
	if len(oc.Cols) > 0 {
		for _, c := range oc.Cols {
			columnOf(b, s.At, t, c)
		}
		if !hasUnique(t, oc.Cols) {
			b.fail(s.At, sqlerr.InvalidColumnRef,
				"there is no unique or exclusion constraint matching the ON CONFLICT specification")
		}
		out += " (" + idents(oc.Cols) + ")"
	}
	if oc.Set == nil {
		return out + " DO NOTHING"
	}
	if len(oc.Cols) == 0 {
		b.fail(s.At, sqlerr.Syntax, "ON CONFLICT DO UPDATE requires inference specification or constraint name")
	}
	if insertAlias(b, s) == "excluded" {
		b.failHint(s.At, "42P09", "Give the table an alias: INSERT INTO excluded AS t.",
			"table reference \"excluded\" is ambiguous")
	}
	name := insertAlias(b, s)
	mine := plainRelation(b, t, name, ident(name))
	excluded := plainRelation(b, t, "excluded", "excluded")
	sc := &scope{rels: []*relation{mine, excluded}, cols: mine.cols, level: &level{inAgg: true, clause: "ON CONFLICT"}}
	out += " DO UPDATE SET " + strings.Join(assignments(b, sc, t, oc.Set), ", ")
	if oc.Where != nil {
		out += " WHERE " + bindCondition(b, sc, oc.Where, "WHERE").sql
	}
	return out
}

func hasUnique(t *catalog.TableDef, cols []string) bool {
	same := func(u []string) bool {
		if len(u) != len(cols) {
			return false
		}
		for _, c := range cols {
			found := false
			for _, d := range u {
				found = found || c == d
			}
			if !found {
				return false
			}
		}
		return true
	}
	if t.PK != nil && same(t.PK.Cols) {
		return true
	}
	for _, u := range t.Uniques {
		if same(u.Cols) {
			return true
		}
	}
	for _, x := range t.Indexes {
		if x.Unique && x.Where == "" && same(x.Cols) {
			return true
		}
	}
	return false
}

// proposedKey gives the places of the conflict target's columns among those that are given values, nil where ON
// CONFLICT updates nothing.
func proposedKey(b *binder, s *ast.Insert, t *catalog.TableDef, list []string) (key []int, kinds string) {
	if s.OnConflict == nil || s.OnConflict.Set == nil {
		return nil, ""
	}
	for _, c := range s.OnConflict.Cols {
		if i := slices.Index(list, ident(c)); i >= 0 {
			key = append(key, i)
			kinds += "-n"[columns.Bit(columnOf(b, s.At, t, c).Type.Is(catalog.Numeric)):][:1]
		}
	}
	return key, kinds
}

// onceProposed lets the first expression of a key see whether a row with that key has been proposed before, which
// SQLite would update again.
func onceProposed(exprs []string, key []int, kinds string) []string {
	args := []string{sqltext.Plain(kinds)}
	for _, k := range key {
		args = append(args, exprs[k])
	}
	out := slices.Clone(exprs)
	out[key[0]] = "rg_proposed(" + strings.Join(args, ", ") + ")"
	return out
}

// b2point is a point for a numeric that has none, so that the zeros behind it can be cut.
func b2point(digits string) string {
	if strings.Contains(digits, ".") {
		return ""
	}
	return "."
}
