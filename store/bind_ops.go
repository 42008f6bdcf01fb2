package store

import (
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

func bindUnary(b *binder, s *scope, e *ast.Unary) val {
	x := b.expr(s, e.X)
	if e.Op == "not" {
		x = b.boolean(x, "argument of NOT")
		return val{sql: "(NOT " + x.sql + ")", typ: catalog.Bool, at: e.At, notNull: x.notNull}
	}
	if x.typ.IsUnknown() {
		x = b.coerce(x, catalog.Float8)
	}
	if e.Op == "+" && (x.typ.IsNumber() || x.typ.IsChunk()) {
		return x
	}
	if x.lit != nil && (x.lit.Kind == ast.LitInt || x.lit.Kind == ast.LitNumeric) && x.lit.Value[0] != '-' {
		l := *x.lit
		l.Value = "-" + l.Value
		return b.literalVal(&l)
	}
	out := val{typ: x.typ, at: e.At, notNull: x.notNull}
	switch {
	case x.typ.IsInt():
		out.sql = intRange(b, "(-"+x.sql+")", x.typ)
	case x.typ.IsFloat():
		out.sql = "(-" + x.sql + ")"
	case x.typ.Is(catalog.Numeric):
		out.sql = "rg_nneg(" + x.sql + ")"
	case x.typ.IsChunk():
		return callKernel(b, e.At, "neg", []val{x})
	default:
		noOperator(b, e.At, e.Op, "", x.typ.String())
	}
	return out
}

func intRange(b *binder, sql string, t catalog.Type) string {
	return "rg_int(" + sql + ", " + strconv.Itoa(t.Size()) + ")"
}

func noOperator(b *binder, at ast.Pos, op, l, r string) {
	b.failHint(at, sqlerr.UndefinedFunction,
		"No operator matches the given name and argument types. You might need to add explicit type casts.",
		"operator does not exist: %s", strings.TrimSpace(l+" "+op+" "+r))
}

func bindBinary(b *binder, s *scope, e *ast.Binary) val {
	switch e.Op {
	case "and", "or":
		return bindChain(b, s, e)
	}
	return bindOperator(b, e.At, e.Op, b.expr(s, e.L), b.expr(s, e.R))
}

// bindChain binds a chain of AND or of OR. It is printed as a balanced tree: SQLite bounds the depth of expressions.
func bindChain(b *binder, s *scope, e *ast.Binary) val {
	var parts []string
	op, notNull := strings.ToUpper(e.Op), true
	var walk func(x ast.Expr)
	walk = func(x ast.Expr) {
		if y, ok := x.(*ast.Binary); ok && y.Op == e.Op {
			walk(y.L)
			walk(y.R)
			return
		}
		v := b.boolean(b.expr(s, x), "argument of "+op)
		parts, notNull = append(parts, v.sql), notNull && v.notNull
	}
	walk(e)
	return val{sql: balanced(parts, " "+op+" "), typ: catalog.Bool, at: e.At, notNull: notNull}
}

func balanced(parts []string, op string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	n := len(parts) / 2
	return "(" + balanced(parts[:n], op) + op + balanced(parts[n:], op) + ")"
}

// bindOperator binds l op r for operators other than AND and OR.
func bindOperator(b *binder, at ast.Pos, op string, l, r val) val {
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
	b.fail(at, sqlerr.UndefinedFunction, "operator does not exist: %s %s %s", l.typ, op, r.typ)
	return val{}
}

func bitwise(b *binder, at ast.Pos, op string, l, r val) val {
	if !l.typ.IsInt() || !r.typ.IsInt() {
		noOperator(b, at, op, l.typ.String(), r.typ.String())
	}
	t := wider(l.typ, r.typ)
	sql := "(" + l.sql + " " + op + " " + r.sql + ")"
	switch op {
	case "#":
		sql = "rg_xor(" + l.sql + ", " + r.sql + ")"
	case "<<", ">>": // by as many bits as the processor shifts
		t = l.typ
		sql = "(" + l.sql + " " + op + " (" + r.sql + " & " + strconv.Itoa(max(31, 8*t.Size()-1)) + "))"
		if op == "<<" {
			sql = intRange(b, sql, t)
		}
	}
	return val{sql: sql, typ: t, at: at}
}

func wider(a, b catalog.Type) catalog.Type {
	if catalog.NumberOrder[a.Name] >= catalog.NumberOrder[b.Name] {
		return catalog.Type{Name: a.Name}
	}
	return catalog.Type{Name: b.Name}
}

// matchPattern is LIKE, ILIKE and regular expressions.
func matchPattern(b *binder, at ast.Pos, op string, l, r val) val {
	l, r = b.settle(l).asText(), b.settle(r).asText()
	if !l.typ.Is(catalog.Text) || !r.typ.Is(catalog.Text) {
		noOperator(b, at, op, l.typ.String(), r.typ.String())
	}
	f, neg := "rg_like", strings.HasPrefix(op, "!")
	fold := "0"
	if strings.HasSuffix(op, "*") {
		fold = "1"
	}
	if !strings.Contains(op, "~~") {
		f = "rg_regex"
	}
	sql := f + "(" + l.sql + ", " + r.sql + ", " + fold + ")"
	if neg {
		sql = "(NOT " + sql + ")"
	}
	return val{sql: sql, typ: catalog.Bool, at: at}
}

// asText is v as a text where it is a name, which is kept as one.
func (v val) asText() val {
	if v.typ.Is(catalog.Name) {
		v.typ = catalog.Text
	}
	return v
}

func concatenate(b *binder, at ast.Pos, l, r val) val {
	l, r = l.asText(), r.asText()
	switch {
	case l.typ.Array || r.typ.Array:
		return concatArrays(b, at, l, r)
	case l.typ.Is(catalog.JSONB) && !r.typ.Is(catalog.Text) || r.typ.Is(catalog.JSONB) && !l.typ.Is(catalog.Text):
		b.refuse(at, "an operator of jsonb", "")
	case !l.typ.Is(catalog.Text) && !r.typ.Is(catalog.Text) && !l.typ.IsUnknown() && !r.typ.IsUnknown():
		noOperator(b, at, "||", l.typ.String(), r.typ.String())
	}
	return val{sql: "(" + toText(b, l).sql + " || " + toText(b, r).sql + ")", typ: catalog.Text, at: at,
		notNull: l.notNull && r.notNull}
}

func toText(b *binder, v val) val { return b.cast(v.at, v, catalog.Text, nil) }

// arithmetic is + - * / % ^ on numbers, chunks and dates.
func arithmetic(b *binder, at ast.Pos, op string, l, r val) val {
	if l.typ.IsChunk() || r.typ.IsChunk() {
		return chunkArith(b, at, op, l, r)
	}
	if l.typ.IsTime() || r.typ.IsTime() {
		return timeArith(b, at, op, l, r)
	}
	switch {
	case l.typ.IsUnknown() && r.typ.IsUnknown():
		b.failHint(at, sqlerr.AmbiguousFunction,
			"Could not choose a best candidate operator. You might need to add explicit type casts.",
			"operator is not unique: unknown %s unknown", op)
	case l.typ.IsUnknown():
		l = b.coerce(l, r.typ)
	case r.typ.IsUnknown():
		r = b.coerce(r, l.typ)
	}
	if !l.typ.IsNumber() || !r.typ.IsNumber() {
		noOperator(b, at, op, l.typ.String(), r.typ.String())
	}
	t := arithType(op, l.typ, r.typ)
	if t.Name == "" {
		noOperator(b, at, op, l.typ.String(), r.typ.String())
	}
	l, r = b.coerce(l, t), b.coerce(r, t)
	out := val{typ: t, at: at, notNull: l.notNull && r.notNull}
	switch {
	case t.IsInt():
		out.sql = intArith(b, op, l, r, t)
	case t.Is(catalog.Numeric):
		name := map[string]string{"+": "rg_nadd", "-": "rg_nsub", "*": "rg_nmul", "/": "rg_ndiv", "%": "rg_nmod",
			"^": "rg_npow"}[op]
		out.sql = name + "(" + l.sql + ", " + r.sql + ")"
	default:
		name := map[string]string{"+": "rg_fadd", "-": "rg_fsub", "*": "rg_fmul", "/": "rg_fdiv", "^": "rg_fpow"}[op]
		out.sql = name + "(" + l.sql + ", " + r.sql + ")"
		if t.Is(catalog.Float4) {
			out.sql = "rg_f4(" + out.sql + ")"
		}
	}
	return out
}

// arithType is Postgres's choice of an arithmetic operator; the zero Type where there is none.
func arithType(op string, l, r catalog.Type) catalog.Type {
	t := wider(l, r)
	if l.IsFloat() != r.IsFloat() { // only float8 can take the other operand
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

func intArith(b *binder, op string, l, r val, t catalog.Type) string {
	safe := r.lit != nil && r.lit.Value != "0" && r.lit.Value[0] != '-' // a positive constant divides without surprises
	switch {
	case op == "/" && safe:
		return "(" + l.sql + " / " + r.sql + ")"
	case op == "%" && safe:
		return "(" + l.sql + " % " + r.sql + ")"
	case op == "/":
		return intRange(b, "rg_idiv("+l.sql+", "+r.sql+")", t)
	case op == "%":
		return "rg_imod(" + l.sql + ", " + r.sql + ")"
	}
	return intRange(b, "("+l.sql+" "+op+" "+r.sql+")", t)
}

// chunkArith applies the operators that exist on real[] and double precision[] (DESIGN §5): two chunks, or a
// chunk and a scalar that becomes double precision.
func chunkArith(b *binder, at ast.Pos, op string, l, r val) val {
	name := map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow"}[op]
	if name == "" {
		noOperator(b, at, op, l.typ.String(), r.typ.String())
	}
	other := func(v val, chunk catalog.Type) val {
		switch {
		case v.typ.IsUnknown():
			return b.coerce(v, chunk)
		case v.typ.IsNumber():
			return b.coerce(v, catalog.Float8)
		case v.typ.Array && v.typ.Elem().IsNumber():
			return b.coerce(v, catalog.ArrayOf(catalog.Float8))
		}
		noOperator(b, at, op, l.typ.String(), r.typ.String())
		return v
	}
	switch {
	case !l.typ.IsChunk():
		l = other(l, r.typ)
	case !r.typ.IsChunk():
		r = other(r, l.typ)
	}
	return callKernel(b, at, name, []val{l, r})
}

// compareVals binds a comparison.
func compareVals(b *binder, at ast.Pos, op string, l, r val) val {
	switch {
	case l.typ.IsUnknown() && r.typ.IsUnknown():
		l, r = b.coerce(l, catalog.Text), b.coerce(r, catalog.Text)
	case l.typ.Is(catalog.Regtype) && r.typ.IsUnknown(), r.typ.Is(catalog.Regtype) && l.typ.IsUnknown(): // which would be the number of a type
		b.refuse(at, "a comparison of a regtype with an untyped literal",
			"Write 'integer'::regtype, or pg_typeof(x)::text = 'integer'.")
	case l.typ.IsUnknown():
		l = b.coerce(l, r.typ)
	case r.typ.IsUnknown():
		r = b.coerce(r, l.typ)
	}
	t, ok := catalog.CommonType([]catalog.Type{l.typ, r.typ})
	if l.typ.IsNumber() && r.typ.IsNumber() {
		t = arithType(op, l.typ, r.typ)
	}
	if t.Is(catalog.Regtype) && strings.ContainsAny(op, "<>") && op != "<>" {
		b.refuse(at, "an order of regtypes", "Compare their texts: pg_typeof(x)::text.")
	}
	if !ok || t.Name == "json" || l.typ.Array && !l.typ.Is(r.typ) {
		noOperator(b, at, op, l.typ.String(), r.typ.String())
	}
	l, r = coerceComparison(b, l, t), coerceComparison(b, r, t)
	if t.Array {
		return compareArrays(b, at, op, l, r, t)
	}
	return val{sql: "(" + l.collate() + " " + op + " " + r.sql + ")", typ: catalog.Bool, at: at,
		notNull: l.notNull && r.notNull}
}

// coerceComparison converts an operand where SQLite's own comparison would differ: integers and floats
// compare exactly as they are.
func coerceComparison(b *binder, v val, t catalog.Type) val {
	if v.lit == nil && (v.typ.IsInt() && (t.IsInt() || t.IsFloat()) || v.typ.IsFloat() && t.IsFloat()) {
		return v
	}
	return b.coerce(v, t)
}

func compareArrays(b *binder, at ast.Pos, op string, l, r val, t catalog.Type) val {
	l, r = b.coerce(l, t), b.coerce(r, t)
	if op == "=" || op == "<>" || op == "IS" || op == "IS NOT" {
		if t.IsChunk() && (op == "=" || op == "<>") {
			return val{sql: "(rg_chunk_eq(" + l.sql + ", " + r.sql + ") " + op + " 1)", typ: catalog.Bool, at: at}
		}
		equatable(b, val{typ: t, at: at})
		if t.IsChunk() {
			return val{sql: "(" + l.collate() + " " + op + " " + r.collate() + ")", typ: catalog.Bool, at: at}
		}
		return val{sql: "(" + l.collate() + " " + op + " " + r.sql + ")", typ: catalog.Bool, at: at}
	}
	if t.IsChunk() {
		b.failHint(at, sqlerr.FeatureNotSupported, "Use greater(a, b), maximum(a, b) or minimum(a, b), element by element.",
			"an ordering of whole chunks is not supported by the embedded store")
	}
	b.refuse(at, "an ordering of arrays", "Compare elements.")
	return val{}
}

// compareAs is IS [NOT] DISTINCT FROM.
func compareAs(b *binder, at ast.Pos, op string, l, r val) val {
	v := compareVals(b, at, op, l, r)
	v.notNull = true
	return v
}

// timeArith is date ± integer, date − date, and their like.
func timeArith(b *binder, at ast.Pos, op string, l, r val) val {
	if l.typ.IsUnknown() {
		l = b.coerce(l, r.typ)
	}
	if r.typ.IsUnknown() {
		r = b.coerce(r, l.typ)
	}
	switch {
	case op == "+" && l.typ.IsInt():
		l, r = r, l
		fallthrough
	case (op == "+" || op == "-") && l.typ.Is(catalog.Date) && r.typ.IsInt():
		sign := ""
		if op == "-" {
			sign = "-"
		}
		return val{sql: "rg_date_add(" + l.sql + ", " + sign + r.sql + ")", typ: catalog.Date, at: at}
	case op == "-" && l.typ.Is(catalog.Date) && r.typ.Is(catalog.Date):
		return val{sql: "rg_date_sub(" + l.sql + ", " + r.sql + ")", typ: catalog.Int4, at: at}
	case op == "-" && l.typ.IsTime() && r.typ.IsTime():
		b.refuse(at, "the type interval", "Use extract(epoch FROM a) - extract(epoch FROM b), in seconds.")
	}
	noOperator(b, at, op, l.typ.String(), r.typ.String())
	return val{}
}
