package bind

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/store/columns"
)

// Expr binds an expression. In a grouped SELECT, a sub-expression that equals a GROUP BY expression may use any column.
func (b *Binder) Expr(s *Scope, e ast.Expr) Value {
	if err := b.Context.Err(); err != nil {
		panic(sqlerr.Canceled(err))
	}
	l := s.Level
	if l == nil || len(l.keys) == 0 {
		v := bindExpr(b, s, e)
		noteType(b, e, v)
		return v
	}
	if v, ok := l.given[e]; ok { // a sub-query bound twice has two texts
		return v
	}
	n := len(l.ungrouped)
	v := bindExpr(b, s, e)
	noteType(b, e, v)
	if len(l.ungrouped) > n && l.keys[v.SQL] {
		l.ungrouped = l.ungrouped[:n]
	}
	return v
}

func bindExpr(b *Binder, s *Scope, e ast.Expr) Value {
	fields, err := ast.FieldWise(e)
	b.Check(e.Position(), err)
	if fields != nil {
		volatile := b.Volatile
		v := bindExpr(b, s, fields)
		// the order of rows names each field twice
		if order, ok := e.(*ast.Binary); ok && strings.ContainsAny(order.Op, "<>") && order.Op != "<>" {
			b.once(e.Position(), volatile, "an order of rows")
		}
		return v
	}
	bind := constructs[reflect.TypeOf(e)]
	if bind == nil {
		b.Fail(e.Position(), sqlerr.Internal, "internal error: store does not know %T", e)
	}
	return bind(b, s, e)
}

func bindCoalesce(b *Binder, s *Scope, e *ast.Coalesce) Value {
	args, t := commonArgs(b, s, e.Args, "COALESCE")
	if len(args) == 1 {
		return Value{SQL: args[0].SQL, Type: t, At: e.At}
	}
	return Value{SQL: "coalesce(" + ListSQL(args) + ")", Type: t, At: e.At, NotNull: args[len(args)-1].NotNull}
}

func bindNullIf(b *Binder, s *Scope, e *ast.NullIf) Value {
	volatile := b.Volatile
	l := b.Expr(s, e.L)
	b.once(e.At, volatile, "NULLIF")
	r := b.Expr(s, e.R)
	c := compareVals(b, e.At, "=", l, r)
	l = b.settle(l)
	switch { // which has the type that l would need in l = r
	case l.Type.IsInt() && r.Type.Is(catalog.Numeric):
		l = b.coerce(l, catalog.Numeric)
	case l.Type.IsNumber() && !l.Type.IsFloat() && r.Type.IsFloat():
		l = b.coerce(l, catalog.Float8)
	}
	return Value{SQL: "CASE WHEN " + c.SQL + " THEN NULL ELSE " + l.SQL + " END", Type: l.Type, At: e.At}
}

// once refuses an expression that is printed several times if a volatile function has been called in it.
func (b *Binder) once(at ast.Pos, before int, what string) {
	if b.Volatile > before {
		b.Refuse(at, what+" of a volatile function such as random()",
			"Compute it in a sub-select of FROM, and refer to its column.")
	}
}

// bindCollate binds x COLLATE "C", which is how the store compares texts anyway.
func bindCollate(b *Binder, s *Scope, e *ast.Collate) Value {
	if e.Name != "C" && e.Name != "POSIX" && e.Name != "ucs_basic" {
		b.Refuse(e.At, "COLLATE", "Leave it out: text compares byte by byte.")
	}
	x := b.Expr(s, e.X)
	if !x.Type.Is(catalog.Text) && !x.Type.IsUnknown() {
		b.Fail(e.At, sqlerr.DatatypeMismatch, "collations are not supported by type %s", x.Type)
	}
	return x
}

func bindBetween(b *Binder, s *Scope, e *ast.Between) Value {
	x, lo, hi := b.Expr(s, e.X), b.Expr(s, e.Lo), b.Expr(s, e.Hi)
	sql := "(" + compareVals(b, e.At, ">=", x, lo).SQL + " AND " + compareVals(b, e.At, "<=", x, hi).SQL + ")"
	if e.Not {
		sql = "(NOT " + sql + ")"
	}
	return Value{SQL: sql, Type: catalog.Bool, At: e.At}
}

