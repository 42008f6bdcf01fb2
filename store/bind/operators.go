package bind

import (
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

func bindUnary(b *Binder, s *Scope, e *ast.Unary) Value {
	if call := e.Function(); call != nil {
		return b.Expr(s, call)
	}
	x := b.Expr(s, e.X)
	if e.Op == "not" {
		x = b.boolean(x, "argument of NOT")
		return Value{SQL: "(NOT " + x.SQL + ")", Type: catalog.Bool, At: e.At, NotNull: x.NotNull}
	}
	if x.Type.IsUnknown() {
		x = b.coerce(x, catalog.Float8)
	}
	if e.Op == "+" && (x.Type.IsNumber() || x.Type.IsChunk()) {
		return x
	}
	if x.Literal != nil && (x.Literal.Kind == ast.LitInt || x.Literal.Kind == ast.LitNumeric) &&
		x.Literal.Value[0] != '-' {
		l := *x.Literal
		l.Value = "-" + l.Value
		return b.literalVal(&l)
	}
	out := Value{Type: x.Type, At: e.At, NotNull: x.NotNull}
	switch {
	case x.Type.IsInt():
		out.SQL = intRange(b, "(-"+x.SQL+")", x.Type)
	case x.Type.IsFloat():
		out.SQL = "(-" + x.SQL + ")"
	case x.Type.Is(catalog.Numeric):
		out.SQL = "rg_nneg(" + x.SQL + ")"
	case x.Type.IsChunk():
		return callKernel(b, e.At, "neg", []Value{x})
	default:
		noOperator(b, e.At, e.Op, "", x.Type.String())
	}
	return out
}

func intRange(b *Binder, sql string, t catalog.Type) string {
	return "rg_int(" + sql + ", " + strconv.Itoa(t.Size()) + ")"
}

func noOperator(b *Binder, at ast.Pos, op, l, r string) {
	b.FailHint(at, sqlerr.UndefinedFunction,
		"No operator matches the given name and argument types. You might need to add explicit type casts.",
		"operator does not exist: %s", strings.TrimSpace(l+" "+op+" "+r))
}

func bindBinary(b *Binder, s *Scope, e *ast.Binary) Value {
	switch e.Op {
	case "and", "or":
		return bindChain(b, s, e)
	}
	return bindOperator(b, e.At, e.Op, b.Expr(s, e.L), b.Expr(s, e.R))
}

// bindChain binds a chain of ANDs or of ORs. It is printed as a balanced tree, because SQLite bounds the depth of
// expressions.
func bindChain(b *Binder, s *Scope, e *ast.Binary) Value {
	var parts []string
	op, notNull := strings.ToUpper(e.Op), true
	var walk func(x ast.Expr)
	walk = func(x ast.Expr) {
		if y, ok := x.(*ast.Binary); ok && y.Op == e.Op {
			walk(y.L)
			walk(y.R)
			return
		}
		v := b.boolean(b.Expr(s, x), "argument of "+op)
		parts, notNull = append(parts, v.SQL), notNull && v.NotNull
	}
	walk(e)
	return Value{SQL: balanced(parts, " "+op+" "), Type: catalog.Bool, At: e.At, NotNull: notNull}
}

func balanced(parts []string, op string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	n := len(parts) / 2
	return "(" + balanced(parts[:n], op) + op + balanced(parts[n:], op) + ")"
}

// bindOperator binds l op r for operators other than AND and OR.
func bindOperator(b *Binder, at ast.Pos, op string, l, r Value) Value {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=":
		return compareVals(b, at, op, l, r)
	case "~~", "!~~", "~~*", "!~~*", "~", "!~", "~*", "!~*":
		return matchPattern(b, at, op, l, r)
	case "||":
		return concatenate(b, at, l, r)
	case "+", "-", "*", "/", "%", "^":
		return arithmetic(b, at, op, l, r)
	case "&", "|", "<<", ">>", "#":
		return bitwise(b, at, op, l, r)
	}
	b.Fail(at, sqlerr.UndefinedFunction, "operator does not exist: %s %s %s", l.Type, op, r.Type)
	return Value{}
}

