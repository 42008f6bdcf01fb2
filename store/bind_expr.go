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
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/store/columns"
)

// expr binds an expression. Inside a grouped SELECT a sub-expression that equals a GROUP BY expression
// may use any column.
func (b *binder) expr(s *scope, e ast.Expr) val {
	if err := b.ctx.Err(); err != nil {
		panic(sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request").Wrap(err))
	}
	l := s.level
	if l == nil || len(l.keys) == 0 {
		v := bindExpr(b, s, e)
		b.typed.note(e, v)
		return v
	}
	n := len(l.ungrouped)
	v := bindExpr(b, s, e)
	b.typed.note(e, v)
	if len(l.ungrouped) > n && l.keys[v.sql] {
		l.ungrouped = l.ungrouped[:n]
	}
	return v
}

func bindExpr(b *binder, s *scope, e ast.Expr) val {
	fields, err := ast.FieldWise(e)
	b.check(e.Position(), err)
	if fields != nil {
		volatile := b.volatile
		v := bindExpr(b, s, fields)
		// it names fields twice
		if order, ok := e.(*ast.Binary); ok && strings.ContainsAny(order.Op, "<>") && order.Op != "<>" {
			b.once(e.Position(), volatile, "an order of rows")
		}
		return v
	}
	switch e := e.(type) {
	case *ast.ColumnRef:
		return b.column(s, e)
	case *ast.Literal:
		return b.literalVal(e)
	case *ast.Bound:
		return bindBound(b, e)
	case *ast.Unary:
		return bindUnary(b, s, e)
	case *ast.Binary:
		return bindBinary(b, s, e)
	case *ast.FuncCall:
		return bindCall(b, s, e)
	case *ast.Case:
		return bindCase(b, s, e)
	case *ast.Coalesce:
		args, t := commonArgs(b, s, e.Args, "COALESCE")
		if len(args) == 1 {
			return val{sql: args[0].sql, typ: t, at: e.At}
		}
		return val{sql: "coalesce(" + sqls(args) + ")", typ: t, at: e.At, notNull: args[len(args)-1].notNull}
	case *ast.MinMax:
		return bindMinMax(b, s, e)
	case *ast.NullIf:
		volatile := b.volatile
		l := b.expr(s, e.L)
		b.once(e.At, volatile, "NULLIF")
		r := b.expr(s, e.R)
		c := compareVals(b, e.At, "=", l, r)
		l = b.settle(l)
		switch { // of the type that l has in l = r
		case l.typ.IsInt() && r.typ.Is(catalog.Numeric):
			l = b.coerce(l, catalog.Numeric)
		case l.typ.IsNumber() && !l.typ.IsFloat() && r.typ.IsFloat():
			l = b.coerce(l, catalog.Float8)
		}
		return val{sql: "CASE WHEN " + c.sql + " THEN NULL ELSE " + l.sql + " END", typ: l.typ, at: e.At}
	case *ast.Cast:
		return bindCast(b, s, e)
	case *ast.SubLink:
		return bindSubLink(b, s, e)
	case *ast.In:
		return bindIn(b, s, e)
	case *ast.AnyArray:
		return bindAnyArray(b, s, e)
	case *ast.Between, *ast.IsNull, *ast.IsBool, *ast.IsDistinct:
		return bindTest(b, s, e)
	case *ast.ArrayLit:
		return bindArray(b, s, e)
	case *ast.Collate:
		return bindCollate(b, s, e)
	case *ast.RowExpr:
		b.refuse(e.At, "a row as a value", "Compare the fields one by one.")
	case *ast.Subscript:
		return bindSubscript(b, s, e)
	case *ast.Param:
		b.fail(e.At, sqlerr.UndefinedParameter, "there is no parameter $%d", e.N)
	case *ast.Default:
		b.fail(e.At, sqlerr.Syntax, "DEFAULT is not allowed in this context")
	}
	b.fail(e.Position(), sqlerr.Internal, "internal error: store does not know %T", e)
	return val{}
}

// once refuses an expression that is printed several times, where it has called a function that gives another value
// each time.
func (b *binder) once(at ast.Pos, before int, what string) {
	if b.volatile > before {
		b.refuse(at, what+" of a volatile function such as random()",
			"Compute it in a sub-select of FROM, and refer to its column.")
	}
}

// bindCollate binds x COLLATE "C", which says how the store compares texts in any case.
func bindCollate(b *binder, s *scope, e *ast.Collate) val {
	if e.Name != "C" && e.Name != "POSIX" && e.Name != "ucs_basic" {
		b.refuse(e.At, "COLLATE", "Leave it out: text compares byte by byte.")
	}
	x := b.expr(s, e.X)
	if !x.typ.Is(catalog.Text) && !x.typ.IsUnknown() {
		b.fail(e.At, sqlerr.DatatypeMismatch, "collations are not supported by type %s", x.typ)
	}
	return x
}

// bindTest binds the predicates with a syntax of their own.
func bindTest(b *binder, s *scope, e ast.Expr) val {
	switch e := e.(type) {
	case *ast.Between:
		x, lo, hi := b.expr(s, e.X), b.expr(s, e.Lo), b.expr(s, e.Hi)
		sql := "(" + compareVals(b, e.At, ">=", x, lo).sql + " AND " + compareVals(b, e.At, "<=", x, hi).sql + ")"
		if e.Not {
			sql = "(NOT " + sql + ")"
		}
		return val{sql: sql, typ: catalog.Bool, at: e.At}
	case *ast.IsNull:
		x := b.expr(s, e.X)
		return val{sql: "(" + x.sql + " IS " + not(e.Not) + "NULL)", typ: catalog.Bool, at: e.At, notNull: true}
	case *ast.IsBool:
		x := b.boolean(b.expr(s, e.X), "argument of IS "+strings.ToUpper(e.What))
		what := map[string]string{"true": "TRUE", "false": "FALSE", "unknown": "NULL"}[e.What]
		return val{sql: "(" + x.sql + " IS " + not(e.Not) + what + ")", typ: catalog.Bool, at: e.At, notNull: true}
	case *ast.IsDistinct:
		op := "IS NOT"
		if e.Not {
			op = "IS"
		}
		return compareAs(b, e.At, op, b.expr(s, e.L), b.expr(s, e.R))
	}
	return val{}
}

func not(yes bool) string {
	if yes {
		return "NOT "
	}
	return ""
}

func sqls(vs []val) string {
	p := make([]string, len(vs))
	for i, v := range vs {
		p[i] = v.sql
	}
	return strings.Join(p, ", ")
}

// literalVal types a literal as Postgres does: a string stays untyped until its context is known.
func (b *binder) literalVal(e *ast.Literal) val {
	v := val{lit: e, at: e.At, notNull: true}
	switch e.Kind {
	case ast.LitNull:
		v.sql, v.typ, v.notNull = "NULL", catalog.Unknown, false
	case ast.LitBool:
		v.sql, v.typ = "FALSE", catalog.Bool
		if e.Value == "true" {
			v.sql = "TRUE"
		}
	case ast.LitString:
		v.sql, v.typ = sqltext.Plain(e.Value), catalog.Unknown
	case ast.LitInt:
		v.sql, v.typ = e.Value, catalog.Int8
		if _, err := strconv.ParseInt(e.Value, 10, 32); err == nil {
			v.typ = catalog.Int4
		}
		if e.Value[0] == '-' {
			v.sql = "(" + v.sql + ")"
		}
	default:
		t, err := columns.Convert(e.Value, catalog.Text, catalog.Numeric)
		b.check(e.At, err)
		v.sql, v.typ = sqltext.Plain(t.(string)), catalog.Numeric
	}
	return v
}

func bindBound(b *binder, e *ast.Bound) val {
	t := catalog.TypeOf(e.Type)
	if e.Type == "" || t.Is(catalog.Unknown) {
		if e.Value == nil {
			return b.literalVal(&ast.Literal{Node: e.Node, Kind: ast.LitNull, Value: "NULL"})
		}
		if x, ok := e.Value.(string); ok {
			return b.literalVal(&ast.Literal{Node: e.Node, Kind: ast.LitString, Value: x})
		}
	}
	switch t.Name { // types without a storage class of their own travel as text
	case "character varying", "character", "name", "varchar", "regtype":
		t.Name = "text"
	}
	if t.Is(catalog.Void) {
		return val{sql: b.constant(e.At, e.Value, catalog.Text), typ: catalog.Void, at: e.At, notNull: e.Value != nil}
	}
	if columns.Storage[t.Name] == "" {
		b.failHint(e.At, sqlerr.UndefinedObject, "", "type \"%s\" does not exist in the embedded store", e.Type)
	}
	return val{sql: b.constant(e.At, e.Value, t), typ: t, bound: e, at: e.At, notNull: e.Value != nil}
}

// constant prints a Go value of a type.
func (b *binder) constant(at ast.Pos, x any, t catalog.Type) string {
	if x == nil {
		return "NULL"
	}
	stored, err := columns.ToStored(x, t)
	b.check(at, err)
	switch v := stored.(type) {
	case int64:
		if b.literal {
			return "(" + strconv.FormatInt(v, 10) + ")"
		}
	case float64:
		if s := strconv.FormatFloat(v, 'g', -1, 64); b.literal || exactText(s) {
			return floatLiteral(v)
		}
	case string:
		if b.literal || len(v) < 40 {
			return sqltext.Plain(v)
		}
	case []byte:
		if b.literal {
			return fmt.Sprintf("x'%x'", v)
		}
	}
	return b.param(stored)
}

// exactText reports whether SQLite reads the decimal text exactly: at most 15 digits and a small exponent
// (both the digits and the power of ten are then exact doubles).
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
func (b *binder) settle(v val) val {
	if v.typ.IsUnknown() {
		return b.coerce(v, catalog.Text)
	}
	return v
}

// boolean demands a condition.
func (b *binder) boolean(v val, what string) val {
	if v.typ.IsUnknown() {
		v = b.coerce(v, catalog.Bool)
	}
	if !v.typ.Is(catalog.Bool) {
		b.fail(v.at, sqlerr.DatatypeMismatch, "%s must be type boolean, not type %s", what, v.typ)
	}
	return v
}

func bindCase(b *binder, s *scope, e *ast.Case) val {
	var out strings.Builder
	out.WriteString("CASE")
	conds := make([]val, len(e.Whens))
	results := make([]val, 0, len(e.Whens)+1)
	if e.Arg != nil && len(e.Whens) > 1 {
		volatile := b.volatile
		b.expr(s, e.Arg)
		b.once(e.At, volatile, "CASE")
	}
	for i, w := range e.Whens {
		if e.Arg != nil {
			conds[i] = compareVals(b, w.Cond.Position(), "=", b.expr(s, e.Arg), b.expr(s, w.Cond))
		} else {
			conds[i] = b.boolean(b.expr(s, w.Cond), "argument of CASE/WHEN")
		}
		results = append(results, b.expr(s, w.Result))
	}
	if e.Else != nil {
		results = append(results, b.expr(s, e.Else))
	}
	// Postgres looks at ELSE first
	order := results
	if e.Else != nil {
		order = append([]val{results[len(results)-1]}, results[:len(results)-1]...)
	}
	t := b.commonType(order, "CASE")
	for i, c := range conds {
		fmt.Fprintf(&out, " WHEN %s THEN %s", c.sql, b.coerce(results[i], t).sql)
	}
	if e.Else != nil {
		out.WriteString(" ELSE " + b.coerce(results[len(results)-1], t).sql)
	}
	v := val{sql: out.String() + " END", typ: t, at: e.At}
	if e.Else != nil {
		v.mods = sameMods(results)
	}
	return v
}

func (b *binder) commonType(vs []val, what string) catalog.Type {
	ts := make([]catalog.Type, len(vs))
	for i, v := range vs {
		ts[i] = v.typ
	}
	t, ok := catalog.CommonType(ts)
	if !ok {
		for _, v := range vs {
			if v.typ.Is(t) {
				first := ts[0]
				for _, f := range ts {
					if !f.IsUnknown() {
						first = f
						break
					}
				}
				b.fail(v.at, sqlerr.DatatypeMismatch, "%s types %s and %s cannot be matched", what, first, t)
			}
		}
	}
	return t
}

// commonArgs binds arguments and converts them to their common type.
func commonArgs(b *binder, s *scope, list []ast.Expr, what string) ([]val, catalog.Type) {
	vs := make([]val, len(list))
	for i, x := range list {
		vs[i] = b.expr(s, x)
	}
	t := b.commonType(vs, what)
	for i := range vs {
		vs[i] = b.coerce(vs[i], t)
	}
	return vs, t
}

// bindMinMax prints GREATEST and LEAST, which skip NULL unlike SQLite's max(a, b).
func bindMinMax(b *binder, s *scope, e *ast.MinMax) val {
	name, f := "LEAST", "min"
	if e.Greatest {
		name, f = "GREATEST", "max"
	}
	args, t := commonArgs(b, s, e.Args, name)
	switch {
	case t.Name == "json":
		b.fail(e.At, sqlerr.UndefinedFunction, "could not identify a comparison function for type %s", t)
	case t.Is(catalog.JSONB):
		b.refuse(e.At, name+" of jsonb", "Compare the values: CASE WHEN a > b THEN a ELSE b END.")
	case t.Array:
		b.failHint(e.At, sqlerr.WrongObjectType, "Use maximum(a, b) or minimum(a, b), element by element.",
			"%s of whole arrays is not supported", name)
	}
	if len(args) == 1 {
		return val{sql: args[0].sql, typ: t, at: e.At, mods: args[0].mods}
	}
	if t.Is(catalog.Numeric) {
		return val{sql: "rg_" + f + "_numeric(" + sqls(args) + ")", typ: t, at: e.At, mods: sameMods(args)}
	}
	null := true
	for _, a := range args {
		null = null && a.notNull
	}
	if null {
		return val{sql: f + "(" + sqls(args) + ")", typ: t, at: e.At, notNull: true}
	}
	return val{sql: "rg_" + f + "_any(" + sqls(args) + ")", typ: t, at: e.At}
}

func bindIn(b *binder, s *scope, e *ast.In) val {
	volatile := b.volatile
	x := b.expr(s, e.X)
	volatileX := b.volatile > volatile
	vs := make([]val, len(e.List))
	same := true
	all := []val{x}
	for i, it := range e.List {
		vs[i] = b.expr(s, it)
		all = append(all, vs[i])
	}
	ts := make([]catalog.Type, len(all))
	for i, v := range all {
		ts[i] = v.typ
	}
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
		return val{sql: "(" + x.collate() + " " + not(e.Not) + "IN (" + sqls(vs) + "))", typ: catalog.Bool, at: e.At}
	}
	if volatileX && len(vs) > 1 {
		b.once(e.At, volatile, "IN with values of several types")
	}
	p := make([]string, len(vs))
	for i, v := range vs {
		p[i] = compareVals(b, e.At, "=", x, v).sql
	}
	sql := "(" + strings.Join(p, " OR ") + ")"
	if e.Not {
		sql = "(NOT " + sql + ")"
	}
	return val{sql: sql, typ: catalog.Bool, at: e.At}
}