func bindIsNull(b *Binder, s *Scope, e *ast.IsNull) Value {
	x := b.Expr(s, e.X)
	return Value{SQL: "(" + x.SQL + " IS " + not(e.Not) + "NULL)", Type: catalog.Bool, At: e.At, NotNull: true}
}

func bindIsBool(b *Binder, s *Scope, e *ast.IsBool) Value {
	x := b.boolean(b.Expr(s, e.X), "argument of IS "+strings.ToUpper(e.What))
	what := map[string]string{"true": "TRUE", "false": "FALSE", "unknown": "NULL"}[e.What]
	return Value{SQL: "(" + x.SQL + " IS " + not(e.Not) + what + ")", Type: catalog.Bool, At: e.At, NotNull: true}
}

func bindIsDistinct(b *Binder, s *Scope, e *ast.IsDistinct) Value {
	op := "IS NOT"
	if e.Not {
		op = "IS"
	}
	return compareAs(b, e.At, op, b.Expr(s, e.L), b.Expr(s, e.R))
}

func not(yes bool) string {
	if yes {
		return "NOT "
	}
	return ""
}

// ListSQL prints values with commas between them.
func ListSQL(vs []Value) string {
	return strings.Join(lists.Map(vs, func(v Value) string { return v.SQL }), ", ")
}

// literalVal types a literal as Postgres does: a string stays untyped until its context is known.
func (b *Binder) literalVal(e *ast.Literal) Value {
	v := Value{Literal: e, At: e.At, NotNull: true}
	switch e.Kind {
	case ast.LitNull:
		v.SQL, v.Type, v.NotNull = "NULL", catalog.Unknown, false
	case ast.LitBool:
		v.SQL, v.Type = "FALSE", catalog.Bool
		if e.Value == "true" {
			v.SQL = "TRUE"
		}
	case ast.LitString:
		v.SQL, v.Type = sqltext.Plain(e.Value), catalog.Unknown
	case ast.LitInt:
		v.SQL, v.Type = e.Value, catalog.Int8
		if _, err := strconv.ParseInt(e.Value, 10, 32); err == nil {
			v.Type = catalog.Int4
		}
		if e.Value[0] == '-' {
			v.SQL = "(" + v.SQL + ")"
		}
	default:
		t, err := columns.Convert(e.Value, catalog.Text, catalog.Numeric)
		b.Check(e.At, err)
		v.SQL, v.Type = sqltext.Plain(t.(string)), catalog.Numeric
	}
	return v
}

func bindBound(b *Binder, e *ast.Bound) Value {
	t := catalog.TypeOf(e.Type)
	if e.Type == "" || t.Is(catalog.Unknown) {
		if e.Value == nil {
			return b.literalVal(&ast.Literal{Node: e.Node, Kind: ast.LitNull, Value: "NULL"})
		}
		if x, ok := e.Value.(string); ok {
			return b.literalVal(&ast.Literal{Node: e.Node, Kind: ast.LitString, Value: x})
		}
	}
	switch t.Name { // types without a storage class in SQLite are stored as text
	case "character varying", "character", "name", "varchar", "regtype":
		t.Name = "text"
	}
	if t.Is(catalog.Void) {
		return Value{SQL: b.constant(e.At, e.Value, catalog.Text), Type: catalog.Void, At: e.At, NotNull: e.Value != nil}
	}
	if columns.Storage[t.Name] == "" {
		b.FailHint(e.At, sqlerr.UndefinedObject, "", "type \"%s\" does not exist in the embedded store", e.Type)
	}
	return Value{SQL: b.constant(e.At, e.Value, t), Type: t, bound: e, At: e.At, NotNull: e.Value != nil}
}

// constant prints a Go value of a type.
func (b *Binder) constant(at ast.Pos, x any, t catalog.Type) string {
	if x == nil {
		return "NULL"
	}
	stored, err := columns.ToStored(x, t)
	b.Check(at, err)
	switch v := stored.(type) {
	case int64:
		if b.Literal {
			return "(" + strconv.FormatInt(v, 10) + ")"
		}
	case float64:
		if s := strconv.FormatFloat(v, 'g', -1, 64); b.Literal || exactText(s) {
			return floatLiteral(v)
		}
	case string:
		if b.Literal || len(v) < 40 {
			return sqltext.Plain(v)
		}
	case []byte:
		if b.Literal {
			return fmt.Sprintf("x'%x'", v)
		}
	}
	return b.param(stored)
}

