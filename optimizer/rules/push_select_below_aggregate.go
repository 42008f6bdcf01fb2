package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "PushSelectBelowAggregate", Phase: Forward,
	Doc: "Predicates on group columns keep or drop whole groups, so they may drop their rows before Σ. Must " +
		"not fire on aggregates' results, nor where somebody else reads the aggregate.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Select || n.Inputs[0].Op != ra.Aggregate || !c.Sole(n.Inputs[0]) {
			return false
		}
		agg := n.Inputs[0]
		in := agg.Inputs[0]
		var rest, below []*kernels.Expr
		for _, p := range n.Pred {
			onGroups, any := true, false
			p.Cols(func(col kernels.Col) {
				any = true
				onGroups = onGroups && agg.Index(col.ID) < len(agg.Group)
			})
			if !onGroups || !any {
				rest = append(rest, p)
				continue
			}
			below = append(below, p.MapCols(func(l *kernels.Expr) *kernels.Expr {
				return in.Var(0, agg.Group[agg.Index(l.Col.ID)])
			}))
		}
		if below == nil {
			return false
		}
		n.Pred = rest
		putUnderAggregate(c, agg, c.B.Select(in, below, passAll(in)))
		return true
	},
})

// putUnderAggregate replaces an aggregate's input by to, whose first columns correspond to the old one's.
func putUnderAggregate(c *Context, agg, to *ra.Node) {
	c.Changed(agg)
	old := agg.Inputs[0]
	agg.Inputs = []*ra.Node{to}
	agg.Group, agg.Aggs = slices.Clone(agg.Group), slices.Clone(agg.Aggs)
	for i, g := range agg.Group {
		agg.Group[i] = to.Cols[old.Index(g)].ID
	}
	for i, a := range agg.Aggs {
		if a.Fn != ra.CountRows {
			agg.Aggs[i].Arg = to.Cols[old.Index(a.Arg)].ID
		}
	}
}