// realList brings elements without columns, where they are several, to their common type with x, as Postgres does.
// The others are compared with x one by one: real with numeric in double precision.
func realList(b *binder, list []ast.Expr, x val, vs []val) {
	var fixed []int
	types := []catalog.Type{x.typ}
	for i, e := range list {
		if !bind.ReadsColumn(e) {
			fixed, types = append(fixed, i), append(types, vs[i].typ)
		}
	}
	if t, ok := catalog.CommonType(types); ok && len(fixed) > 1 {
		for _, i := range fixed {
			vs[i] = b.coerce(vs[i], t)
		}
	}
}

func bindSubLink(b *binder, s *scope, e *ast.SubLink) val {
	q := b.selectQuery(e.Query, s)
	switch e.Kind {
	case ast.SubExists:
		return val{sql: "EXISTS (" + q.text() + ")", typ: catalog.Bool, at: e.At, notNull: true}
	case ast.SubScalar:
		c := oneColumn(b, q, e.At)
		q.settle(b)
		return val{sql: "(" + atMostOne(b, q) + ")", typ: typesOfColumns(q.cols)[c], mods: q.cols[c].mods, at: e.At}
	case ast.SubArray:
		oneColumn(b, q, e.At)
		q.settle(b)
		t := typesOfColumns(q.cols)[0]
		f := arrayAgg(b, t)
		return val{sql: "(SELECT coalesce(" + strings.Replace(f, "$1", q.phys(0), 1) + ", " +
			b.constant(e.At, columns.EmptyArray(t), catalog.ArrayOf(t)) + ") FROM (" + q.text() +
			"))", typ: catalog.ArrayOf(t), at: e.At}
	}
	return subAny(b, s, e, q)
}