// exactText reports whether SQLite reads a decimal text exactly: it has at most 15 digits and a small exponent, so that
// the digits and the power of ten are both exact doubles.
func exactText(s string) bool {
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == 'e' || c == 'I' || c == 'N':
			return false
		}
	}
	return digits <= 15
}

func floatLiteral(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	switch {
	case s == "+Inf":
		return "9e999"
	case s == "-Inf":
		return "(-9e999)"
	case !strings.ContainsAny(s, ".e"):
		s += ".0"
	}
	if s[0] == '-' {
		return "(" + s + ")"
	}
	return s
}

// settle gives an untyped literal the type text.
func (b *Binder) settle(v Value) Value {
	if v.Type.IsUnknown() {
		return b.coerce(v, catalog.Text)
	}
	return v
}

// boolean checks that v is a condition.
func (b *Binder) boolean(v Value, what string) Value {
	if v.Type.IsUnknown() {
		v = b.coerce(v, catalog.Bool)
	}
	if !v.Type.Is(catalog.Bool) {
		b.Fail(v.At, sqlerr.DatatypeMismatch, "%s must be type boolean, not type %s", what, v.Type)
	}
	return v
}

func bindCase(b *Binder, s *Scope, e *ast.Case) Value {
	var out strings.Builder
	out.WriteString("CASE")
	conds := make([]Value, len(e.Whens))
	results := make([]Value, 0, len(e.Whens)+1)
	if e.Arg != nil && len(e.Whens) > 1 {
		volatile := b.Volatile
		b.Expr(s, e.Arg)
		b.once(e.At, volatile, "CASE")
	}
	for i, w := range e.Whens {
		if e.Arg != nil {
			conds[i] = compareVals(b, w.Cond.Position(), "=", b.Expr(s, e.Arg), b.Expr(s, w.Cond))
		} else {
			conds[i] = b.boolean(b.Expr(s, w.Cond), "argument of CASE/WHEN")
		}
		results = append(results, b.Expr(s, w.Result))
	}
	if e.Else != nil {
		results = append(results, b.Expr(s, e.Else))
	}
	// Postgres looks at ELSE first
	order := results
	if e.Else != nil {
		order = append([]Value{results[len(results)-1]}, results[:len(results)-1]...)
	}
	t := b.commonType(order, "CASE")
	for i, c := range conds {
		fmt.Fprintf(&out, " WHEN %s THEN %s", c.SQL, b.coerce(results[i], t).SQL)
	}
	if e.Else != nil {
		out.WriteString(" ELSE " + b.coerce(results[len(results)-1], t).SQL)
	}
	v := Value{SQL: out.String() + " END", Type: t, At: e.At}
	if e.Else != nil {
		v.mods = sameMods(results)
	}
	return v
}

func (b *Binder) commonType(vs []Value, what string) catalog.Type {
	ts := lists.Map(vs, func(v Value) catalog.Type { return v.Type })
	t, ok := catalog.CommonType(ts)
	if !ok {
		for _, v := range vs {
			if v.Type.Is(t) {
				first := ts[0]
				for _, f := range ts {
					if !f.IsUnknown() {
						first = f
						break
					}
				}
				b.Fail(v.At, sqlerr.DatatypeMismatch, "%s types %s and %s cannot be matched", what, first, t)
			}
		}
	}
	return t
}

// commonArgs binds arguments and converts them to their common type.
func commonArgs(b *Binder, s *Scope, list []ast.Expr, what string) ([]Value, catalog.Type) {
	vs := lists.Map(list, func(x ast.Expr) Value { return b.Expr(s, x) })
	t := b.commonType(vs, what)
	for i := range vs {
		vs[i] = b.coerce(vs[i], t)
	}
	return vs, t
}

