package bind

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
	"github.com/relgrad/relgrad/store/definitions"
)

// coerce converts a value to a type by an implicit cast, or reads an untyped literal as that type.
func (b *Binder) coerce(v Value, t catalog.Type) Value {
	if v.Type.Is(t) {
		return v
	}
	return b.Cast(v.At, v, t, nil)
}

func bindCast(b *Binder, s *Scope, e *ast.Cast) Value {
	t := TypeOf(b, e.Type)
	if a, ok := e.X.(*ast.ArrayLit); ok && t.Array && len(a.Elems) == 0 {
		return Value{SQL: b.constant(e.At, columns.EmptyArray(t.Elem()), t), Type: t, At: e.At, NotNull: true}
	}
	if a, ok := e.X.(*ast.ArrayLit); ok && t.Array && e.Argument == "" {
		return castElems(b, s, a, t, e.Type.Mods)
	}
	v := b.Expr(s, e.X)
	if e.Argument != "" && !catalog.Implicit(v.Type, t) && !(v.Type.Is(catalog.Text) && t.Is(catalog.Name)) {
		b.FailHint(v.At, sqlerr.UndefinedFunction, "You might need to add an explicit type cast.",
			"function %s does not take %s for %s", e.Argument, v.Type, t)
	}
	return b.Cast(e.At, v, t, e.Type.Mods)
}

// Cast is an explicit conversion, also used for implicit ones, which are a subset.
func (b *Binder) Cast(at ast.Pos, v Value, t catalog.Type, mods []int) Value {
	out := Value{Type: t, At: at, NotNull: v.NotNull, mods: mods}
	switch {
	case v.Type.Is(t):
		out.SQL, out.Literal = v.SQL, v.Literal
	case v.Literal != nil && v.Literal.Kind == ast.LitNull:
		out.SQL = "NULL"
	case v.Literal != nil && !v.Type.Is(catalog.Bool):
		x, err := literalAs(b, v.Literal, v.Type, t)
		b.Check(v.At, err)
		out.SQL = b.constant(at, x, t)
		out.bound = &ast.Bound{Value: x, Type: t.String()}
	default:
		out.SQL = CastSQL(b, at, v, t)
	}
	if len(mods) > 0 {
		out.SQL, out.Literal = ModifyType(b, out.SQL, t, mods), nil
	}
	return out
}

// literalAs reads a literal as a value of t. Numbers go through their own type first: 2.5::int is 3.
func literalAs(b *Binder, l *ast.Literal, from, t catalog.Type) (any, error) {
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

// CastSQL prints the conversion of a value that is not constant.
func CastSQL(b *Binder, at ast.Pos, v Value, t catalog.Type) string {
	f := v.Type
	if f.IsUnknown() { // a parameter or an untyped NULL of a sub-select
		f = catalog.Text
	}
	if !castable(f, t) {
		b.Fail(at, sqlerr.CannotCoerce, "cannot cast type %s to %s", f, t)
	}
	if !f.Array && !t.Array {
		if sql := castNative(v.SQL, f, t); sql != "" {
			return sql
		}
	}
	return "rg_cast(" + v.SQL + ", " + sqltext.Plain(f.String()) + ", " + sqltext.Plain(t.String()) + ")"
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
		return "(" + x + " || '')" // removes the collation of a numeric column
	case (f.IsTime() || f.Is(catalog.UUID) || f.Name == "json" || f.Name == "jsonb") && t.Is(catalog.Text):
		return x
	}
	return ""
}

// castable reports whether Postgres has an explicit cast between two types known here.
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

// castElems casts ARRAY[…] element by element: its elements have no type in common before.
func castElems(b *Binder, s *Scope, l *ast.ArrayLit, t catalog.Type, mods []int) Value {
	elems := make([]Value, len(l.Elems))
	for i, e := range l.Elems {
		if inner, ok := e.(*ast.ArrayLit); ok && len(inner.Elems) > 0 {
			elems[i] = castElems(b, s, inner, t, mods)
			continue
		}
		v, et := b.Expr(s, e), t.Elem()
		if v.Type.Array {
			et = t
		}
		elems[i] = b.Cast(v.At, v, et, mods)
	}
	return arrayOfValues(b, l.At, elems, t)
}