func oneColumn(b *binder, q *query, at ast.Pos) int {
	if len(q.cols) != 1 {
		b.fail(at, sqlerr.Syntax, "subquery must return only one column")
	}
	return 0
}

// atMostOne prints a scalar sub-select; SQLite takes the first of several rows, Postgres refuses them.
func atMostOne(b *binder, q *query) string {
	if q.single {
		return q.text()
	}
	a := b.alias("q")
	return "SELECT CASE WHEN count(*) > 1 THEN rg_fail('21000 more than one row returned by a subquery used as an expression') ELSE max(" + a + ".c) END FROM (SELECT " +
		q.phys(0) + " AS c FROM (" + q.text() + ") LIMIT 2) AS " + a
}

// subAny is x op ANY (SELECT …), x op ALL (SELECT …) and their row forms.
func subAny(b *binder, s *scope, e *ast.SubLink, q *query) val {
	all := e.Kind == ast.SubAll
	tests := []ast.Expr{e.Test}
	if r, ok := e.Test.(*ast.RowExpr); ok {
		tests = r.Fields
	}
	if len(tests) != len(q.cols) {
		many := map[bool]string{true: "too many", false: "too few"}[len(q.cols) > len(tests)]
		b.fail(e.At, sqlerr.Syntax, "subquery has %s columns", many)
	}
	q.settle(b)
	chunks := slices.ContainsFunc(typesOfColumns(q.cols), catalog.Type.IsChunk)
	if (e.Op == "=" && !all || e.Op == "<>" && all) && (!chunks || len(tests) > 1) {
		lhs := make([]string, len(tests))
		for i, t := range tests {
			x := b.expr(s, t)
			ct, ok := catalog.CommonType([]catalog.Type{x.typ, typesOfColumns(q.cols)[i]})
			if !ok || ct.Name == "json" {
				b.fail(e.At, sqlerr.UndefinedFunction, "operator does not exist: %s = %s", x.typ, typesOfColumns(q.cols)[i])
			}
			equatable(b, val{typ: ct, at: e.At})
			if ct.IsChunk() {
				b.refuse(e.At, "a row with chunks in IN (SELECT …)", "Use EXISTS with a condition.")
			}
			q.coerce(b, i, ct)
			lhs[i] = b.coerce(x, ct).collate()
		}
		l := strings.Join(lhs, ", ")
		if len(lhs) > 1 {
			l = "(" + l + ")"
		}
		return val{sql: "(" + l + " " + not(all) + "IN (" + q.text() + "))", typ: catalog.Bool, at: e.At}
	}
	if len(tests) > 1 {
		b.refuse(e.At, "a comparison of rows with ANY or ALL", "Use IN, or EXISTS with a condition.")
	}
	a := b.alias("q")
	c := compareVals(b, e.At, e.Op, b.expr(s, tests[0]),
		val{sql: a + "." + q.phys(0), typ: typesOfColumns(q.cols)[0], at: e.At})
	agg, empty := "max", "FALSE"
	if all {
		agg, empty = "min", "TRUE"
	}
	// three-valued: a NULL comparison makes the result unknown unless another decides it
	sql := fmt.Sprintf("(SELECT CASE WHEN count(*) = 0 THEN %s WHEN %s(x) = %s THEN %s WHEN count(x) < count(*) THEN NULL ELSE %s END FROM (SELECT %s AS x FROM (%s) AS %s))",
		empty, agg, flip(empty), flip(empty), empty, c.sql, q.text(), a)
	return val{sql: sql, typ: catalog.Bool, at: e.At}
}

func flip(b string) string {
	if b == "TRUE" {
		return "FALSE"
	}
	return "TRUE"
}
