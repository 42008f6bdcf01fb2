package rules

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "PushSelectBelowJoin", Phase: Forward,
	Doc: "A predicate of a join that reads one input only is applied to that input before the join. Must not " +
		"fire on a constant predicate: there is no input to apply it to.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Join || len(n.Inputs) < 2 {
			return false
		}
		for i, p := range n.Pred {
			slot, ok := onlySlot(p)
			if !ok {
				continue
			}
			in := n.Inputs[slot]
			below := p.MapCols(func(l *kernels.Expr) *kernels.Expr { return in.Var(0, l.Col.ID) })
			n.Pred = append(n.Pred[:i:i], n.Pred[i+1:]...)
			putBelow(n, slot, c.B.Select(in, []*kernels.Expr{below}, passAll(in)))
			return true
		}
		return false
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
