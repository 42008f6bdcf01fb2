package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "PushSemiJoinBelowAggregate", Phase: Forward,
	Doc: "A semi-join or anti-join of an aggregate on group columns keeps or drops whole groups, so it " +
		"may drop their rows " +
		"before Σ. Must not fire on aggregates' results, nor where somebody else reads the aggregate.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.SemiJoin && n.Op != ra.AntiJoin || len(n.Pred) > 0 ||
			n.Inputs[0].Op != ra.Aggregate || !c.Sole(n.Inputs[0]) {
			return false
		}
		agg := n.Inputs[0]
		var equi []ra.Equi
		for _, q := range n.Equi {
			i := agg.Index(q.L.ID)
			if q.L.Input != 0 || i >= len(agg.Group) {
				return false
			}
			equi = append(equi, ra.Equi{L: kernels.Col{ID: agg.Group[i]}, R: q.R, NullSafe: q.NullSafe})
		}
		if len(equi) == 0 {
			return false
		}
		putUnderAggregate(c, agg, c.B.Semi(n.Op, agg.Inputs[0], n.Inputs[1], equi, nil))
		m := *agg
		m.Cols = slices.Clone(agg.Cols)
		become(n, &m)
		return true
	},
})
