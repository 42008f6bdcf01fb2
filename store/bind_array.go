package store

import (
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/tensor"
)

// bindArray is ARRAY[…]. Its elements are kept, so that a cast converts them one by one.
func bindArray(b *binder, s *scope, e *ast.ArrayLit) val {
	if len(e.Elems) == 0 {
		b.failHint(e.At, sqlerr.IndeterminateType, "Explicitly cast to the desired type, for example ARRAY[]::integer[].",
			"cannot determine type of empty array")
	}
	elems := make([]val, len(e.Elems))
	for i, x := range e.Elems {
		elems[i] = b.expr(s, x)
	}
	t := b.commonType(elems, "ARRAY")
	for i := range elems {
		elems[i] = coerceKeepingElems(b, elems[i], t)
	}
	out := arrayOfValues(b, e.At, elems, catalog.ArrayOf(t.Elem()))
	out.elems = elems
	return out
}

func coerceKeepingElems(b *binder, v val, t catalog.Type) val {
	elems := v.elems
	v = b.coerce(v, t)
	if v.elems == nil && elems != nil && v.typ.Is(t) {
		v.elems = elems
	}
	return v
}

// arrayOfValues prints an array of elements that have the element type, or are arrays of it.
func arrayOfValues(b *binder, at ast.Pos, elems []val, t catalog.Type) val {
	out := val{typ: t, at: at, notNull: true}
	if x, ok := constElems(elems, t); ok {
		out.sql = b.constant(at, x, t)
		return out
	}
	if len(elems) > 100 {
		b.refuse(at, "ARRAY[…] of more than 100 expressions", "Use array_agg over rows.")
	}
	name := t.String()
	if elems[0].typ.Array {
		name += "[]" // the elements are arrays themselves
	}
	out.sql = "rg_array(" + sqltext.Plain(name) + ", " + sqls(elems) + ")"
	return out
}

// constElems evaluates an array of constants.
func constElems(elems []val, t catalog.Type) (any, bool) {
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
func constOf(v val) (any, bool) {
	switch {
	case v.bound != nil:
		return v.bound.Value, true
	case v.lit == nil:
		return nil, false
	case v.lit.Kind == ast.LitNull:
		return nil, true
	case v.lit.Kind == ast.LitBool:
		return v.lit.Value == "true", true
	}
	from := v.typ
	if from.IsUnknown() {
		from = catalog.Text
	}
	x, err := columns.Convert(v.lit.Value, catalog.Text, from)
	return x, err == nil
}

// bindSubscript is x[i], x[i][j], x[a:b].
func bindSubscript(b *binder, s *scope, e *ast.Subscript) val {
	x := b.expr(s, e.X)
	if !x.typ.Array {
		b.fail(e.At, sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", x.typ)
	}
	if len(e.Indices) > tensor.MaxRank {
		b.fail(e.At, sqlerr.ProgramLimit, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(e.Indices),
			tensor.MaxRank)
	}
	slice := false
	for _, i := range e.Indices {
		slice = slice || i.Slice
	}
	args := []string{x.sql}
	bound := func(i ast.Expr, missing string) string {
		if i == nil {
			return missing
		}
		v := b.expr(s, i)
		if v.typ.IsUnknown() || v.typ.Is(catalog.Int8) || v.typ.Is(catalog.Int2) {
			v = b.coerce(v, catalog.Int4)
		}
		if !v.typ.Is(catalog.Int4) {
			b.fail(i.Position(), sqlerr.DatatypeMismatch, "array subscript must have type integer")
		}
		return v.sql
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
	out := val{typ: x.typ.Elem(), at: e.At}
	switch {
	case slice:
		out.typ = catalog.ArrayOf(x.typ.Elem())
		out.sql = "rg_slice(" + strings.Join(append([]string{sqltext.Plain(x.typ.String())}, args...), ", ") + ")"
	case x.typ.IsChunk():
		out.sql = "rg_elem(" + strings.Join(args, ", ") + ")"
	default:
		out.sql = "rg_item(" + strings.Join(args, ", ") + ")"
	}
	return out
}

// concatArrays is || with an array: array||array, array||element, element||array.
func concatArrays(b *binder, at ast.Pos, l, r val) val {
	t := l.typ
	if !t.Array {
		t = r.typ
	}
	if l.typ.IsUnknown() {
		l = b.coerce(l, t)
	}
	if r.typ.IsUnknown() {
		r = b.coerce(r, t)
	}
	ct, ok := catalog.CommonType([]catalog.Type{l.typ.Elem(), r.typ.Elem()})
	if !ok {
		noOperator(b, at, "||", l.typ.String(), r.typ.String())
	}
	conv := func(v val) val {
		if v.typ.Array {
			return b.coerce(v, catalog.ArrayOf(ct))
		}
		return b.coerce(v, ct)
	}
	l, r = conv(l), conv(r)
	kinds := string([]byte{"ea"[columns.Bit(l.typ.Array)], "ea"[columns.Bit(r.typ.Array)]}) // element or array
	return val{sql: "rg_array_cat(" + sqltext.Plain(catalog.ArrayOf(ct).String()) + ", " + sqltext.Plain(kinds) + ", " +
		l.sql + ", " + r.sql + ")", typ: catalog.ArrayOf(ct), at: at}
}

// bindAnyArray is x op ANY (array) and x op ALL (array).
func bindAnyArray(b *binder, s *scope, e *ast.AnyArray) val {
	volatile := b.volatile
	x := b.expr(s, e.X)
	b.once(e.At, volatile, "ANY or ALL")
	a := b.expr(s, e.Array)
	if a.typ.IsUnknown() {
		t := x.typ
		if t.IsUnknown() {
			t = catalog.Text
		}
		a = b.coerce(a, catalog.ArrayOf(t))
	}
	if !a.typ.Array {
		b.fail(e.At, sqlerr.WrongObjectType, "op ANY/ALL (array) requires array on right side")
	}
	if !comparison[e.Op] && !strings.Contains(e.Op, "~") {
		b.fail(e.At, sqlerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean")
	}
	name := b.alias("e")
	el := val{sql: name + ".value", typ: a.typ.Elem(), at: e.At}
	c := compareOrMatch(b, e.At, e.Op, x, el)
	agg, empty := "max", "FALSE"
	if e.All {
		agg, empty = "min", "TRUE"
	}
	sql := "CASE WHEN " + a.sql + " IS NOT NULL THEN (SELECT CASE WHEN count(*) = 0 THEN " + empty + " WHEN " + agg + "(" +
		c.sql + ") = " + flip(empty) + " THEN " + flip(empty) +
		" WHEN count(" + c.sql + ") < count(*) THEN NULL ELSE " + empty + " END FROM " + unnestSQL(a) + " AS " + name +
		") END"
	return val{sql: sql, typ: catalog.Bool, at: e.At}
}

var comparison = map[string]bool{"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true}

func compareOrMatch(b *binder, at ast.Pos, op string, l, r val) val {
	if strings.Contains(op, "~") {
		return matchPattern(b, at, op, l, r)
	}
	return compareVals(b, at, op, l, r)
}

// unnestSQL prints an array as a table function with the columns value and, for WITH ORDINALITY, see ordinality.
func unnestSQL(a val) string {
	if a.typ.IsChunk() {
		return "rg_unnest(" + a.sql + ")"
	}
	return "json_each(rg_flat(" + a.sql + "))"
}

// ordinality prints the position (from 1) of a row of unnestSQL.
func ordinality(alias string, t catalog.Type) string {
	if t.IsChunk() {
		return alias + ".ord"
	}
	return "(" + alias + ".key + 1)"
}