// ModifyType applies numeric(p,s) and varchar(n) to a value of type t.
func ModifyType(b *Binder, sql string, t catalog.Type, mods []int) string {
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

// sameMods returns the modifier that the types of several values have in common, nil where they differ.
func sameMods(vs []Value) []int {
	for _, v := range vs {
		if !slices.Equal(v.mods, vs[0].mods) {
			return nil
		}
	}
	return vs[0].mods
}

// Assign converts a value to a column's type, as INSERT and UPDATE do, and prints the checks of law 1.
func (b *Binder) Assign(v Value, t *catalog.TableDef, c *catalog.Column) string {
	if !catalog.Assignable(v.Type, c.Type) {
		b.FailHint(v.At, sqlerr.DatatypeMismatch, "You will need to rewrite or cast the expression.",
			"column \"%s\" is of type %s but expression is of type %s", c.Name, c.Type, v.Type)
	}
	given := v.Literal != nil && v.Literal.Kind != ast.LitNull || v.bound != nil && v.bound.Value != nil
	v = b.Cast(v.At, v, c.Type, nil)
	switch {
	case c.Type.IsChunk():
		v.SQL = fmt.Sprintf("rg_chunk(%s, %d)", v.SQL, b.Slot(t, c))
	case c.Type.Is(catalog.Text) && len(c.Mods) > 0:
		v.SQL = fmt.Sprintf("rg_varchar(%s, %d)", v.SQL, c.Mods[0])
	case len(c.Mods) > 0:
		v.SQL = ModifyType(b, v.SQL, c.Type, c.Mods)
	}
	if definitions.IsRowID(t, c) && !given {
		v.SQL = "coalesce(" + v.SQL + ", " + NoKey(t, c) + ")"
	}
	return v.SQL
}

// NoKey prints an error for a row without a key. SQLite would invent a value for a key that is its row id.
func NoKey(t *catalog.TableDef, c *catalog.Column) string {
	return "rg_fail(" + sqltext.Plain(sqlerr.NotNullViolation+" "+definitions.ErrNull(t.Name, c.Name).Message) + ")"
}

// NotGiven prints the columns without given values: their defaults, or an error for a missing key.
func NotGiven(b *Binder, t *catalog.TableDef, given map[string]bool) (list, exprs []string) {
	for i := range t.Cols {
		c := &t.Cols[i]
		if given[c.Name] {
			continue
		}
		d := DefaultSQL(b, t, c)
		switch {
		case d == "" && definitions.IsRowID(t, c):
			d = NoKey(t, c)
		case d == "":
			continue
		case definitions.IsRowID(t, c) && c.Identity == nil:
			d = "coalesce(" + d + ", " + NoKey(t, c) + ")"
		}
		list, exprs = append(list, definitions.Ident(c.Name)), append(exprs, d)
	}
	return list, exprs
}

// Slot is the number of the slot that checks the shapes of chunks written to a column.
func (b *Binder) Slot(t *catalog.TableDef, c *catalog.Column) int {
	for i, s := range b.Slots {
		if b.slotTables[i] == t && s.Col == c.Name {
			return i
		}
	}
	return b.AddSlot(t, c)
}

// AddSlot registers a column to which chunks are written, and returns the number of its slot.
func (w *Writes) AddSlot(t *catalog.TableDef, c *catalog.Column) int {
	w.Slots, w.slotTables = append(w.Slots,
		&columns.Slot{Table: t.Name, Col: c.Name, Rank: c.Type.Rank}), append(w.slotTables, t)
	return len(w.Slots) - 1
}

// DefaultSQL prints a column's default, "" for NULL.
func DefaultSQL(b *Binder, t *catalog.TableDef, c *catalog.Column) string {
	switch {
	case c.Identity != nil:
		for i, n := range b.IDCols {
			if n == c.Name {
				return fmt.Sprintf("rg_nextval(%d)", i)
			}
		}
		id := *c.Identity
		b.IDs, b.IDCols = append(b.IDs, &id), append(b.IDCols, c.Name)
		return fmt.Sprintf("rg_nextval(%d)", len(b.IDs)-1)
	case c.Default != "" && c.Type.IsChunk():
		return fmt.Sprintf("rg_chunk(%s, %d)", c.Default, b.Slot(t, c))
	}
	return c.Default
}
