package bind

import (
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/functions"
	"github.com/relgrad/relgrad/tensor"
)

// bindArray is ARRAY[…].
func bindArray(b *Binder, s *Scope, e *ast.ArrayLit) Value {
	if len(e.Elems) == 0 {
		b.FailHint(e.At, sqlerr.IndeterminateType, "Explicitly cast to the desired type, for example ARRAY[]::integer[].",
			"cannot determine type of empty array")
	}
	elems := lists.Map(e.Elems, func(x ast.Expr) Value { return b.Expr(s, x) })
	t := b.commonType(elems, "ARRAY")
	for i := range elems {
		elems[i] = b.coerce(elems[i], t)
	}
	return arrayOfValues(b, e.At, elems, catalog.ArrayOf(t.Elem()))
}

// arrayOfValues prints an array of elements that have the element type, or are arrays of it.
func arrayOfValues(b *Binder, at ast.Pos, elems []Value, t catalog.Type) Value {
	out := Value{Type: t, At: at, NotNull: true}
	if x, ok := constElems(elems, t); ok {
		out.SQL = b.constant(at, x, t)
		return out
	}
	if len(elems) > 100 {
		b.Refuse(at, "ARRAY[…] of more than 100 expressions", "Use array_agg over rows.")
	}
	name := t.String()
	if elems[0].Type.Array {
		name += "[]" // the elements are arrays
	}
	out.SQL = "rg_array(" + sqltext.Plain(name) + ", " + ListSQL(elems) + ")"
	return out
}

// constElems evaluates an array of constants.
func constElems(elems []Value, t catalog.Type) (any, bool) {
	list := make([]any, len(elems))
	for i, e := range elems {
		x, ok := constOf(e)
		if !ok {
			return nil, false
		}
		list[i] = x
	}
	x, err := columns.MakeArray(list, t.Elem())
	return x, err == nil
}

// constOf returns the Go value of a constant.
func constOf(v Value) (any, bool) {
	switch {
	case v.bound != nil:
		return v.bound.Value, true
	case v.Literal == nil:
		return nil, false
	case v.Literal.Kind == ast.LitNull:
		return nil, true
	case v.Literal.Kind == ast.LitBool:
		return v.Literal.Value == "true", true
	}
	from := v.Type
	if from.IsUnknown() {
		from = catalog.Text
	}
	x, err := columns.Convert(v.Literal.Value, catalog.Text, from)
	return x, err == nil
}

