package rules

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "PushSelectBelowJoin", Phase: Forward,
	Doc: "Predicates of a join that read one input only are applied to that input before the join. Must not " +
		"fire on a constant predicate: there is no input to apply it to.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Join || len(n.Inputs) < 2 {
			return false
		}
		var rest []*kernels.Expr
		below := make([][]*kernels.Expr, len(n.Inputs))
		for _, p := range n.Pred {
			slot, ok := onlySlot(p)
			if !ok {
				rest = append(rest, p)
				continue
			}
			in := n.Inputs[slot]
			below[slot] = append(below[slot], p.MapCols(func(l *kernels.Expr) *kernels.Expr { return in.Var(0, l.Col.ID) }))
		}
		if len(rest) == len(n.Pred) {
			return false
		}
		n.Pred = rest
		to := make([]*ra.Node, len(n.Inputs))
		for slot, in := range n.Inputs {
			if below[slot] != nil {
				to[slot] = c.B.Select(in, below[slot], passAll(in))
			}
		}
		putAllBelow(n, to)
		return true
	},
})

func onlySlot(e *kernels.Expr) (int, bool) {
	slot, ok := -1, true
	e.Cols(func(c kernels.Col) {
		ok = ok && (slot < 0 || slot == c.Input)
		slot = c.Input
	})
	return slot, ok && slot >= 0
}
