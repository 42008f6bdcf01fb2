package rules

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "ReduceBySemiJoin", Phase: Forward,
	Doc: "Where an aggregate is joined on its group with a relation that was restricted, only the groups with a " +
		"partner are computed: the aggregate's input is semi-joined first, with each such relation. Rows that the loss " +
		"never reads are not " +
		"computed; rows that reach it, and so the gradient's rows, stay the same. Must not fire where somebody " +
		"else reads the aggregate, on NULL-safe conditions, or where the partner depends on the aggregate.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Join {
			return false
		}
		for _, q := range n.Equi {
			for _, d := range []kernels.Col{q.L, q.R} {
				agg, g := groupBelow(c, n.Inputs[d.Input], d.ID)
				if agg == nil {
					continue
				}
				for _, p := range partners(n, d) {
					other := n.Inputs[p.Input]
					if !c.restricted(other) || reducedBy(agg.Inputs[0], g, other, p.ID) {
						continue
					}
					equi := []ra.Equi{{L: kernels.Col{ID: g}, R: kernels.Col{Input: 1, ID: p.ID}}}
					putUnderAggregate(c, agg, c.B.Semi(ra.SemiJoin, agg.Inputs[0], other, equi, nil))
					return true
				}
			}
		}
		return false
	},
})

// partners lists the columns of the join's other inputs that equal column d in every row of the join, by one equality
// or several.
func partners(n *ra.Node, d kernels.Col) (out []kernels.Col) {
	plain := *n
	plain.Equi = nil
	for _, q := range n.Equi {
		if !q.NullSafe {
			plain.Equi = append(plain.Equi, q)
		}
	}
	for _, p := range plain.Equated(d) {
		if p.Input != d.Input {
			out = append(out, p)
		}
	}
	return out
}

// groupBelow follows a plain column down to the aggregate whose group column it is, through selections and joins that
// nobody else reads. It returns that aggregate and the column of its input. As only this path reads the aggregate, no
// other input of the join above does.
func groupBelow(c *Context, n *ra.Node, id ra.ColumnID) (*ra.Node, ra.ColumnID) {
	for c.Sole(n) {
		i := n.Index(id)
		switch {
		case n.Op == ra.Aggregate && i < len(n.Group):
			return n, n.Group[i]
		case (n.Op == ra.Select || n.Op == ra.Join) && isPass(n, i):
			n, id = n.Inputs[n.Out[i].Col.Input], n.Out[i].Col.ID
		default:
			return nil, 0
		}
	}
	return nil, 0
}

// reducedBy reports whether column g of n is already semi-joined with the other column, or with a choice of its rows
// (EliminateWiderSemiJoin leaves only that one), even if that semi-join has been pushed further down.
func reducedBy(n *ra.Node, g ra.ColumnID, other *ra.Node, id ra.ColumnID) bool {
	for {
		switch n.Op {
		case ra.SemiJoin:
			for _, q := range n.Equi {
				if q.L.ID == n.Inputs[0].Cols[n.Index(g)].ID && chosenFrom(n.Inputs[1], q.R.ID, other, id) {
					return true
				}
			}
			g = n.Inputs[0].Cols[n.Index(g)].ID
			n = n.Inputs[0]
		case ra.Select, ra.Join:
			x := n.Out[n.Index(g)]
			if !x.IsCol {
				return false
			}
			n, g = n.Inputs[x.Col.Input], x.Col.ID
		case ra.Aggregate:
			i := n.Index(g)
			if i >= len(n.Group) {
				return false
			}
			n, g = n.Inputs[0], n.Group[i]
		default:
			return false
		}
	}
}
