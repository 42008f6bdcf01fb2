package rules

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateRepeatedCondition", Phase: Forward,
	Doc: "A condition that a join states twice, as views that join the same relations do, is kept once: a AND a is a. " +
		"An equality may be written either way round; of a plain and a NULL-safe one the plain one stays, which is the " +
		"stricter. Must not fire on conditions that differ in a column or a slot.",
	Apply: func(c *Context, n *ra.Node) bool {
		if len(n.Pred) < 2 && len(n.Equi) < 2 {
			return false
		}
		pred, equi := distinctPred(c, n), distinctEqui(n)
		if len(pred) == len(n.Pred) && len(equi) == len(n.Equi) {
			return false
		}
		n.Pred, n.Equi = pred, equi
		return true
	},
})

// distinctPred returns the predicates of n without repetitions.
func distinctPred(c *Context, n *ra.Node) (out []*kernels.Expr) {
	x, seen := c.numbering(n), map[int]bool{}
	for _, p := range n.Pred {
		if k := x.number(p); !seen[k] {
			seen[k] = true
			out = append(out, p)
		}
	}
	return out
}

// distinctEqui returns the equalities of n without repetitions.
func distinctEqui(n *ra.Node) (out []ra.Equi) {
	at := map[[2]kernels.Col]int{}
	for _, q := range n.Equi {
		i, ok := at[[2]kernels.Col{q.L, q.R}]
		if !ok {
			at[[2]kernels.Col{q.L, q.R}], at[[2]kernels.Col{q.R, q.L}] = len(out), len(out)
			out = append(out, q)
			continue
		}
		out[i].NullSafe = out[i].NullSafe && q.NullSafe
	}
	return out
}
