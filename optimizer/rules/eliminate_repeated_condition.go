package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateRepeatedCondition", Phase: Forward,
	Doc: "A condition that a join states twice, as views that join the same relations do, is kept once: a AND a is a. " +
		"An equality may be written either way round; of a plain and a NULL-safe one the plain one stays, which is the " +
		"stricter. Must not fire on conditions that differ in a column or a slot.",
	Apply: func(_ *Context, n *ra.Node) bool {
		for i, p := range n.Pred {
			if slices.ContainsFunc(n.Pred[:i], func(q *kernels.Expr) bool { return q.Same(p) }) {
				n.Pred = slices.Delete(slices.Clone(n.Pred), i, i+1)
				return true
			}
		}
		for i, q := range n.Equi {
			for j, r := range n.Equi[:i] {
				if q.L == r.L && q.R == r.R || q.L == r.R && q.R == r.L {
					n.Equi = slices.Clone(n.Equi)
					n.Equi[j].NullSafe = q.NullSafe && r.NullSafe
					n.Equi = slices.Delete(n.Equi, i, i+1)
					return true
				}
			}
		}
		return false
	},
})