func bitwise(b *Binder, at ast.Pos, op string, l, r Value) Value {
	if !l.Type.IsInt() || !r.Type.IsInt() {
		noOperator(b, at, op, l.Type.String(), r.Type.String())
	}
	t := wider(l.Type, r.Type)
	sql := "(" + l.SQL + " " + op + " " + r.SQL + ")"
	switch op {
	case "#":
		sql = "rg_xor(" + l.SQL + ", " + r.SQL + ")"
	case "<<", ">>": // the distance is taken modulo the width
		t = l.Type
		sql = "(" + l.SQL + " " + op + " (" + r.SQL + " & " + strconv.Itoa(max(31, 8*t.Size()-1)) + "))"
		if op == "<<" {
			sql = intRange(b, sql, t)
		}
	}
	return Value{SQL: sql, Type: t, At: at}
}

func wider(a, b catalog.Type) catalog.Type {
	if catalog.NumberOrder[a.Name] >= catalog.NumberOrder[b.Name] {
		return catalog.Type{Name: a.Name}
	}
	return catalog.Type{Name: b.Name}
}

// matchPattern is LIKE, ILIKE and regular expressions.
func matchPattern(b *Binder, at ast.Pos, op string, l, r Value) Value {
	l, r = b.settle(l).asText(), b.settle(r).asText()
	if !l.Type.Is(catalog.Text) || !r.Type.Is(catalog.Text) {
		noOperator(b, at, op, l.Type.String(), r.Type.String())
	}
	f, neg := "rg_like", strings.HasPrefix(op, "!")
	fold := "0"
	if strings.HasSuffix(op, "*") {
		fold = "1"
	}
	if !strings.Contains(op, "~~") {
		f = "rg_regex"
	}
	sql := f + "(" + l.SQL + ", " + r.SQL + ", " + fold + ")"
	if neg {
		sql = "(NOT " + sql + ")"
	}
	return Value{SQL: sql, Type: catalog.Bool, At: at}
}

// asText converts v to text where its type is name, which is stored as text.
func (v Value) asText() Value {
	if v.Type.Is(catalog.Name) {
		v.Type = catalog.Text
	}
	return v
}

func concatenate(b *Binder, at ast.Pos, l, r Value) Value {
	l, r = l.asText(), r.asText()
	switch {
	case l.Type.Array || r.Type.Array:
		return concatArrays(b, at, l, r)
	case l.Type.Is(catalog.JSONB) && !r.Type.Is(catalog.Text) || r.Type.Is(catalog.JSONB) && !l.Type.Is(catalog.Text):
		b.Refuse(at, "an operator of jsonb", "")
	case !l.Type.Is(catalog.Text) && !r.Type.Is(catalog.Text) && !l.Type.IsUnknown() && !r.Type.IsUnknown():
		noOperator(b, at, "||", l.Type.String(), r.Type.String())
	}
	return Value{SQL: "(" + toText(b, l).SQL + " || " + toText(b, r).SQL + ")", Type: catalog.Text, At: at,
		NotNull: l.NotNull && r.NotNull}
}

func toText(b *Binder, v Value) Value { return b.Cast(v.At, v, catalog.Text, nil) }

