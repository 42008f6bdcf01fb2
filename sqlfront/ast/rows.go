package ast

import "github.com/relgrad/relgrad/internal/sqlerr"

// Rows in comparisons mean comparisons of their fields:
// https://www.postgresql.org/docs/15/functions-comparisons.html#ROW-WISE-COMPARISON

// Negations map each comparison to its negation: false where it is true, and NULL where it is NULL.
var Negations = map[string]string{"=": "<>", "<>": "=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// FieldWise turns a condition on rows, such as (a, b) < (c, d) or ROW(a, b) IS NULL, into conditions on their fields;
// nil where e is something else. Rows without fields, or of different numbers of fields, are errors.
func FieldWise(e Expr) (Expr, error) {
	switch e := e.(type) {
	case *Binary:
		if _, compares := Negations[e.Op]; !compares {
			return nil, nil
		}
		l, r, err := twoRows(e.L, e.R)
		if l == nil || err != nil {
			return nil, err
		}
		return e.fields(l.Fields, r.Fields), nil
	case *In:
		if row, ok := e.X.(*RowExpr); ok {
			return e.fields(row)
		}
	case *IsNull: // both IS NULL and IS NOT NULL hold only if they hold for all fields
		if row, ok := e.X.(*RowExpr); ok && len(row.Fields) > 0 {
			return joined("and", row.Fields, func(i int) Expr { return &IsNull{e.Node, row.Fields[i], e.Not} }), nil
		}
	case *IsDistinct:
		l, r, err := twoRows(e.L, e.R)
		if l == nil || err != nil {
			return nil, err
		}
		op := map[bool]string{false: "or", true: "and"}[e.Not]
		return joined(op, l.Fields, func(i int) Expr { return &IsDistinct{e.Node, l.Fields[i], r.Fields[i], e.Not} }), nil
	}
	return nil, nil
}

// twoRows returns two rows of the same number of fields, nil where one side is not a row.
func twoRows(l, r Expr) (x, y *RowExpr, err error) {
	x, lok := l.(*RowExpr)
	y, rok := r.(*RowExpr)
	switch {
	case !lok || !rok:
		return nil, nil, nil
	case len(x.Fields) != len(y.Fields):
		return nil, nil, sqlerr.New(sqlerr.Syntax, "unequal number of entries in row expressions")
	case len(x.Fields) == 0:
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot compare rows of zero length")
	}
	return x, y, nil
}

// joined joins conditions on fields by AND or OR.
func joined(op string, fields []Expr, condition func(i int) Expr) Expr {
	out := condition(0)
	for i := range fields[1:] {
		out = &Binary{Node: Node{out.Position()}, Op: op, L: out, R: condition(i + 1)}
	}
	return out
}

// fields compares two rows from left to right, up to the first fields that differ or are NULL.
func (b *Binary) fields(l, r []Expr) Expr {
	pair := func(op string, i int) Expr { return &Binary{Node: b.Node, Op: op, L: l[i], R: r[i], Schema: b.Schema} }
	switch b.Op {
	case "=":
		return joined("and", l, func(i int) Expr { return pair("=", i) })
	case "<>", "!=":
		return joined("or", l, func(i int) Expr { return pair("<>", i) })
	}
	last := len(l) - 1
	out := Expr(pair(b.Op, last))
	for i := last - 1; i >= 0; i-- {
		equal := &Binary{Node: b.Node, Op: "and", L: pair("=", i), R: out}
		out = &Binary{Node: b.Node, Op: "or", L: pair(b.Op[:1], i), R: equal}
	}
	return out
}

// fields is (a, b) [NOT] IN ((c, d), …).
func (e *In) fields(row *RowExpr) (Expr, error) {
	var out Expr
	for _, it := range e.List {
		_, r, err := twoRows(row, it)
		switch {
		case err != nil:
			return nil, err
		case r == nil:
			return nil, nil
		}
		x := (&Binary{Node: e.Node, Op: "="}).fields(row.Fields, r.Fields)
		if out != nil {
			x = &Binary{Node: e.Node, Op: "or", L: out, R: x}
		}
		out = x
	}
	if e.Not {
		out = &Unary{Node: e.Node, Op: "not", X: out}
	}
	return out, nil
}

// Width is the number of columns that a sub-query of IN must have.
func (l *SubLink) Width() int {
	if row, ok := l.Test.(*RowExpr); ok {
		return len(row.Fields)
	}
	return 1
}
