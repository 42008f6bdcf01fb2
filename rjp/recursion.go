package rjp

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// recursion differentiates through the levels (back-propagation through time). A row of a level receives g and what
// the rows that the step makes of it receive, so the gradient of all rows is a Recursion along the same levels, in the
// other direction: its step is the RJP of n's step by the level before. What n's step reads besides that level receives
// from the rows of all levels at once: there the step is a query over n itself.
func recursion(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	var cols []ra.ColumnID
	for _, col := range n.Cols {
		if c.Active(n, col.ID) {
			cols = append(cols, col.ID)
		}
	}
	start, err := c.Align(n, g, cols)
	if err != nil {
		return nil, err
	}
	var key []int
	level := slices.Clone(start.Cols[:len(n.Key)+len(cols)])
	for i := range level {
		if i < len(n.Key) {
			key = append(key, i)
		} else {
			level[i].Dep = true
		}
	}
	self := c.B.Self(level, key)
	step, made, err := stepOfAll(c, n)
	if err != nil {
		return nil, err
	}
	back, err := c.Through(step, rowsOf(c, self, n, step, cols), made, n)
	if err != nil {
		return nil, err
	}
	total := start
	if back != nil {
		if back, err := c.Align(n, back, cols); err != nil {
			return nil, err
		} else {
			total = c.B.Retrace(self, start, back, n.Along(), !n.Loop.Back)
		}
	}
	if err := c.Spread(step, rowsOf(c, total, n, step, cols), made, n); err != nil {
		return nil, err
	}
	out := make([]*Grad, len(n.Inputs))
	out[0] = rowsOf(c, total, n, n.Inputs[0], cols)
	return out, nil
}

// stepOfAll is the step over the rows of all levels at once.
func stepOfAll(c *Context, n *ra.Node) (step *ra.Node, made []*ra.Node, err error) {
	if !n.Sums() {
		return c.B.Levelled(n.Inputs[1], n.SelfLeaf(), n)
	}
	step, made = c.B.Copy(n.Inputs[1], n.SelfLeaf(), n) // the identities of what its levels meet tell these apart
	return step, made, nil
}

// rowsOf is the part of a gradient of n, whose key comes first, that belongs to rows of an input: its columns are n's,
// position by position.
func rowsOf(c *Context, g, n, in *ra.Node, cols []ra.ColumnID) *Grad {
	var equi []ra.Equi
	for i, k := range n.Key {
		equi = append(equi, ra.Equi{L: kernels.Col{ID: g.Cols[i].ID}, R: kernels.Col{Input: 1, ID: in.Cols[n.Index(k)].ID},
			NullSafe: true})
	}
	var own []ra.ColumnID
	out := keyOut(in, 1, in.Key)
	for i, id := range cols {
		own = append(own, in.Cols[n.Index(id)].ID)
		at := g.Cols[len(n.Key)+i]
		out = append(out, ra.OutCol{Name: at.Name, X: g.Var(0, at.ID)})
	}
	return result(c.B.Join([]*ra.Node{g, in}, equi, nil, out), len(in.Key), own)
}