// arithmetic is + - * / % ^ on numbers, chunks and dates.
func arithmetic(b *Binder, at ast.Pos, op string, l, r Value) Value {
	if l.Type.IsChunk() || r.Type.IsChunk() {
		return chunkArith(b, at, op, l, r)
	}
	if l.Type.IsTime() || r.Type.IsTime() {
		return timeArith(b, at, op, l, r)
	}
	switch {
	case l.Type.IsUnknown() && r.Type.IsUnknown():
		b.FailHint(at, sqlerr.AmbiguousFunction,
			"Could not choose a best candidate operator. You might need to add explicit type casts.",
			"operator is not unique: unknown %s unknown", op)
	case l.Type.IsUnknown():
		l = b.coerce(l, r.Type)
	case r.Type.IsUnknown():
		r = b.coerce(r, l.Type)
	}
	if !l.Type.IsNumber() || !r.Type.IsNumber() {
		noOperator(b, at, op, l.Type.String(), r.Type.String())
	}
	t := arithType(op, l.Type, r.Type)
	if t.Name == "" {
		noOperator(b, at, op, l.Type.String(), r.Type.String())
	}
	l, r = b.coerce(l, t), b.coerce(r, t)
	out := Value{Type: t, At: at, NotNull: l.NotNull && r.NotNull}
	switch {
	case t.IsInt():
		out.SQL = intArith(b, op, l, r, t)
	case t.Is(catalog.Numeric):
		name := map[string]string{"+": "rg_nadd", "-": "rg_nsub", "*": "rg_nmul", "/": "rg_ndiv", "%": "rg_nmod",
			"^": "rg_npow"}[op]
		out.SQL = name + "(" + l.SQL + ", " + r.SQL + ")"
	default:
		name := map[string]string{"+": "rg_fadd", "-": "rg_fsub", "*": "rg_fmul", "/": "rg_fdiv", "^": "rg_fpow"}[op]
		out.SQL = name + "(" + l.SQL + ", " + r.SQL + ")"
		if t.Is(catalog.Float4) {
			out.SQL = "rg_f4(" + out.SQL + ")"
		}
	}
	return out
}

// arithType is Postgres's choice of an arithmetic operator; the zero Type where there is none.
func arithType(op string, l, r catalog.Type) catalog.Type {
	t := wider(l, r)
	if l.IsFloat() != r.IsFloat() { // the other operand becomes float8
		t = catalog.Float8
	}
	switch op {
	case "^":
		if t.Is(catalog.Float4) || t.IsInt() {
			return catalog.Float8
		}
	case "%":
		if t.IsFloat() {
			return catalog.Type{}
		}
	}
	return t
}

func intArith(b *Binder, op string, l, r Value, t catalog.Type) string {
	// dividing by a positive constant cannot fail
	safe := r.Literal != nil && r.Literal.Value != "0" && r.Literal.Value[0] != '-'
	switch {
	case op == "/" && safe:
		return "(" + l.SQL + " / " + r.SQL + ")"
	case op == "%" && safe:
		return "(" + l.SQL + " % " + r.SQL + ")"
	case op == "/":
		return intRange(b, "rg_idiv("+l.SQL+", "+r.SQL+")", t)
	case op == "%":
		return "rg_imod(" + l.SQL + ", " + r.SQL + ")"
	}
	return intRange(b, "("+l.SQL+" "+op+" "+r.SQL+")", t)
}

// chunkArith applies the operators that exist on real[] and double precision[]: two chunks, or a
// chunk and a scalar that becomes double precision.
func chunkArith(b *Binder, at ast.Pos, op string, l, r Value) Value {
	name := map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow"}[op]
	if name == "" {
		noOperator(b, at, op, l.Type.String(), r.Type.String())
	}
	other := func(v Value, chunk catalog.Type) Value {
		switch {
		case v.Type.IsUnknown():
			return b.coerce(v, chunk)
		case v.Type.IsNumber():
			return b.coerce(v, catalog.Float8)
		case v.Type.Array && v.Type.Elem().IsNumber():
			return b.coerce(v, catalog.ArrayOf(catalog.Float8))
		}
		noOperator(b, at, op, l.Type.String(), r.Type.String())
		return v
	}
	switch {
	case !l.Type.IsChunk():
		l = other(l, r.Type)
	case !r.Type.IsChunk():
		r = other(r, l.Type)
	}
	return callKernel(b, at, name, []Value{l, r})
}

