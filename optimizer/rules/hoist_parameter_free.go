package rules

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "HoistParameterFree", Phase: Forward,
	Doc: "Part of a kernel that no parameter reaches gets a column of its own below the join, so that it is " +
		"computed once per run and not at every step. Must not fire on kernels that can fail or draw.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Join {
			return false
		}
		asked := kernels.NewAsker(func(x *kernels.Expr) bool {
			return x.IsCol && n.Inputs[x.Col.Input].Col(x.Col.ID).Dep || x.Def != nil && x.Def.PerStep
		})
		return moveKernel(c, n, true, func(e *kernels.Expr, slots []int) bool {
			return e.Type.IsChunk() && !asked.Any(e) && e.Takes(4) && subRows(c, n, slots) <= c.Cost.Rows(n)
		})
	},
})
