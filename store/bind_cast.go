package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
)

// coerce converts a value to a type that it reaches implicitly, or that an untyped literal can be read as.
func (b *binder) coerce(v val, t catalog.Type) val {
	if v.typ.Is(t) {
		return v
	}
	return b.cast(v.at, v, t, nil)
}

func bindCast(b *binder, s *scope, e *ast.Cast) val {
	t := typeOf(b, e.Type)
	if a, ok := e.X.(*ast.ArrayLit); ok && t.Array && len(a.Elems) == 0 {
		return val{sql: b.constant(e.At, columns.EmptyArray(t.Elem()), t), typ: t, at: e.At, notNull: true}
	}
	v := b.expr(s, e.X)
	if e.Argument != "" && !catalog.Implicit(v.typ, t) && !(v.typ.Is(catalog.Text) && t.Is(catalog.Name)) {
		b.failHint(v.at, sqlerr.UndefinedFunction, "You might need to add an explicit type cast.",
			"function %s does not take %s for %s", e.Argument, v.typ, t)
	}
	return b.cast(e.At, v, t, e.Type.Mods)
}

// cast is an explicit conversion, also used for implicit ones, which are a subset.
func (b *binder) cast(at ast.Pos, v val, t catalog.Type, mods []int) val {
	out := val{typ: t, at: at, notNull: v.notNull, mods: mods}
	switch {
	case v.typ.Is(t):
		out.sql, out.lit = v.sql, v.lit
	case v.lit != nil && v.lit.Kind == ast.LitNull:
		out.sql = "NULL"
	case v.lit != nil && !v.typ.Is(catalog.Bool):
		x, err := literalAs(b, v.lit, v.typ, t)
		b.check(v.at, err)
		out.sql = b.constant(at, x, t)
		out.bound = &ast.Bound{Value: x, Type: t.String()}
	case v.elems != nil && t.Array:
		return castElems(b, at, v, t)
	default:
		out.sql = castSQL(b, at, v, t)
	}
	if len(mods) > 0 {
		out.sql, out.lit = modifyType(b, out.sql, t, mods), nil
	}
	return out
}

// literalAs reads a literal as a value of t. Numbers go through their own type first: 2.5::int is 3.
func literalAs(b *binder, l *ast.Literal, from, t catalog.Type) (any, error) {
	switch {
	case from.IsUnknown():
		return columns.Convert(l.Value, catalog.Text, t)
	case from.Is(catalog.Numeric) && t.Is(catalog.Text): // 1e2 prints as 100
		n, err := columns.Convert(l.Value, catalog.Text, catalog.Numeric)
		if err != nil {
			return nil, err
		}
		return columns.Convert(n, from, t)
	case from.IsInt():
		n, err := strconv.ParseInt(l.Value, 10, 64)
		if err != nil {
			return nil, err
		}
		return columns.Convert(n, from, t)
	}
	return columns.Convert(l.Value, from, t)
}

// castSQL prints the conversion of a value that is not constant.
func castSQL(b *binder, at ast.Pos, v val, t catalog.Type) string {
	f := v.typ
	if f.IsUnknown() { // a parameter or an untyped NULL of a sub-select
		f = catalog.Text
	}
	if !castable(f, t) {
		b.fail(at, sqlerr.CannotCoerce, "cannot cast type %s to %s", f, t)
	}
	if !f.Array && !t.Array {
		if sql := castNative(v.sql, f, t); sql != "" {
			return sql
		}
	}
	return "rg_cast(" + v.sql + ", " + sqltext.Plain(f.String()) + ", " + sqltext.Plain(t.String()) + ")"
}

// castNative prints the conversions that need no call into Go, "" for the others.
func castNative(x string, f, t catalog.Type) string {
	switch {
	case f.IsInt() && t.IsInt():
		if t.Size() > f.Size() {
			return x
		}
		return "rg_int(" + x + ", " + strconv.Itoa(t.Size()) + ")"
	case f.IsInt() && (t.Is(catalog.Numeric) || t.Is(catalog.Text)):
		return "CAST(" + x + " AS TEXT)"
	case f.IsInt() && t.Is(catalog.Float8):
		return "CAST(" + x + " AS REAL)"
	case (f.IsInt() || f.Is(catalog.Float8)) && t.Is(catalog.Float4):
		return "rg_f4(" + x + ")"
	case f.Is(catalog.Float4) && t.Is(catalog.Float8):
		return x
	case f.IsFloat() && t.IsInt():
		return "rg_ftoi(" + x + ", " + strconv.Itoa(t.Size()) + ")"
	case f.Is(catalog.Bool) && t.Is(catalog.Int4):
		return "(" + x + " + 0)"
	case f.Is(catalog.Int4) && t.Is(catalog.Bool):
		return "(" + x + " <> 0)"
	case f.Is(catalog.Name) && t.Is(catalog.Text):
		return x
	case f.Is(catalog.Numeric) && t.Is(catalog.Text):
		return "(" + x + " || '')" // without the collation of a numeric column
	case (f.IsTime() || f.Is(catalog.UUID) || f.Name == "json" || f.Name == "jsonb") && t.Is(catalog.Text):
		return x
	}
	return ""
}