func compareVals(b *Binder, at ast.Pos, op string, l, r Value) Value {
	switch {
	case l.Type.IsUnknown() && r.Type.IsUnknown():
		l, r = b.coerce(l, catalog.Text), b.coerce(r, catalog.Text)
	case l.Type.Is(catalog.Regtype) && r.Type.IsUnknown(), r.Type.Is(catalog.Regtype) && l.Type.IsUnknown():
		// the literal would be the number of a type
		b.Refuse(at, "a comparison of a regtype with an untyped literal",
			"Write 'integer'::regtype, or pg_typeof(x)::text = 'integer'.")
	case l.Type.IsUnknown():
		l = b.coerce(l, r.Type)
	case r.Type.IsUnknown():
		r = b.coerce(r, l.Type)
	}
	t, ok := catalog.CommonType([]catalog.Type{l.Type, r.Type})
	if l.Type.IsNumber() && r.Type.IsNumber() {
		t = arithType(op, l.Type, r.Type)
	}
	if t.Is(catalog.Regtype) && strings.ContainsAny(op, "<>") && op != "<>" {
		b.Refuse(at, "an order of regtypes", "Compare their texts: pg_typeof(x)::text.")
	}
	if !ok || t.Name == "json" || l.Type.Array && !l.Type.Is(r.Type) {
		noOperator(b, at, op, l.Type.String(), r.Type.String())
	}
	l, r = coerceComparison(b, l, t), coerceComparison(b, r, t)
	if t.Array {
		return compareArrays(b, at, op, l, r, t)
	}
	return Value{SQL: "(" + l.Collate(r.SQL) + " " + op + " " + r.SQL + ")", Type: catalog.Bool, At: at,
		NotNull: l.NotNull && r.NotNull}
}

// coerceComparison converts an operand where SQLite compares differently. Integers and floats compare exactly as they
// are.
func coerceComparison(b *Binder, v Value, t catalog.Type) Value {
	exact := t.IsInt() || t.IsFloat() && !v.Type.Is(catalog.Int8) // SQLite compares all digits of a bigint with a float
	if v.Literal == nil && (v.Type.IsInt() && exact || v.Type.IsFloat() && t.IsFloat()) {
		return v
	}
	return b.coerce(v, t)
}

func compareArrays(b *Binder, at ast.Pos, op string, l, r Value, t catalog.Type) Value {
	l, r = b.coerce(l, t), b.coerce(r, t)
	if op == "=" || op == "<>" || op == "IS" || op == "IS NOT" {
		if t.IsChunk() && (op == "=" || op == "<>") {
			return Value{SQL: "(rg_chunk_eq(" + l.SQL + ", " + r.SQL + ") " + op + " 1)", Type: catalog.Bool, At: at}
		}
		equatable(b, Value{Type: t, At: at})
		if t.IsChunk() {
			return Value{SQL: "(" + l.Collate() + " " + op + " " + r.Collate() + ")", Type: catalog.Bool, At: at}
		}
		return Value{SQL: "(" + l.Collate() + " " + op + " " + r.SQL + ")", Type: catalog.Bool, At: at}
	}
	if t.IsChunk() {
		b.FailHint(at, sqlerr.FeatureNotSupported, "Use greater(a, b), maximum(a, b) or minimum(a, b), element by element.",
			"an ordering of whole chunks is not supported by the embedded store")
	}
	b.Refuse(at, "an ordering of arrays", "Compare elements.")
	return Value{}
}

// compareAs is IS [NOT] DISTINCT FROM.
func compareAs(b *Binder, at ast.Pos, op string, l, r Value) Value {
	v := compareVals(b, at, op, l, r)
	v.NotNull = true
	return v
}

// timeArith is date ± integer, date − date, and other operations on dates and times.
func timeArith(b *Binder, at ast.Pos, op string, l, r Value) Value {
	if l.Type.IsUnknown() {
		l = b.coerce(l, r.Type)
	}
	if r.Type.IsUnknown() {
		r = b.coerce(r, l.Type)
	}
	switch {
	case op == "+" && l.Type.IsInt():
		l, r = r, l
		fallthrough
	case (op == "+" || op == "-") && l.Type.Is(catalog.Date) && r.Type.IsInt():
		sign := ""
		if op == "-" {
			sign = "-"
		}
		return Value{SQL: "rg_date_add(" + l.SQL + ", " + sign + r.SQL + ")", Type: catalog.Date, At: at}
	case op == "-" && l.Type.Is(catalog.Date) && r.Type.Is(catalog.Date):
		return Value{SQL: "rg_date_sub(" + l.SQL + ", " + r.SQL + ")", Type: catalog.Int4, At: at}
	case op == "-" && l.Type.IsTime() && r.Type.IsTime():
		b.Refuse(at, "the type interval", "Use extract(epoch FROM a) - extract(epoch FROM b), in seconds.")
	}
	noOperator(b, at, op, l.Type.String(), r.Type.String())
	return Value{}
}
