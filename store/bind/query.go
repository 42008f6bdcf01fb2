package bind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
)

// Query is a bound SELECT whose output columns can still be converted. They are printed as c1, c2, … (column1, … for
// VALUES).
type Query struct {
	With      []string
	Columns   []OutputColumn
	Targets   []Value   // of a plain SELECT
	rows      [][]Value // of VALUES
	l, r      *Query    // of a set operation
	op        string
	distinct  bool
	compared  bool   // it is a side of a set operation that compares rows
	on        string // DISTINCT ON: the printed PARTITION BY list
	tail      string // FROM … HAVING
	order     []orderKey
	limit     string
	single    bool // has at most one row
	grouped   bool // GROUP BY, aggregates or windows: SQLite never merges it into an outer query
	recursive bool // a CTE that refers to itself
	right     bool // FROM has a RIGHT or FULL JOIN
	having    bool // HAVING without GROUP BY: SQLite demands an aggregate among the columns
}

// OutputColumn is a column of a query's rows.
type OutputColumn struct {
	Name    string
	Type    catalog.Type
	NotNull bool
	Mods    []int // see Value
}

// orderKey is one bound ORDER BY item.
type orderKey struct {
	col  int // output column, -1 when sql is an expression
	v    Value
	rest string // DESC, NULLS …
}

// TypesOfColumns are the columns' types.
func TypesOfColumns(cols []OutputColumn) []catalog.Type {
	out := make([]catalog.Type, len(cols))
	for i := range cols {
		out[i] = cols[i].Type
	}
	return out
}

// Phys is the printed name of column i.
func (q *Query) Phys(i int) string {
	if q.rows != nil && !q.wrapped() { // sides of a set operation are wrapped
		return "column" + strconv.Itoa(i+1)
	}
	return "c" + strconv.Itoa(i+1)
}

// wrapped reports whether VALUES must stand in a SELECT of its own.
func (q *Query) wrapped() bool { return q.rows != nil && (len(q.order) > 0 || q.limit != "") }

// Coerce converts output column i to type t.
func (q *Query) Coerce(b *Binder, i int, t catalog.Type) {
	if q.Columns[i].Type.Is(t) {
		return
	}
	if !q.Columns[i].Type.IsUnknown() && q.chooses() {
		q.enclose(b)
	}
	q.Columns[i].Type, q.Columns[i].Mods = t, nil
	switch {
	case q.l != nil:
		q.l.Coerce(b, i, t)
		q.r.Coerce(b, i, t)
	case q.rows != nil:
		for _, r := range q.rows {
			r[i] = b.coerce(r[i], t)
		}
	default:
		q.Targets[i] = b.coerce(q.Targets[i], t)
	}
}

// chooses reports whether the values of the columns decide which rows the query has. Two numerics may be equal as
// double precision, so DISTINCT, set operations and LIMIT must act before a conversion.
func (q *Query) chooses() bool {
	return q.distinct || q.on != "" || q.limit != "" || q.l != nil && !strings.HasSuffix(q.op, " ALL")
}

// enclose makes the query a sub-query of a plain SELECT of its columns.
func (q *Query) enclose(b *Binder) {
	inner, t := *q, b.alias("t")
	*q = Query{Columns: inner.Columns, single: inner.single, recursive: inner.recursive,
		tail: " FROM (" + inner.Text() + ") AS " + t}
	for i, c := range q.Columns {
		v := Value{SQL: t + "." + inner.Phys(i), Type: c.Type, NotNull: c.NotNull}
		if i < len(inner.Targets) {
			v.At = inner.Targets[i].At
		}
		q.Targets = append(q.Targets, v)
	}
}

// Settle gives every untyped column the type text.
func (q *Query) Settle(b *Binder) {
	for i := range q.Columns {
		if q.Columns[i].Type.IsUnknown() {
			q.Coerce(b, i, catalog.Text)
		}
	}
}

// Text prints the query.
func (q *Query) Text() string {
	if len(q.With) > 0 {
		return "WITH RECURSIVE " + strings.Join(q.With, ", ") + " " + q.Body()
	}
	return q.Body()
}

