package physical

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// joins reports whether n joins relations by equalities, and all of them are whole.
func joins(n *Node) bool {
	return n.Op == Local && (n.RA.Op == ra.Join || n.RA.Op == ra.SemiJoin || n.RA.Op == ra.AntiJoin) &&
		len(n.RA.Equi) > 0 && !slices.ContainsFunc(n.Inputs, func(in *Node) bool { return in.Place.Partial })
}

// broadcastOthers is R2-6 with one input kept where it lies: the first or the last.
func broadcastOthers(first bool) func(*ruleContext, *Node) func() {
	return func(_ *ruleContext, n *Node) func() {
		if !joins(n) || !first && n.RA.Op != ra.Join {
			return nil
		}
		kept := len(n.Inputs) - 1
		if first {
			kept = 0
		}
		if !n.Inputs[kept].bare().Place.once() {
			return nil
		}
		inputs := make([]*Node, len(n.Inputs))
		for i, in := range n.Inputs {
			switch {
			case i == kept || !in.bare().Place.once():
				inputs[i] = in.bare()
			case in.Place.once():
				inputs[i] = &Node{Op: Bcast, Inputs: []*Node{in.bare()}}
			default:
				inputs[i] = in
			}
		}
		if slices.Equal(inputs, n.Inputs) {
			return nil
		}
		return func() { n.Inputs = inputs }
	}
}

// shuffleAll is R2-6 with all inputs shuffled by the columns that the join equates between them.
func shuffleAll(c *ruleContext, n *Node) func() {
	if !joins(n) {
		return nil
	}
	by := make([][]ra.ColumnID, len(n.Inputs))
	for _, col := range n.RA.Inputs[0].Cols {
		meet, ok := meeting(n, kernels.Col{ID: col.ID})
		if !ok || slices.Contains(by[0], meet[0]) {
			continue
		}
		for i, id := range meet {
			by[i] = append(by[i], id)
		}
	}
	return c.shuffled(n, by)
}

// meeting finds, for a column of an input, one of each input that the join equates to it, the same for all columns that
// are equated.
func meeting(n *Node, col kernels.Col) (out []ra.ColumnID, ok bool) {
	same := n.RA.Equated(col)
	for i := range n.Inputs {
		least := ra.ColumnID(-1)
		for _, c := range same {
			if c.Input == i && (least < 0 || c.ID < least) {
				least = c.ID
			}
		}
		if least < 0 {
			return nil, false
		}
		out = append(out, least)
	}
	return out, true
}

// shuffled gives a join inputs that are shuffled by columns of each, if the columns are spread alike.
func (c *ruleContext) shuffled(n *Node, by [][]ra.ColumnID) func() {
	if len(by[0]) == 0 {
		return nil
	}
	inputs, same := make([]*Node, len(n.Inputs)), true
	for i, in := range n.Inputs {
		x := &Node{Op: Shuf, By: by[i], Fn: c.Spread(in.Relation(), by[i]), Inputs: []*Node{in.bare()}}
		if inputs[i] = x; i > 0 && !x.Fn.Equal(inputs[0].Fn) {
			return nil
		}
		same = same && in.Op == Shuf && slices.Equal(in.By, x.By) && in.Fn.Equal(x.Fn)
	}
	if same {
		return nil
	}
	return func() { n.Inputs = inputs }
}

// shuffleInputs is R2-7.
func shuffleInputs(c *ruleContext, n *Node) func() {
	if n.Op != Shuf || !joins(n.Inputs[0]) || c.readers[n.Inputs[0]] > 1 {
		return nil
	}
	of := n.Inputs[0]
	by := make([][]ra.ColumnID, len(of.Inputs))
	for _, id := range n.By {
		col := kernels.Col{ID: id} // a semi-join passes the columns of its first input by position
		if of.RA.Op == ra.Join {
			x := of.RA.Out[of.RA.Index(id)]
			if !x.IsCol {
				return nil
			}
			col = x.Col
		} else {
			col.ID = of.RA.Inputs[0].Cols[of.RA.Index(id)].ID
		}
		meet, ok := meeting(of, col)
		if !ok {
			return nil
		}
		for i, id := range meet {
			by[i] = append(by[i], id)
		}
	}
	inputs := make([]*Node, len(of.Inputs))
	for i, in := range of.Inputs {
		inputs[i] = &Node{Op: Shuf, By: by[i], Fn: n.Fn, Inputs: []*Node{in.bare()}}
	}
	return func() { *n = Node{RA: of.RA, Inputs: inputs} }
}