// bindMinMax prints GREATEST and LEAST, which skip NULL; SQLite's max(a, b) does not.
func bindMinMax(b *Binder, s *Scope, e *ast.MinMax) Value {
	name, f := "LEAST", "min"
	if e.Greatest {
		name, f = "GREATEST", "max"
	}
	args, t := commonArgs(b, s, e.Args, name)
	switch {
	case t.Name == "json":
		b.Fail(e.At, sqlerr.UndefinedFunction, "could not identify a comparison function for type %s", t)
	case t.Is(catalog.JSONB):
		b.Refuse(e.At, name+" of jsonb", "Compare the values: CASE WHEN a > b THEN a ELSE b END.")
	case t.Array:
		b.FailHint(e.At, sqlerr.WrongObjectType, "Use maximum(a, b) or minimum(a, b), element by element.",
			"%s of whole arrays is not supported", name)
	}
	if len(args) == 1 {
		return Value{SQL: args[0].SQL, Type: t, At: e.At, mods: args[0].mods}
	}
	if t.Is(catalog.Numeric) {
		return Value{SQL: "rg_" + f + "_numeric(" + ListSQL(args) + ")", Type: t, At: e.At, mods: sameMods(args)}
	}
	null := true
	for _, a := range args {
		null = null && a.NotNull
	}
	if null {
		return Value{SQL: f + "(" + ListSQL(args) + ")", Type: t, At: e.At, NotNull: true}
	}
	return Value{SQL: "rg_" + f + "_any(" + ListSQL(args) + ")", Type: t, At: e.At}
}

func bindIn(b *Binder, s *Scope, e *ast.In) Value {
	volatile := b.Volatile
	x := b.Expr(s, e.X)
	volatileX := b.Volatile > volatile
	vs := make([]Value, len(e.List))
	same := true
	all := []Value{x}
	for i, it := range e.List {
		vs[i] = b.Expr(s, it)
		all = append(all, vs[i])
	}
	ts := lists.Map(all, func(v Value) catalog.Type { return v.Type })
	t, ok := catalog.CommonType(ts)
	same = ok && !t.Array && t.Name != "json"
	if same && t.Is(catalog.Float4) {
		realList(b, e.List, x, vs)
		same = false
	}
	if same {
		x = b.coerce(x, t)
		for i := range vs {
			vs[i] = b.coerce(vs[i], t)
		}
		return Value{SQL: "(" + x.Collate() + " " + not(e.Not) + "IN (" + ListSQL(vs) + "))", Type: catalog.Bool, At: e.At}
	}
	if volatileX && len(vs) > 1 {
		b.once(e.At, volatile, "IN with values of several types")
	}
	p := lists.Map(vs, func(v Value) string { return compareVals(b, e.At, "=", x, v).SQL })
	sql := "(" + strings.Join(p, " OR ") + ")"
	if e.Not {
		sql = "(NOT " + sql + ")"
	}
	return Value{SQL: sql, Type: catalog.Bool, At: e.At}
}

// realList converts elements without columns, where there are several, to their common type with x, as Postgres does.
// The others are compared with x one by one: real with numeric in double precision.
func realList(b *Binder, list []ast.Expr, x Value, vs []Value) {
	var fixed []int
	types := []catalog.Type{x.Type}
	for i, e := range list {
		if !bind.ReadsColumn(e) {
			fixed, types = append(fixed, i), append(types, vs[i].Type)
		}
	}
	if t, ok := catalog.CommonType(types); ok && len(fixed) > 1 {
		for _, i := range fixed {
			vs[i] = b.coerce(vs[i], t)
		}
	}
}

func bindSubLink(b *Binder, s *Scope, e *ast.SubLink) Value {
	q := b.SelectQuery(e.Query, s)
	switch e.Kind {
	case ast.SubExists:
		return Value{SQL: "EXISTS (" + q.Text() + ")", Type: catalog.Bool, At: e.At, NotNull: true}
	case ast.SubScalar:
		c := oneColumn(b, q, e.At)
		q.Settle(b)
		return Value{SQL: "(" + atMostOne(b, q) + ")", Type: TypesOfColumns(q.Columns)[c], mods: q.Columns[c].Mods, At: e.At}
	case ast.SubArray:
		oneColumn(b, q, e.At)
		q.Settle(b)
		t := TypesOfColumns(q.Columns)[0]
		f := arrayAgg(t, "")
		return Value{SQL: "(SELECT coalesce(" + strings.Replace(f, "$1", q.Phys(0), 1) + ", " +
			b.constant(e.At, columns.EmptyArray(t), catalog.ArrayOf(t)) + ") FROM (" + q.Text() +
			"))", Type: catalog.ArrayOf(t), At: e.At}
	}
	return subAny(b, s, e, q)
}

func oneColumn(b *Binder, q *Query, at ast.Pos) int {
	if len(q.Columns) != 1 {
		b.Fail(at, sqlerr.Syntax, "subquery must return only one column")
	}
	return 0
}

