package physical

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// summedAfter reports whether n is Σ of rows that are moved for it and are no parts yet.
func summedAfter(n *Node) bool {
	return n.Op == Local && n.RA.Op == ra.Aggregate && n.Inputs[0].exchange() && n.Inputs[0].Op != Bcast &&
		n.Inputs[0].Inputs[0].Place.once() && !n.Inputs[0].Place.Partial
}

// sumInPlace is R2-4.
func sumInPlace(_ *ruleContext, n *Node) func() {
	if !summedAfter(n) || !n.Inputs[0].Inputs[0].Place.within(n.RA.Group) {
		return nil
	}
	return func() { n.Inputs[0] = n.Inputs[0].Inputs[0] }
}

// twoPhases is R2-5. Every ⊕ of ra is associative and commutative; parts of a count are summed.
func twoPhases(c *ruleContext, n *Node) func() {
	if !summedAfter(n) || n.Inputs[0].Inputs[0].Place.within(n.RA.Group) ||
		slices.ContainsFunc(n.Inputs[0].By, func(id ra.ColumnID) bool { return !slices.Contains(n.RA.Group, id) }) {
		return nil
	}
	return func() {
		x := n.Inputs[0]
		first := c.firstPhase(n.RA)
		parts := &Node{RA: first, Inputs: []*Node{x.Inputs[0]}}
		to := &Node{Op: x.Op, Fn: x.Fn, Site: x.Site, Inputs: []*Node{parts}}
		for _, id := range x.By {
			to.By = append(to.By, first.Key[slices.Index(n.RA.Group, id)])
		}
		n.Inputs = []*Node{to}
		n.RA.Inputs, n.RA.Group, n.RA.Aggs = []*ra.Node{first}, first.Key, sums(first)
	}
}

// firstPhase is an aggregate with columns of its own.
func (c *ruleContext) firstPhase(n *ra.Node) *ra.Node {
	first := *n
	first.Cols, first.Key, first.Unique, first.Fixed, first.Least = slices.Clone(n.Cols), nil, nil, nil, nil
	for i := range first.Cols {
		first.Cols[i].ID = c.b.ID()
		if i < len(n.Group) {
			first.Key = append(first.Key, first.Cols[i].ID)
		}
	}
	first.Unique = first.Key
	return &first
}
