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

// query is a bound SELECT whose output columns can still be converted. Its columns are printed as c1, c2, …
// (column1, … for VALUES).
type query struct {
	with      []string
	cols      []outcol
	targets   []val   // a plain SELECT
	rows      [][]val // VALUES
	l, r      *query  // a set operation
	op        string
	distinct  bool
	compared  bool   // a side of a set operation
	on        string // DISTINCT ON: the printed PARTITION BY list
	tail      string // FROM … HAVING
	order     []orderKey
	limit     string
	single    bool // yields at most one row
	grouped   bool // GROUP BY, aggregates or windows: SQLite never merges it into another query
	recursive bool // a CTE that refers to itself
	having    bool // HAVING without GROUP BY: SQLite wants an aggregate among the columns
}

type outcol struct {
	name    string
	typ     catalog.Type
	notNull bool
	mods    []int // see val
}

// orderKey is one bound ORDER BY item.
type orderKey struct {
	col  int // output column, -1 when sql is an expression
	v    val
	rest string // DESC, NULLS …
}

func typesOfColumns(cols []outcol) []catalog.Type {
	out := make([]catalog.Type, len(cols))
	for i := range cols {
		out[i] = cols[i].typ
	}
	return out
}

// phys is the printed name of column i.
func (q *query) phys(i int) string {
	if q.rows != nil && !q.wrapped() { // a set operation wraps those that are its sides
		return "column" + strconv.Itoa(i+1)
	}
	return "c" + strconv.Itoa(i+1)
}

// wrapped reports whether VALUES must stand in a SELECT of its own.
func (q *query) wrapped() bool { return q.rows != nil && (len(q.order) > 0 || q.limit != "") }

// coerce converts output column i to type t.
func (q *query) coerce(b *binder, i int, t catalog.Type) {
	if q.cols[i].typ.Is(t) {
		return
	}
	if !q.cols[i].typ.IsUnknown() && q.chooses() {
		q.enclose(b)
	}
	q.cols[i].typ, q.cols[i].mods = t, nil
	switch {
	case q.l != nil:
		q.l.coerce(b, i, t)
		q.r.coerce(b, i, t)
	case q.rows != nil:
		for _, r := range q.rows {
			r[i] = b.coerce(r[i], t)
		}
	default:
		q.targets[i] = b.coerce(q.targets[i], t)
	}
}

// chooses reports whether the values of the query's columns decide which rows it has: two numerics may be one
// double precision, so DISTINCT, set operations and LIMIT act before a conversion.
func (q *query) chooses() bool {
	return q.distinct || q.on != "" || q.limit != "" || q.l != nil && !strings.HasSuffix(q.op, " ALL")
}

// enclose makes the query a sub-query of a plain SELECT of its columns.
func (q *query) enclose(b *binder) {
	inner, t := *q, b.alias("t")
	*q = query{cols: inner.cols, single: inner.single, recursive: inner.recursive,
		tail: " FROM (" + inner.text() + ") AS " + t}
	for i, c := range q.cols {
		v := val{sql: t + "." + inner.phys(i), typ: c.typ, notNull: c.notNull}
		if i < len(inner.targets) {
			v.at = inner.targets[i].at
		}
		q.targets = append(q.targets, v)
	}
}

// settle gives every untyped column the type text.
func (q *query) settle(b *binder) {
	for i := range q.cols {
		if q.cols[i].typ.IsUnknown() {
			q.coerce(b, i, catalog.Text)
		}
	}
}

// text prints the query.
func (q *query) text() string {
	if len(q.with) > 0 {
		return "WITH RECURSIVE " + strings.Join(q.with, ", ") + " " + q.body()
	}
	return q.body()
}

