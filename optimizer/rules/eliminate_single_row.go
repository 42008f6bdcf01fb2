package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateSingleRow", Phase: Whole,
	Doc: "A sum without groups has one row whatever it sums. As an input of a join that reads none of its columns it goes. " +
		"Must not fire on the last input of a join, nor on one row that need not be there.",
	Apply: func(_ *Context, n *ra.Node) bool {
		if n.Op != ra.Join {
			return false
		}
		for s, in := range n.Inputs {
			if singleRow(in) && !reads(n, s) {
				dropInput(n, s)
				return true
			}
		}
		return false
	},
})

// singleRow reports whether n always has exactly one row.
func singleRow(n *ra.Node) bool {
	switch n.Op {
	case ra.Aggregate:
		return len(n.Group) == 0
	case ra.Select, ra.Join:
		return len(n.Pred)+len(n.Equi) == 0 && !slices.ContainsFunc(n.Inputs, func(in *ra.Node) bool { return !singleRow(in) })
	}
	return false
}

// reads reports whether n reads a column of its input s.
func reads(n *ra.Node, s int) bool {
	found := false
	n.Exprs(func(e *kernels.Expr) { e.Cols(func(c kernels.Col) { found = found || c.Input == s }) })
	return found || slices.ContainsFunc(n.Equi, func(q ra.Equi) bool { return q.L.Input == s || q.R.Input == s })
}