// atMostOne prints a scalar sub-select. SQLite would take the first of several rows; Postgres refuses them.
func atMostOne(b *Binder, q *Query) string {
	if q.single {
		return q.Text()
	}
	a := b.alias("q")
	return "SELECT CASE WHEN count(*) > 1 THEN rg_fail('21000 more than one row returned by a subquery used as an " +
		"expression') ELSE max(" + a + ".c) END FROM (SELECT " +
		q.Phys(0) + " AS c FROM (" + q.Text() + ") LIMIT 2) AS " + a
}

// subAny is x op ANY (SELECT …), x op ALL (SELECT …) and their row forms.
func subAny(b *Binder, s *Scope, e *ast.SubLink, q *Query) Value {
	all := e.Kind == ast.SubAll
	tests := []ast.Expr{e.Test}
	if r, ok := e.Test.(*ast.RowExpr); ok {
		tests = r.Fields
	}
	if len(tests) != len(q.Columns) {
		many := map[bool]string{true: "too many", false: "too few"}[len(q.Columns) > len(tests)]
		b.Fail(e.At, sqlerr.Syntax, "subquery has %s columns", many)
	}
	q.Settle(b)
	chunks := slices.ContainsFunc(TypesOfColumns(q.Columns), catalog.Type.IsChunk)
	if (e.Op == "=" && !all || e.Op == "<>" && all) && (!chunks || len(tests) > 1) {
		lhs := make([]string, len(tests))
		for i, t := range tests {
			x := b.Expr(s, t)
			of := TypesOfColumns(q.Columns)[i]
			ct, ok := catalog.CommonType([]catalog.Type{x.Type, of})
			if x.Type.IsNumber() && of.IsNumber() {
				ct = arithType(e.Op, x.Type, of)
			}
			if !ok || ct.Name == "json" {
				b.Fail(e.At, sqlerr.UndefinedFunction, "operator does not exist: %s = %s", x.Type, of)
			}
			equatable(b, Value{Type: ct, At: e.At})
			if ct.IsChunk() {
				b.Refuse(e.At, "a row with chunks in IN (SELECT …)", "Use EXISTS with a condition.")
			}
			q.Coerce(b, i, ct)
			lhs[i] = b.coerce(x, ct).Collate()
		}
		l := strings.Join(lhs, ", ")
		if len(lhs) > 1 {
			l = "(" + l + ")"
		}
		return Value{SQL: "(" + l + " " + not(all) + "IN (" + q.Text() + "))", Type: catalog.Bool, At: e.At}
	}
	if len(tests) > 1 {
		b.Refuse(e.At, "a comparison of rows with ANY or ALL", "Use IN, or EXISTS with a condition.")
	}
	noWindow(b, e.At, e.Test)
	a := b.alias("q")
	c := compareVals(b, e.At, e.Op, b.Expr(s, tests[0]),
		Value{SQL: a + "." + q.Phys(0), Type: TypesOfColumns(q.Columns)[0], At: e.At})
	return Value{SQL: decides(all, "x", inRows(c, "("+q.Text()+") AS "+a)), Type: catalog.Bool, At: e.At}
}

// decides tells whether x holds for some row of from, or for all. Logic has three values: a NULL makes the result
// unknown unless another row decides it.
func decides(all bool, x, from string) string {
	agg, empty := "max", "FALSE"
	if all {
		agg, empty = "min", "TRUE"
	}
	return fmt.Sprintf("(SELECT CASE WHEN count(*) = 0 THEN %s WHEN %s(%s) = %s THEN %s WHEN count(%[3]s) < count(*) "+
		"THEN NULL ELSE %[1]s END FROM %[6]s)", empty, agg, x, flip(empty), flip(empty), from)
}

// noWindow refuses a window function where a condition is computed inside another query: it would be over its rows.
func noWindow(b *Binder, at ast.Pos, x ast.Expr) {
	if ast.Any(x, func(c *ast.FuncCall) bool { return c.Over != nil }) {
		b.Refuse(at, "a window function beside ANY or ALL", "Compute it in a sub-query in FROM.")
	}
}

// inRows is a condition as column x of the rows of from. So aggregates in it are no part of those that read x.
func inRows(c Value, from string) string { return "(SELECT " + c.SQL + " AS x FROM " + from + ")" }

func flip(b string) string {
	if b == "TRUE" {
		return "FALSE"
	}
	return "TRUE"
}