func (q *query) body() string {
	switch {
	case q.l != nil:
		return q.l.operand(true) + " " + q.op + " " + q.r.operand(false) + q.orderText(false) + q.limit
	case q.on != "":
		return q.distinctOn()
	case q.rows != nil:
		s := "VALUES " + q.valuesText()
		if q.wrapped() {
			list := make([]string, len(q.cols))
			for i := range list {
				list[i] = fmt.Sprintf("column%d AS c%d", i+1, i+1)
			}
			return "SELECT " + strings.Join(list, ", ") + " FROM (" + s + ")" + q.orderText(false) + q.limit
		}
		return s
	}
	return "SELECT " + distinctText(q.distinct) + q.targetText() + q.tail + q.orderText(true) + q.limit
}

func distinctText(d bool) string {
	if d {
		return "DISTINCT "
	}
	return ""
}

func (q *query) valuesText() string {
	rows := make([]string, len(q.rows))
	for i, r := range q.rows {
		rows[i] = "(" + sqls(r) + ")"
	}
	return strings.Join(rows, ", ")
}

func (q *query) targetText() string {
	if len(q.targets) == 0 {
		if q.having {
			return "count(*) AS c1"
		}
		return "NULL AS c1"
	}
	list := make([]string, len(q.targets))
	for i, t := range q.targets {
		s := t.sql
		if q.distinct || q.compared {
			s = t.member()
		}
		if q.having && i == 0 {
			s = "CASE WHEN count(*) >= 0 THEN " + s + " END"
		}
		list[i] = s + " AS c" + strconv.Itoa(i+1)
	}
	return strings.Join(list, ", ")
}

