package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateSingleRow", Phase: Whole,
	Doc: "A sum without groups has one row whatever it sums. As an input of a join that reads none of " +
		"its columns it goes. " +
		"Must not fire on the last input of a join, nor on one row that need not be there.",
	Apply: func(_ *Context, n *ra.Node) bool {
		if n.Op != ra.Join {
			return false
		}
		drop, left := slots(n), len(n.Inputs)
		for s, in := range n.Inputs {
			if drop[s] = !drop[s] && left > 1 && singleRow(in); drop[s] {
				left--
			}
		}
		if left == len(n.Inputs) {
			return false
		}
		dropInputs(n, drop)
		return true
	},
})

// singleRow reports whether n always has exactly one row.
func singleRow(n *ra.Node) bool {
	switch n.Op {
	case ra.Aggregate:
		return len(n.Group) == 0
	case ra.Select, ra.Join:
		return len(n.Pred)+len(n.Equi) == 0 && !slices.ContainsFunc(n.Inputs, func(in *ra.Node) bool {
			return !singleRow(in)
		})
	}
	return false
}

// slots reports, for each input, whether n reads a column of it.
func slots(n *ra.Node) []bool {
	read := make([]bool, len(n.Inputs))
	n.Reads(func(c kernels.Col) { read[c.Input] = true })
	for _, q := range n.Equi {
		read[q.L.Input], read[q.R.Input] = true, true
	}
	return read
}
