package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "HoistFromLoop", Phase: Whole,
	Doc: "Part of a kernel in the step of a recursion that does not read the level before is computed on a join of " +
		"its own outside, for the rows of all levels at once: W·x of a recurrent network, and what its gradient computes " +
		"again. Must not fire on kernels that can fail, nor where the inputs of the part are joined through the level alone.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Join || len(c.loops) == 0 {
			return false
		}
		within := map[*ra.Node]bool{}
		for _, l := range c.loops {
			for _, m := range l.Within() {
				within[m] = true
			}
		}
		return within[n] && moveKernel(c, n, false, func(e *kernels.Expr, slots []int) bool {
			return e.Takes(4) && !slices.ContainsFunc(slots, func(s int) bool { return within[n.Inputs[s]] }) &&
				connected(c, n, slots)
		})
	},
})

// connected reports whether those of the inputs that have several rows are joined by equalities among them.
func connected(c *Context, n *ra.Node, slots []int) bool {
	var apart []int
	for _, s := range slots {
		if c.Cost.Rows(n.Inputs[s]) > 1 {
			apart = append(apart, s)
		}
	}
	if len(apart) == 0 {
		return true
	}
	met := map[int]bool{apart[0]: true}
	for range apart {
		for _, q := range n.Equi {
			l, r := q.L.Input, q.R.Input
			if slices.Contains(apart, l) && slices.Contains(apart, r) && (met[l] || met[r]) {
				met[l], met[r] = true, true
			}
		}
	}
	return len(met) == len(apart)
}