// operand prints a side of a set operation. Sets compare numerics as numbers by the collation of their columns.
func (q *query) operand(left bool) string {
	plain := q.rows == nil && len(q.with) == 0 && len(q.order) == 0 && q.limit == "" && q.on == ""
	numerics := false
	for _, c := range q.cols {
		numerics = numerics || columns.Collation(c.typ) != "" || c.typ.IsChunk()
	}
	if plain && (!numerics || q.targets != nil) && (q.l == nil || left) {
		q.compared = true
		return q.body()
	}
	list := make([]string, len(q.cols))
	for i := range q.cols {
		p := q.phys(i)
		list[i] = val{sql: p, typ: q.cols[i].typ}.member() + " AS c" + strconv.Itoa(i+1)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + q.text() + ")"
}

func (q *query) orderText(exprs bool) string {
	if len(q.order) == 0 {
		return ""
	}
	list := make([]string, len(q.order))
	for i, k := range q.order {
		switch {
		case k.col >= 0:
			list[i] = columns.Collated(q.cols[k.col].typ, strconv.Itoa(k.col+1)) + k.rest
		default:
			list[i] = noPosition(k.v) + k.rest
		}
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

// distinctOn keeps the first row of each group in the query's order.
func (q *query) distinctOn() string {
	var keys, names, outer []string
	for i, k := range q.order {
		v := k.v
		if k.col >= 0 {
			v = q.targets[k.col]
		}
		o := "o" + strconv.Itoa(i+1)
		keys = append(keys, v.collate()+k.rest)
		names = append(names, v.sql+" AS "+o)
		outer = append(outer, columns.Collated(v.typ, o)+k.rest)
	}
	over := "PARTITION BY " + q.on
	tail := ""
	if len(keys) > 0 {
		over += " ORDER BY " + strings.Join(keys, ", ")
		tail = " ORDER BY " + strings.Join(outer, ", ")
	}
	list := make([]string, len(q.cols))
	for i := range list {
		list[i] = "c" + strconv.Itoa(i+1)
	}
	inner := "SELECT " + strings.Join(append([]string{q.targetText(), "row_number() OVER (" + over + ") AS rn"}, names...),
		", ") + q.tail
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + inner + ") WHERE rn = 1" + tail + q.limit
}

// selectQuery binds a SELECT, VALUES or set operation; up is the scope around it.
func (b *binder) selectQuery(sel *ast.Select, up *scope) *query {
	s := &scope{up: up}
	with := bindWith(b, s, sel)
	var q *query
	switch {
	case sel.Own != nil: // only a server could run it
		panic(sel.Own.Why)
	case sel.SetOp != "":
		q = bindSetOp(b, sel, s)
	case sel.Values != nil:
		q = bindValues(b, sel, s)
	default:
		q = bindPlain(b, sel, s)
	}
	q.with = with
	bindLimit(b, sel, s, q)
	b.typed.noteSelect(sel)
	return q
}

func bindSetOp(b *binder, sel *ast.Select, s *scope) *query {
	q := &query{l: b.selectQuery(sel.L, s), r: b.selectQuery(sel.R, s)}
	name := strings.ToUpper(sel.SetOp)
	q.op = name
	if sel.All {
		if sel.SetOp != "union" {
			b.refuse(sel.At, name+" ALL", "Use "+name+", or count the rows with GROUP BY.")
		}
		q.op += " ALL"
	}
	if len(q.l.cols) != len(q.r.cols) {
		b.fail(sel.R.At, sqlerr.Syntax, "each %s query must have the same number of columns", name)
	}
	q.cols = append([]outcol(nil), q.l.cols...)
	for i := range q.cols {
		t, ok := catalog.CommonType([]catalog.Type{q.l.cols[i].typ, q.r.cols[i].typ})
		if !ok {
			at := sel.R.At
			if i < len(q.r.targets) {
				at = q.r.targets[i].at
			}
			b.fail(at, sqlerr.DatatypeMismatch, "%s types %s and %s cannot be matched", name, q.l.cols[i].typ, q.r.cols[i].typ)
		}
		q.cols[i].notNull = q.l.cols[i].notNull && q.r.cols[i].notNull
		if !q.l.cols[i].typ.Is(q.r.cols[i].typ) || !slices.Equal(q.l.cols[i].mods, q.r.cols[i].mods) {
			q.cols[i].mods = nil
		}
		q.l.coerce(b, i, t)
		q.r.coerce(b, i, t)
		q.cols[i].typ = t
	}
	if !sel.All {
		equatables(b, q, sel.R.At)
	}
	for _, k := range sel.OrderBy {
		q.order = append(q.order, outputKey(b, q, k))
	}
	return q
}

// outputKey is ORDER BY of a set operation: an output column's name or number.
func outputKey(b *binder, q *query, k ast.SortKey) orderKey {
	i := outputColumn(b, q, k.X)
	if i < 0 {
		b.failHint(k.X.Position(), sqlerr.FeatureNotSupported,
			"Add the expression/function to every SELECT, or move the UNION into a FROM clause.",
			"invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
	}
	sortable(b, val{typ: q.cols[i].typ, at: k.X.Position()})
	return orderKey{col: i, rest: direction(k, q.cols[i].notNull)}
}

// outputColumn finds the output column that an ORDER BY item names, -1 if none.
func outputColumn(b *binder, q *query, e ast.Expr) int {
	switch x := e.(type) {
	case *ast.Literal:
		if x.Kind != ast.LitInt {
			b.fail(x.At, sqlerr.Syntax, "non-integer constant in ORDER BY")
		}
		n, _ := strconv.Atoi(x.Value)
		if n < 1 || n > len(q.cols) {
			b.fail(x.At, sqlerr.InvalidColumnRef, "ORDER BY position %s is not in select list", x.Value)
		}
		return n - 1
	case *ast.ColumnRef:
		if len(x.Names) != 1 || x.Star {
			return -1
		}
		found := -1
		for i, c := range q.cols {
			if c.name == x.Names[0] {
				if found >= 0 && (q.targets == nil || q.targets[found].sql != q.targets[i].sql) {
					b.fail(x.At, sqlerr.AmbiguousColumn, "ORDER BY \"%s\" is ambiguous", x.Names[0])
				}
				if found < 0 {
					found = i
				}
			}
		}
		return found
	}
	return -1
}

// direction prints what follows a sort key. NULLs are largest in Postgres, smallest in SQLite.
func direction(k ast.SortKey, notNull bool) string {
	s, first := "", false
	if k.Desc {
		s, first = " DESC", true
	}
	if k.NullsFirst != nil {
		first = *k.NullsFirst
	}
	switch {
	case notNull:
	case first && !k.Desc, !first && k.Desc: // SQLite's own default
	case first:
		s += " NULLS FIRST"
	default:
		s += " NULLS LAST"
	}
	return s
}

func bindValues(b *binder, sel *ast.Select, s *scope) *query {
	q := &query{single: len(sel.Values) == 1}
	s.level = &level{clause: "VALUES"}
	for _, list := range sel.Values {
		if len(list) != len(sel.Values[0]) {
			at := sel.At
			if len(list) > 0 {
				at = list[0].Position()
			}
			b.fail(at, sqlerr.Syntax, "VALUES lists must all be the same length")
		}
		r := make([]val, len(list))
		for i, e := range list {
			r[i] = b.expr(s, e)
		}
		q.rows = append(q.rows, r)
	}
	for i := range q.rows[0] {
		col := make([]val, len(q.rows))
		ts := make([]catalog.Type, len(q.rows))
		unknown := true
		for j, r := range q.rows {
			col[j], ts[j] = r[i], r[i].typ
			unknown = unknown && ts[j].IsUnknown()
		}
		t := catalog.Unknown
		if !unknown {
			t = b.commonType(col, "VALUES")
		}
		q.cols = append(q.cols, outcol{name: "column" + strconv.Itoa(i+1), typ: catalog.Unknown})
		q.coerce(b, i, t)
		if !unknown {
			for _, r := range q.rows {
				r[i] = b.coerce(r[i], t)
			}
			for j := range col {
				col[j] = q.rows[j][i]
			}
			q.cols[i].mods = sameMods(col)
		}
	}
	for _, k := range sel.OrderBy {
		q.order = append(q.order, outputKey(b, q, k))
	}
	return q
}

// bindLimit binds LIMIT and OFFSET, which are computed before any row is read.
func bindLimit(b *binder, sel *ast.Select, s *scope, q *query) {
	n := ""
	if sel.Limit != nil {
		n = bindRowCount(b, s, sel.Limit, "LIMIT")
	}
	if n == "1" {
		q.single = true
	}
	if sel.Offset != nil {
		if off := bindRowCount(b, s, sel.Offset, "OFFSET"); off != "" {
			if n == "" {
				n = "-1"
			}
			q.limit = " LIMIT " + n + " OFFSET " + off
			return
		}
	}
	if n != "" {
		q.limit = " LIMIT " + n
	}
}

// bindRowCount prints the number of LIMIT or OFFSET; "" for NULL, which is no bound.
func bindRowCount(b *binder, s *scope, e ast.Expr, what string) string {
	around := &scope{wall: true, up: s.up, barred: func(at ast.Pos) {
		b.refuse(at, what+" by a column of the query around it",
			"Number the rows with row_number() OVER (…) in a sub-select, and compare the numbers.")
	}}
	own := &scope{up: around, rels: s.rels, cols: s.cols, barred: func(at ast.Pos) {
		b.fail(at, sqlerr.InvalidColumnRef, "argument of %s must not contain variables", what)
	}}
	v := b.expr(&scope{up: own, ctes: s.ctes, level: &level{clause: what}}, e)
	x, isConst := constOf(v)
	if isConst && x == nil {
		return ""
	}
	v = castIfNeeded(b, v, catalog.Int8)
	if x, ok := x.(int64); isConst && ok && x >= 0 {
		return v.sql
	}
	return "rg_row_count(" + v.sql + ", " + sqltext.Plain(what) + ")"
}

func castIfNeeded(b *binder, v val, t catalog.Type) val {
	if v.typ.IsInt() {
		return v
	}
	return b.cast(v.at, v, t, nil)
}
