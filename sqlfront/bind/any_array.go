package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// x op ANY (ARRAY[…]) is the disjunction of the comparisons with the elements, x op ALL (ARRAY[…]) the
// conjunction; with no element they are false and true.
var _ = bindExpr(func(s *scope, a *ast.AnyArray) (*kernels.Expr, error) {
	list, ok, err := listedArray(s, a.Array)
	if err != nil {
		return nil, err
	}
	name := operators[a.Op]
	if !ok || !comparisons[name] {
		return nil, s.f.fail(a, sqlerr.FeatureNotSupported,
			"ANY and ALL of an array need a comparison and an array in place, such as ARRAY[1, 2], in a loss").
			WithHint("Write x IN (1, 2), or join with the table that holds the values.")
	}
	x, err := s.expr(a.X)
	if err != nil {
		return nil, err
	}
	out, join := kernels.Const(kernels.BoolValue(a.All)), "or"
	if a.All {
		join = "and"
	}
	for i, e := range list.Elems {
		y, err := s.expr(e)
		if err != nil {
			return nil, err
		}
		if _, inPlace := a.Array.(*ast.ArrayLit); inPlace && untyped(y) && x.Type.Of.String() == "bpchar" {
			y = asTyped(s, y) // ARRAY['x'] is one of texts
		}
		l, y, err := typeOperands(s, &ast.Binary{Node: a.Node, Op: a.Op, L: a.X, R: e}, x, y)
		if err != nil {
			return nil, err
		}
		c, err := s.compare(name, l, y, e)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			out = c
		} else {
			out = kernels.Build(join, out, c)
		}
	}
	return out, nil
})

// listedArray returns the elements of ARRAY[…], or of a literal such as '{1,2}', with or without a cast.
func listedArray(s *scope, e ast.Expr) (*ast.ArrayLit, bool, error) {
	t := ast.TypeName{}
	if c, ok := e.(*ast.Cast); ok && isText(c.X) && c.Type.Dims > 0 {
		e, t = c.X, c.Type
	}
	if isText(e) {
		l, err := arrayText(s, e, t)
		return l, err == nil, err
	}
	l, ok := arrayRow(e)
	return l, ok, nil
}