// castable lists the explicit casts of Postgres among the types known here.
func castable(f, t catalog.Type) bool {
	switch {
	case f.Is(t) || f.Is(catalog.Text) || t.Is(catalog.Text):
		return true
	case f.Array != t.Array:
		return false
	case f.Array:
		return castable(f.Elem(), t.Elem())
	case catalog.NumberOrder[f.Name] > 0 && catalog.NumberOrder[t.Name] > 0:
		return true
	case f.Is(catalog.Bool):
		return t.Is(catalog.Int4)
	case f.Is(catalog.Int4):
		return t.Is(catalog.Bool)
	case f.IsTime() && t.IsTime():
		return true
	}
	return strings.HasPrefix(f.Name, "json") && strings.HasPrefix(t.Name, "json")
}

// castElems converts ARRAY[…] by its elements.
func castElems(b *binder, at ast.Pos, v val, t catalog.Type) val {
	elems := make([]val, len(v.elems))
	for i, e := range v.elems {
		et := t.Elem()
		if e.typ.Array {
			et = t
		}
		elems[i] = b.cast(e.at, e, et, nil)
	}
	return arrayOfValues(b, at, elems, t)
}

// modifyType applies numeric(p,s) and varchar(n) to a value of type t.
func modifyType(b *binder, sql string, t catalog.Type, mods []int) string {
	switch {
	case t.Is(catalog.Numeric):
		scale := 0
		if len(mods) > 1 {
			scale = mods[1]
		}
		return fmt.Sprintf("rg_nmodify(%s, %d, %d)", sql, mods[0], scale)
	case t.Is(catalog.Text):
		return fmt.Sprintf("substr(%s, 1, %d)", sql, mods[0])
	case t.IsTime():
		return fmt.Sprintf("rg_tmodify(%s, %s, %d)", sql, sqltext.Plain(t.String()), mods[0])
	}
	return sql
}

// sameMods gives the modifier of the type that all of several values have, nil where they differ.
func sameMods(vs []val) []int {
	for _, v := range vs {
		if !slices.Equal(v.mods, vs[0].mods) {
			return nil
		}
	}
	return vs[0].mods
}

// assign converts a value to a column's type as INSERT and UPDATE do and prints the checks of law 1.
func (b *binder) assign(v val, t *catalog.TableDef, c *catalog.Column) string {
	if !catalog.Assignable(v.typ, c.Type) {
		b.failHint(v.at, sqlerr.DatatypeMismatch, "You will need to rewrite or cast the expression.",
			"column \"%s\" is of type %s but expression is of type %s", c.Name, c.Type, v.typ)
	}
	given := v.lit != nil && v.lit.Kind != ast.LitNull || v.bound != nil && v.bound.Value != nil
	v = b.cast(v.at, v, c.Type, nil)
	switch {
	case c.Type.IsChunk():
		v.sql = fmt.Sprintf("rg_chunk(%s, %d)", v.sql, b.slot(t, c))
	case c.Type.Is(catalog.Text) && len(c.Mods) > 0:
		v.sql = fmt.Sprintf("rg_varchar(%s, %d)", v.sql, c.Mods[0])
	case len(c.Mods) > 0:
		v.sql = modifyType(b, v.sql, c.Type, c.Mods)
	}
	if isRowID(t, c) && !given {
		v.sql = "coalesce(" + v.sql + ", " + noKey(t, c) + ")"
	}
	return v.sql
}

// noKey prints the failure of a row without a key: SQLite invents a value where the key that is its row id is NULL or
// is not given.
func noKey(t *catalog.TableDef, c *catalog.Column) string {
	return "rg_fail(" + sqltext.Plain(sqlerr.NotNullViolation+" "+notNull(t.Name, c.Name).Message) + ")"
}

// notGiven prints the columns of a row that were given no value: their defaults, and the failure of a key without one.
func notGiven(b *binder, t *catalog.TableDef, given map[string]bool) (list, exprs []string) {
	for i := range t.Cols {
		c := &t.Cols[i]
		if given[c.Name] {
			continue
		}
		d := defaultSQL(b, t, c)
		switch {
		case d == "" && isRowID(t, c):
			d = noKey(t, c)
		case d == "":
			continue
		case isRowID(t, c) && c.Identity == nil:
			d = "coalesce(" + d + ", " + noKey(t, c) + ")"
		}
		list, exprs = append(list, ident(c.Name)), append(exprs, d)
	}
	return list, exprs
}

// slot is the number of the check that notes the shapes written to a column.
func (b *binder) slot(t *catalog.TableDef, c *catalog.Column) int {
	for i, s := range b.slots {
		if b.slotTables[i] == t && s.Col == c.Name {
			return i
		}
	}
	return b.addSlot(t, c)
}

func (w *writes) addSlot(t *catalog.TableDef, c *catalog.Column) int {
	w.slots, w.slotTables = append(w.slots,
		&columns.Slot{Table: t.Name, Col: c.Name, Rank: c.Type.Rank}), append(w.slotTables, t)
	return len(w.slots) - 1
}
