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
		return moveKernel(c, n, true, func(e *kernels.Expr, slots []int) bool {
			free := true
			e.Cols(func(col kernels.Col) { free = free && !n.Inputs[col.Input].Col(col.ID).Dep })
			return free && e.Type.IsChunk() && e.Takes(4) && !e.PerStep() && subRows(c, n, slots) <= c.Cost.Rows(n)
		})
	},
})
