package rules

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateWiderSemiJoin", Phase: Forward,
	Doc: "Of two semi-joins of one relation on the same columns, the one whose partners are a choice of the other's " +
		"decides: a row that has a partner in the choice has one in the whole. The other goes, and so may the last reason " +
		"to compute all of its partners. Must not fire where the columns differ, where the partners are no choice of " +
		"each other's rows, nor where the condition that stays holds for NULL and the other does not.",
	Apply: func(c *Context, n *ra.Node) bool {
		m := n.Inputs
		if n.Op != ra.SemiJoin || m[0].Op != ra.SemiJoin || len(n.Pred)+len(m[0].Pred) > 0 || !c.Sole(m[0]) {
			return false
		}
		switch {
		case narrower(n, m[0]):
			putBelow(n, 0, m[0].Inputs[0])
		case narrower(m[0], n):
			lift(n, m[0])
		default:
			return false
		}
		return true
	},
})

// narrower reports whether semi-join m keeps all rows that semi-join n keeps. Their left columns correspond by
// position.
func narrower(n, m *ra.Node) bool {
	return !slices.ContainsFunc(m.Equi, func(w ra.Equi) bool {
		return !slices.ContainsFunc(n.Equi, func(q ra.Equi) bool {
			return q.L.Input == 0 && w.L.Input == 0 && n.Inputs[0].Index(q.L.ID) == m.Inputs[0].Index(w.L.ID) &&
				(w.NullSafe || !q.NullSafe) && chosenFrom(n.Inputs[1], q.R.ID, m.Inputs[1], w.R.ID)
		})
	})
}

// chosenFrom reports whether n holds some of the rows of all, with column of of all as its column id.
func chosenFrom(n *ra.Node, id ra.ColumnID, all *ra.Node, of ra.ColumnID) bool {
	for all.Op == ra.Select && len(all.Pred) == 0 && isPass(all, all.Index(of)) { // it keeps all rows of its input
		all, of = all.Inputs[0], all.Out[all.Index(of)].Col.ID
	}
	for n != all {
		i := n.Index(id)
		switch {
		case n.Op == ra.SemiJoin || n.Op == ra.AntiJoin:
			id = n.Inputs[0].Cols[i].ID
		case n.Op == ra.Select && isPass(n, i):
			id = n.Out[i].Col.ID
		default:
			return false
		}
		n = n.Inputs[0]
	}
	return id == of
}
