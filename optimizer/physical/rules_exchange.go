package physical

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// lastExchange is R2-1.
func lastExchange(_ *ruleContext, n *Node) func() {
	for i, in := range n.Inputs {
		if !in.exchange() || in.Place.Partial {
			continue
		}
		if n.exchange() || in.Place.Equal(in.Inputs[0].Place) {
			return func() { n.Inputs[i] = in.Inputs[0] }
		}
	}
	return nil
}

// moved reports whether n is a selection of rows that an exchange moves for it alone.
func (c *ruleContext) moved(n *Node) bool {
	return n.Op == Local && n.RA.Op == ra.Select && n.Inputs[0].exchange() && c.readers[n.Inputs[0]] == 1
}

// plain reports whether a selection computes nothing.
func plain(n *ra.Node) bool {
	for _, x := range n.Out {
		if !x.IsCol {
			return false
		}
	}
	return true
}

// selectFirst is R2-2.
func selectFirst(c *ruleContext, n *Node) func() {
	if !c.moved(n) || !plain(n.RA) {
		return nil
	}
	return raise(n)
}

// computeFirst is R2-3 upwards.
func computeFirst(c *ruleContext, n *Node) func() {
	if !c.moved(n) || plain(n.RA) || Width(n.RA) > Width(n.RA.Inputs[0]) {
		return nil
	}
	return raise(n)
}

// raise moves the exchange below a selection above it.
func raise(n *Node) func() {
	x := n.Inputs[0]
	var by []ra.ColumnID
	for _, id := range x.By {
		at := slices.IndexFunc(n.RA.Cols, func(c ra.Column) bool {
			e := n.RA.Out[n.RA.Index(c.ID)]
			return e.IsCol && e.Col.ID == id
		})
		if at < 0 {
			return nil
		}
		by = append(by, n.RA.Cols[at].ID)
	}
	return func() {
		below := &Node{RA: n.RA, Inputs: []*Node{x.Inputs[0]}}
		*n = Node{Op: x.Op, By: by, Fn: x.Fn, Site: x.Site, Inputs: []*Node{below}}
	}
}

// moveFirst is R2-3 downwards.
func moveFirst(c *ruleContext, n *Node) func() {
	if !n.exchange() || n.Op == Halo || n.Inputs[0].Op != Local || n.Inputs[0].RA.Op != ra.Select ||
		c.readers[n.Inputs[0]] > 1 {
		return nil
	}
	of := n.Inputs[0]
	if len(of.RA.Pred) > 0 || len(of.RA.Equi) > 0 || Width(of.RA) <= Width(of.RA.Inputs[0]) {
		return nil
	}
	var by []ra.ColumnID
	for _, id := range n.By {
		e := of.RA.Out[of.RA.Index(id)]
		if !e.IsCol {
			return nil
		}
		by = append(by, e.Col.ID)
	}
	return func() {
		x := &Node{Op: n.Op, By: by, Fn: n.Fn, Site: n.Site, Inputs: of.Inputs}
		*n = Node{RA: of.RA, Inputs: []*Node{x}}
	}
}
