package values

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
)

// FromExpr makes the vals of an expression whose columns are given; memo holds those that there are already, of it or
// of others over the same columns, which may share most of it.
func FromExpr(
	g *Graph,
	e *kernels.Expr,
	memo map[*kernels.Expr]*Val,
	leaf func(kernels.Col) (*Val, error),
) (*Val, error) {
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
		if err := g.guardBranches(e.Def, args); err != nil {
			return nil, err
		}
		return g.Call(e.Def, e.Attr, args...)
	}
	return visit(e)
}

func (g *Graph) Zero(t kernels.Type) *Val { return g.Constant(kernels.ZerosLike(t).Const) }

// Spread gives a uniform val the rows of a space, for those who read only some of them. A constant has none, not even
// of a space of one row.
func (g *Graph) Spread(v *Val, sp *structure.Space) *Val {
	if v.Space == sp && v.Op != OpConst {
		return v
	}
	return g.Concat(v.Type, sp, []*Val{v}, []*structure.Space{sp})
}