// bindSubscript is x[i], x[i][j], x[a:b].
func bindSubscript(b *Binder, s *Scope, e *ast.Subscript) Value {
	x := b.Expr(s, e.X)
	if !x.Type.Array {
		b.Fail(e.At, sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", x.Type)
	}
	if len(e.Indices) > tensor.MaxRank {
		b.Fail(e.At, sqlerr.ProgramLimit, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(e.Indices),
			tensor.MaxRank)
	}
	slice := false
	for _, i := range e.Indices {
		slice = slice || i.Slice
	}
	args := []string{x.SQL}
	bound := func(i ast.Expr, missing string) string {
		if i == nil {
			return missing
		}
		v := b.Expr(s, i)
		if v.Type.IsUnknown() || v.Type.Is(catalog.Int8) || v.Type.Is(catalog.Int2) {
			v = b.coerce(v, catalog.Int4)
		}
		if !v.Type.Is(catalog.Int4) {
			b.Fail(i.Position(), sqlerr.DatatypeMismatch, "array subscript must have type integer")
		}
		return v.SQL
	}
	for _, i := range e.Indices {
		switch {
		case !slice:
			args = append(args, bound(i.I, ""))
		case i.Slice:
			args = append(args, bound(i.Lo, "1"), bound(i.Hi, "2147483647"))
		default: // in a slice, x[n] means x[1:n]
			args = append(args, "1", bound(i.I, ""))
		}
	}
	out := Value{Type: x.Type.Elem(), At: e.At}
	switch {
	case slice:
		out.Type = catalog.ArrayOf(x.Type.Elem())
		out.SQL = "rg_slice(" + strings.Join(append([]string{sqltext.Plain(x.Type.String())}, args...), ", ") + ")"
	case x.Type.IsChunk():
		out.SQL = "rg_elem(" + strings.Join(args, ", ") + ")"
	default:
		out.SQL = "rg_item(" + strings.Join(args, ", ") + ")"
	}
	return out
}

// concatArrays is || with an array: array||array, array||element, element||array.
func concatArrays(b *Binder, at ast.Pos, l, r Value) Value {
	t := l.Type
	if !t.Array {
		t = r.Type
	}
	if l.Type.IsUnknown() {
		l = b.coerce(l, t)
	}
	if r.Type.IsUnknown() {
		r = b.coerce(r, t)
	}
	ct, ok := catalog.CommonType([]catalog.Type{l.Type.Elem(), r.Type.Elem()})
	if !ok {
		noOperator(b, at, "||", l.Type.String(), r.Type.String())
	}
	conv := func(v Value) Value {
		if v.Type.Array {
			return b.coerce(v, catalog.ArrayOf(ct))
		}
		return b.coerce(v, ct)
	}
	l, r = conv(l), conv(r)
	kinds := string([]byte{"ea"[columns.Bit(l.Type.Array)], "ea"[columns.Bit(r.Type.Array)]}) // element or array
	return Value{SQL: "rg_array_cat(" + sqltext.Plain(catalog.ArrayOf(ct).String()) + ", " + sqltext.Plain(kinds) + ", " +
		l.SQL + ", " + r.SQL + ")", Type: catalog.ArrayOf(ct), At: at}
}

// bindAnyArray is x op ANY (array) and x op ALL (array).
func bindAnyArray(b *Binder, s *Scope, e *ast.AnyArray) Value {
	volatile := b.Volatile
	x := b.Expr(s, e.X)
	b.once(e.At, volatile, "ANY or ALL")
	a := b.Expr(s, e.Array)
	if a.Type.IsUnknown() {
		t := x.Type
		if t.IsUnknown() {
			t = catalog.Text
		}
		a = b.coerce(a, catalog.ArrayOf(t))
	}
	if !a.Type.Array {
		b.Fail(e.At, sqlerr.WrongObjectType, "op ANY/ALL (array) requires array on right side")
	}
	if !comparison[e.Op] && !strings.Contains(e.Op, "~") {
		b.Fail(e.At, sqlerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean")
	}
	noWindow(b, e.At, e.X)
	name := b.alias("e")
	el := Value{SQL: name + ".value", Type: a.Type.Elem(), At: e.At}
	c := compareOrMatch(b, e.At, e.Op, x, el)
	found := decides(e.All, "x", inRows(c, unnestSQL(a)+" AS "+name))
	aggregates := func(c *ast.FuncCall) bool { return functions.IsAggregate(c.Name) }
	if ast.Any(e.Array, aggregates) { // rows of one cannot be those of a sub-query in FROM
		if ast.Any(e.X, aggregates) {
			b.Refuse(e.At, "an aggregate beside ANY or ALL of another one", "Compute them in a sub-query in FROM.")
		}
		found = decides(e.All, c.SQL, unnestSQL(a)+" AS "+name)
	}
	sql := "CASE WHEN " + a.SQL + " IS NOT NULL THEN " + found + " END"
	return Value{SQL: sql, Type: catalog.Bool, At: e.At}
}

var comparison = map[string]bool{"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true}

func compareOrMatch(b *Binder, at ast.Pos, op string, l, r Value) Value {
	if strings.Contains(op, "~") {
		return matchPattern(b, at, op, l, r)
	}
	return compareVals(b, at, op, l, r)
}

// unnestSQL prints an array as a table function with the column value and, for WITH ORDINALITY, another one (see
// ordinality).
func unnestSQL(a Value) string {
	if a.Type.IsChunk() {
		return "rg_unnest(" + a.SQL + ")"
	}
	return "json_each(rg_flat(" + a.SQL + "))"
}

// ordinality prints the position (from 1) of a row of unnestSQL.
func ordinality(alias string, t catalog.Type) string {
	if t.IsChunk() {
		return alias + ".ord"
	}
	return "(" + alias + ".key + 1)"
}
