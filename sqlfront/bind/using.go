package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// metColumn is the column that USING makes of l, whose row always exists, and r: l in the type in which the two meet
// (manual, 7.2.1.1 and 10.5). other: that is not l's own type, so that l itself has only its qualified name.
func metColumn(s *scope, l, r scopeCol, at ast.Tree) (m scopeCol, other bool, err error) {
	m, x, y := l, l.x.Type, r.x.Type
	m.table = ""
	switch numeric := func(t kernels.Type) bool { return t.Kind == kernels.Int || t.IsFloat() }; {
	case x.Shape != nil || y.Shape != nil:
		return m, false, nil
	case x.Kind == kernels.Text && y.Kind == kernels.Text:
		want, err := meet(x.Of, y.Of)
		if err != nil || want.String() == x.Of.String() {
			return m, false, s.f.at(err, at)
		}
		y, err := toNamed(s, l.x, want)
		if err != nil {
			return m, false, s.f.at(err, at)
		}
		m.x = retypedCopy(y, want)
		return m, true, nil
	case !numeric(x) || !numeric(y) || l.class == r.class && x.Kind == y.Kind:
		return m, false, nil
	}
	m.class = wider(l.class, r.class)
	if want := meetNumbers(l, r); want != x.Kind {
		m.x = kernels.CastTo(want, l.x)
	}
	return m, true, nil
}

// meetNumbers is the kind in which numbers of two types meet: real with integers and numerics, double precision with
// all.
func meetNumbers(l, r scopeCol) kernels.Kind {
	out := kernels.Int
	for _, c := range []scopeCol{l, r} {
		switch k := c.x.Type.Kind; {
		case k == kernels.Float64 && c.class != numericClass:
			return kernels.Float64
		case k == kernels.Float32 || k == kernels.Float64 && out == kernels.Int:
			out = k
		}
	}
	return out
}

// refuseInexact refuses to compare a numeric with a bigint, or with a literal of more than 15 digits: Postgres compares
// them digit by digit, but here they are compared in double precision, which does not hold all digits. If one side is
// real or double precision, Postgres compares as here.
func refuseInexact(s *scope, classes []numberClass, args []*kernels.Expr, at ast.Tree) error {
	if classes[0] != numericClass && classes[1] != numericClass || !isNumber(classes[0]) || !isNumber(classes[1]) {
		return nil
	}
	for i, x := range args {
		y := args[1-i]
		if classes[i] != intClass || x.IsConst() || !mayBeLarge(s, x) {
			continue
		}
		if y.IsConst() && y.Type.IsFloat() && !y.Const.Null { // 2.0 is 2; beside 2.5 rounding changes nothing
			if n := int64(y.Const.X); float64(n) == y.Const.X && y.Const.X < 1<<63 {
				args[1-i] = kernels.Const(kernels.IntValue(n))
			}
			continue
		}
		return s.f.fail(at, sqlerr.FeatureNotSupported,
			"a bigint and a numeric are compared, which a loss does in double precision").
			WithHint("Cast one of them to double precision or the numeric to bigint, in a loss and for Postgres alike.")
	}
	return nil
}

func isNumber(c numberClass) bool { return c == intClass || c == numericClass }

// mayBeLarge reports whether an integer may exceed what double precision holds: it comes from a bigint and is no count.
func mayBeLarge(s *scope, x *kernels.Expr) bool {
	found := false
	x.Cols(func(c kernels.Col) { found = found || largeColumn(s.nodes()[c.Input], c.ID) })
	return found
}

func largeColumn(n *ra.Node, id ra.ColumnID) bool {
	i := n.Index(id)
	switch n.Op {
	case ra.Select, ra.Join:
		found := false
		n.Out[i].Cols(func(c kernels.Col) { found = found || largeColumn(n.Inputs[c.Input], c.ID) })
		return found
	case ra.Aggregate:
		if i < len(n.Group) {
			return largeColumn(n.Inputs[0], n.Group[i])
		}
		a := n.Aggs[i-len(n.Group)]
		return a.Fn != ra.Count && a.Fn != ra.CountRows && largeColumn(n.Inputs[0], a.Arg)
	case ra.Window:
		if id, ok := n.Passed(i); ok {
			return largeColumn(n.Inputs[0], id)
		}
		a := n.Aggs[i-len(n.Over.Pass)]
		return a.Fn != ra.Count && a.Fn != ra.CountRows && largeColumn(n.Inputs[0], a.Arg)
	case ra.Union:
		return slices.ContainsFunc(n.Inputs, func(in *ra.Node) bool { return largeColumn(in, in.Cols[i].ID) })
	case ra.SemiJoin, ra.AntiJoin:
		return largeColumn(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	}
	return isBigintColumn(n, id)
}

// longLiteral reports whether x is written with more digits than double precision keeps.
func longLiteral(e ast.Expr) bool {
	if u, ok := e.(*ast.Unary); ok && (u.Op == "-" || u.Op == "+") {
		e = u.X
	}
	l, ok := e.(*ast.Literal)
	return ok && (l.Kind == ast.LitNumeric || l.Kind == ast.LitInt) && digitsOf(l.Value) > maxDigits
}

// maxDigits is how many decimal digits double precision always keeps.
const maxDigits = 15

// digitsOf counts a number's digits from the first to the last that is not 0.
func digitsOf(s string) int {
	first, last, n := -1, -1, 0
	for _, c := range s {
		if c == 'e' || c == 'E' {
			break
		}
		if c < '0' || c > '9' {
			continue
		}
		if c != '0' {
			if last = n; first < 0 {
				first = n
			}
		}
		n++
	}
	return last - first + 1
}

// refuseLongNumbers is refuseInexact, but first refuses literals with more digits than double precision holds.
func refuseLongNumbers(s *scope, list []ast.Expr, args []*kernels.Expr, at ast.Tree) error {
	classes := []numberClass{s.class(list[0]), s.class(list[1])}
	for i, e := range list {
		if other := classes[1-i]; longLiteral(e) && isNumber(other) &&
			(other == numericClass || classes[i] == numericClass) && !args[1-i].IsConst() {
			return s.f.fail(e, sqlerr.FeatureNotSupported,
				"a number of more than 15 digits is compared with %s, which a loss does in double precision",
				map[bool]string{true: "a numeric", false: "an integer"}[other == numericClass]).
				WithHint("Write fewer digits, or compare in a sub-query that reads no parameter.")
		}
	}
	return refuseInexact(s, classes, args, at)
}

// compareOf binds the comparison of two expressions, which have been bound to x and y.
func compareOf(s *scope, name string, l, r ast.Expr, x, y *kernels.Expr, at ast.Tree) (*kernels.Expr, error) {
	args := []*kernels.Expr{x, y}
	if err := refuseLongNumbers(s, []ast.Expr{l, r}, args, at); err != nil {
		return nil, err
	}
	return s.compare(name, args[0], args[1], at)
}
