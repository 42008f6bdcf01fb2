package rules

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "EliminateTruePredicate", Phase: Forward,
	Doc: "A predicate that is the constant true, or comes to it without reading a column, keeps every row and goes. " +
		"Must not fire on NULL or false, which keep none.",
	Apply: func(_ *Context, n *ra.Node) bool {
		kept := slices.DeleteFunc(slices.Clone(n.Pred), func(p *kernels.Expr) bool {
			truth, _ := truthOf(p)
			return truth
		})
		fired := len(kept) < len(n.Pred)
		n.Pred = kept
		return fired
	},
})
