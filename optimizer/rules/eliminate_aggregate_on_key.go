package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateAggregateOnKey", Phase: Whole,
	Doc: "An aggregate whose group holds the input's identity has one row per group: it is a selection. " +
		"RA-AD §4, the first optimisation: a join whose output identity is the differentiated side's needs no Σ. " +
		"Must not fire without a group: Σ over no rows still has one row.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Aggregate || len(n.Group) == 0 {
			return false
		}
		in := n.Inputs[0]
		for _, k := range in.Unique {
			if !slices.Contains(n.Group, k) {
				return false
			}
		}
		var out []ra.OutCol
		for i, g := range n.Group {
			out = append(out, ra.OutCol{Name: n.Cols[i].Name, X: in.Var(0, g)})
		}
		for i, a := range n.Aggs {
			out = append(out, ra.OutCol{Name: n.Cols[len(n.Group)+i].Name, X: single(in, a)})
		}
		become(n, c.B.Select(in, nil, out))
		return true
	},
})

// single is the value of an aggregate over one row.
func single(in *ra.Node, a ra.Agg) *kernels.Expr {
	one, zero := kernels.Const(kernels.IntValue(1)), kernels.Const(kernels.IntValue(0))
	if a.Fn == ra.CountRows {
		return one
	}
	x := in.Var(0, a.Arg)
	switch {
	case a.Fn == ra.Count && x.Type.Nullable:
		return kernels.Build("case", kernels.Build("is_null", x), zero, one)
	case a.Fn == ra.Count:
		return one
	case a.Fn == ra.GradSum:
		return kernels.NullToZero(x)
	}
	return x
}
