package values

import (
	"github.com/relgrad/relgrad/kernels"
)

// FromExpr makes the vals of an expression over the given columns. memo holds vals of expressions over the same columns
// that exist already, which may be parts of this one.
func FromExpr(g *Graph, e *kernels.Expr, memo map[*kernels.Expr]*Val,
	leaf func(kernels.Col) (*Val, error)) (*Val, error) {
	var visit func(e *kernels.Expr) (*Val, error)
	visit = func(e *kernels.Expr) (v *Val, err error) {
		if v := memo[e]; v != nil {
			return v, nil
		}
		defer func() { memo[e] = v }()
		switch {
		case e.IsCol:
			return leaf(e.Col)
		case e.Def == nil:
			return g.Constant(e.Const), nil
		}
		args := make([]*Val, len(e.Args))
		for i, a := range e.Args {
			if args[i], err = visit(a); err != nil {
				return nil, err
			}
		}
		if err := guardBranches(g, e.Def, args); err != nil {
			return nil, err
		}
		return g.Call(e.Def, e.Attr, args...)
	}
	return visit(e)
}
