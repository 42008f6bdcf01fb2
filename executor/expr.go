package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
)

// fromExpr makes the vals of an expression whose columns are given; memo holds those that there are already, of it or
// of others over the same columns, which may share most of it.
func fromExpr(
	g *graph,
	e *kernels.Expr,
	memo map[*kernels.Expr]*val,
	leaf func(kernels.Col) (*val, error),
) (*val, error) {
	var visit func(e *kernels.Expr) (*val, error)
	visit = func(e *kernels.Expr) (v *val, err error) {
		if v := memo[e]; v != nil {
			return v, nil
		}
		defer func() { memo[e] = v }()
		switch {
		case e.IsCol:
			return leaf(e.Col)
		case e.Def == nil:
			return g.constant(e.Const), nil
		}
		args := make([]*val, len(e.Args))
		for i, a := range e.Args {
			if args[i], err = visit(a); err != nil {
				return nil, err
			}
		}
		if err := g.nearBranches(e.Def, args); err != nil {
			return nil, err
		}
		return g.call(e.Def, e.Attr, args...)
	}
	return visit(e)
}

func (g *graph) zero(t kernels.Type) *val { return g.constant(kernels.ZerosLike(t).Const) }

// spread gives a uniform val the rows of a space, for those who read only some of them. A constant has none, not even
// of a space of one row.
func (g *graph) spread(v *val, sp *structure.Space) *val {
	if v.sp == sp && v.op != vConst {
		return v
	}
	return g.concat(v.typ, sp, []*val{v}, []*structure.Space{sp})
}
