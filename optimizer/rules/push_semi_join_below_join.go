package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "PushSemiJoinBelowJoin", Phase: Forward,
	Doc: "A semi-join or anti-join of a join on plain columns of one of its inputs restricts that input instead. Must " +
		"not fire where somebody else reads the join.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.SemiJoin && n.Op != ra.AntiJoin || len(n.Pred) > 0 || n.Inputs[0].Op != ra.Join &&
			n.Inputs[0].Op != ra.Select || !c.Sole(n.Inputs[0]) {
			return false
		}
		join, slot := n.Inputs[0], -1
		var equi []ra.Equi
		for _, q := range n.Equi {
			x := join.Out[join.Index(q.L.ID)]
			if q.L.Input != 0 || !x.IsCol || slot >= 0 && x.Col.Input != slot {
				return false
			}
			slot = x.Col.Input
			equi = append(equi, ra.Equi{L: kernels.Col{ID: x.Col.ID}, R: q.R, NullSafe: q.NullSafe})
		}
		if slot < 0 {
			return false
		}
		below := c.B.Semi(n.Op, join.Inputs[slot], n.Inputs[1], equi, nil)
		c.Changed(join)
		putBelow(join, slot, below)
		lift(n, join)
		return true
	},
})

// lift gives n the operator of its input m, which nothing else reads. Their columns correspond by position.
func lift(n, m *ra.Node) {
	c := *m
	c.Cols, c.Out, c.Pred, c.Equi = slices.Clone(m.Cols), slices.Clone(m.Out), slices.Clone(m.Pred), slices.Clone(m.Equi)
	become(n, &c)
}