// Body prints the query without its WITH items.
func (q *Query) Body() string {
	switch {
	case q.l != nil:
		return q.l.operand(true) + " " + q.op + " " + q.r.operand(false) + q.orderText(false) + q.limit
	case q.on != "":
		return q.distinctOn()
	case q.rows != nil:
		s := "VALUES " + q.valuesText()
		if q.wrapped() {
			list := make([]string, len(q.Columns))
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

func (q *Query) valuesText() string {
	return strings.Join(lists.Map(q.rows, func(r []Value) string { return "(" + ListSQL(r) + ")" }), ", ")
}

func (q *Query) targetText() string {
	if len(q.Targets) == 0 {
		if q.having {
			return "count(*) AS c1"
		}
		return "NULL AS c1"
	}
	list := make([]string, len(q.Targets))
	for i, t := range q.Targets {
		s := t.SQL
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

// operand prints a side of a set operation. Numerics compare as numbers by the collation of their columns.
func (q *Query) operand(left bool) string {
	fence := q.fence()
	plain := q.rows == nil && len(q.With) == 0 && len(q.order) == 0 && q.limit == "" && q.on == "" && fence == ""
	numerics := false
	for _, c := range q.Columns {
		numerics = numerics || columns.Collation(c.Type) != "" || c.Type.IsChunk()
	}
	if plain && (!numerics || q.Targets != nil) && (q.l == nil || left) {
		q.compared = true
		return q.Body()
	}
	list := make([]string, len(q.Columns))
	for i := range q.Columns {
		p := q.Phys(i)
		list[i] = Value{SQL: p, Type: q.Columns[i].Type}.member() + " AS c" + strconv.Itoa(i+1)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + q.Text() + fence + ")"
}

// fence keeps SQLite from merging a side of UNION ALL that has a RIGHT or FULL JOIN into the query around: it would
// lose the conditions of the other side (seen in 3.40 and 3.53).
func (q *Query) fence() string {
	if q.right && q.limit == "" {
		return " LIMIT -1"
	}
	return ""
}

func (q *Query) orderText(exprs bool) string {
	if len(q.order) == 0 {
		return ""
	}
	list := make([]string, len(q.order))
	for i, k := range q.order {
		switch {
		case k.col >= 0:
			of := ""
			if q.Targets != nil {
				of = q.Targets[k.col].SQL
			}
			list[i] = columns.Collated(q.Columns[k.col].Type, strconv.Itoa(k.col+1), of) + k.rest
		default:
			list[i] = noPosition(k.v) + k.rest
		}
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

// distinctOn keeps the first row of each group, in the query's order.
func (q *Query) distinctOn() string {
	var keys, names, outer []string
	for i, k := range q.order {
		v := k.v
		if k.col >= 0 {
			v = q.Targets[k.col]
		}
		o := "o" + strconv.Itoa(i+1)
		keys = append(keys, v.Collate()+k.rest)
		names = append(names, v.SQL+" AS "+o)
		outer = append(outer, columns.Collated(v.Type, o)+k.rest)
	}
	over := "PARTITION BY " + q.on
	tail := ""
	if len(keys) > 0 {
		over += " ORDER BY " + strings.Join(keys, ", ")
		tail = " ORDER BY " + strings.Join(outer, ", ")
	}
	list := make([]string, len(q.Columns))
	for i := range list {
		list[i] = "c" + strconv.Itoa(i+1)
	}
	inner := "SELECT " + strings.Join(append([]string{q.targetText(), "row_number() OVER (" + over + ") AS rn"}, names...),
		", ") + q.tail
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + inner + ") WHERE rn = 1" + tail + q.limit
}

// SelectQuery binds a SELECT, VALUES or set operation; up is the scope around it.
func (b *Binder) SelectQuery(sel *ast.Select, up *Scope) *Query {
	s := &Scope{Outer: up}
	with := bindWith(b, s, sel)
	var q *Query
	switch {
	case sel.Own != nil: // only a server can run it
		panic(sel.Own.Why)
	case sel.SetOp != "":
		q = bindSetOp(b, sel, s)
	case sel.Values != nil:
		q = bindValues(b, sel, s)
	default:
		q = bindPlain(b, sel, s)
	}
	q.With = with
	bindLimit(b, sel, s, q)
	noteSelect(b, sel)
	return q
}

func bindSetOp(b *Binder, sel *ast.Select, s *Scope) *Query {
	q := &Query{l: b.SelectQuery(sel.L, s), r: b.SelectQuery(sel.R, s)}
	name := strings.ToUpper(sel.SetOp)
	q.op = name
	if sel.All {
		if sel.SetOp != "union" {
			b.Refuse(sel.At, name+" ALL", "Use "+name+", or count the rows with GROUP BY.")
		}
		q.op += " ALL"
	}
	if len(q.l.Columns) != len(q.r.Columns) {
		b.Fail(sel.R.At, sqlerr.Syntax, "each %s query must have the same number of columns", name)
	}
	q.Columns = append([]OutputColumn(nil), q.l.Columns...)
	for i := range q.Columns {
		t, ok := catalog.CommonType([]catalog.Type{q.l.Columns[i].Type, q.r.Columns[i].Type})
		if !ok {
			at := sel.R.At
			if i < len(q.r.Targets) {
				at = q.r.Targets[i].At
			}
			b.Fail(at, sqlerr.DatatypeMismatch, "%s types %s and %s cannot be matched", name, q.l.Columns[i].Type,
				q.r.Columns[i].Type)
		}
		q.Columns[i].NotNull = q.l.Columns[i].NotNull && q.r.Columns[i].NotNull
		if !q.l.Columns[i].Type.Is(q.r.Columns[i].Type) || !slices.Equal(q.l.Columns[i].Mods, q.r.Columns[i].Mods) {
			q.Columns[i].Mods = nil
		}
		q.l.Coerce(b, i, t)
		q.r.Coerce(b, i, t)
		q.Columns[i].Type = t
	}
	if !sel.All {
		equatables(b, q, sel.R.At)
	}
	for _, k := range sel.OrderBy {
		q.order = append(q.order, outputKey(b, q, k))
	}
	return q
}

// outputKey is an ORDER BY item of a set operation: the name or number of an output column.
func outputKey(b *Binder, q *Query, k ast.SortKey) orderKey {
	i := outputColumn(b, q, k.X)
	if i < 0 {
		b.FailHint(k.X.Position(), sqlerr.FeatureNotSupported,
			"Add the expression/function to every SELECT, or move the UNION into a FROM clause.",
			"invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
	}
	sortable(b, Value{Type: q.Columns[i].Type, At: k.X.Position()})
	return orderKey{col: i, rest: direction(k, q.Columns[i].NotNull)}
}

// outputColumn finds the output column that an ORDER BY item names, -1 if none.
func outputColumn(b *Binder, q *Query, e ast.Expr) int {
	switch x := e.(type) {
	case *ast.Literal:
		if x.Kind != ast.LitInt {
			b.Fail(x.At, sqlerr.Syntax, "non-integer constant in ORDER BY")
		}
		n, _ := strconv.Atoi(x.Value)
		if n < 1 || n > len(q.Columns) {
			b.Fail(x.At, sqlerr.InvalidColumnRef, "ORDER BY position %s is not in select list", x.Value)
		}
		return n - 1
	case *ast.ColumnRef:
		if len(x.Names) != 1 || x.Star {
			return -1
		}
		found := -1
		for i, c := range q.Columns {
			if c.Name == x.Names[0] {
				if found >= 0 && (q.Targets == nil || q.Targets[found].SQL != q.Targets[i].SQL) {
					b.Fail(x.At, sqlerr.AmbiguousColumn, "ORDER BY \"%s\" is ambiguous", x.Names[0])
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

// direction prints DESC and NULLS of a sort key. NULLs sort last in Postgres, first in SQLite.
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

func bindValues(b *Binder, sel *ast.Select, s *Scope) *Query {
	q := &Query{single: len(sel.Values) == 1}
	s.Level = &Level{Clause: "VALUES"}
	for _, list := range sel.Values {
		if len(list) != len(sel.Values[0]) {
			at := sel.At
			if len(list) > 0 {
				at = list[0].Position()
			}
			b.Fail(at, sqlerr.Syntax, "VALUES lists must all be the same length")
		}
		r := lists.Map(list, func(e ast.Expr) Value { return b.Expr(s, e) })
		q.rows = append(q.rows, r)
	}
	for i := range q.rows[0] {
		col := make([]Value, len(q.rows))
		ts := make([]catalog.Type, len(q.rows))
		unknown := true
		for j, r := range q.rows {
			col[j], ts[j] = r[i], r[i].Type
			unknown = unknown && ts[j].IsUnknown()
		}
		t := catalog.Unknown
		if !unknown {
			t = b.commonType(col, "VALUES")
		}
		q.Columns = append(q.Columns, OutputColumn{Name: "column" + strconv.Itoa(i+1), Type: catalog.Unknown})
		q.Coerce(b, i, t)
		if !unknown {
			for _, r := range q.rows {
				r[i] = b.coerce(r[i], t)
			}
			for j := range col {
				col[j] = q.rows[j][i]
			}
			q.Columns[i].Mods = sameMods(col)
		}
	}
	for _, k := range sel.OrderBy {
		q.order = append(q.order, outputKey(b, q, k))
	}
	return q
}

// bindLimit binds LIMIT and OFFSET, which are computed before any row is read.
func bindLimit(b *Binder, sel *ast.Select, s *Scope, q *Query) {
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

// bindRowCount prints the number of LIMIT or OFFSET; "" for NULL, which sets no bound.
func bindRowCount(b *Binder, s *Scope, e ast.Expr, what string) string {
	around := &Scope{wall: true, Outer: s.Outer, barred: func(at ast.Pos) {
		b.Refuse(at, what+" by a column of the query around it",
			"Number the rows with row_number() OVER (…) in a sub-select, and compare the numbers.")
	}}
	own := &Scope{Outer: around, Relations: s.Relations, Columns: s.Columns, barred: func(at ast.Pos) {
		b.Fail(at, sqlerr.InvalidColumnRef, "argument of %s must not contain variables", what)
	}}
	v := b.Expr(&Scope{Outer: own, ctes: s.ctes, Level: &Level{Clause: what}}, e)
	x, isConst := constOf(v)
	if isConst && x == nil {
		return ""
	}
	v = castIfNeeded(b, v, catalog.Int8)
	if x, ok := x.(int64); isConst && ok && x >= 0 {
		return v.SQL
	}
	return "rg_row_count(" + v.SQL + ", " + sqltext.Plain(what) + ")"
}

func castIfNeeded(b *Binder, v Value, t catalog.Type) Value {
	if v.Type.IsInt() {
		return v
	}
	return b.Cast(v.At, v, t, nil)
}
