package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "MergeDuplicates", Phase: Whole, Anywhere: true,
	Doc: "Two nodes that compute the same by construction become one: forward and backward pass share what " +
		"they have in common. Opaque nodes are never merged: their text may draw.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n != c.Plan.Roots[len(c.Plan.Roots)-1].Node { // one walk over the whole plan does it
			return false
		}
		first, fired := map[string]*ra.Node{}, false
		var order []*ra.Node
		ra.Walk(func(m *ra.Node) { order = append(order, m) }, c.Plan.Nodes()...)
		for _, m := range order {
			if m.Op == ra.Opaque || m.Op == ra.Scan {
				continue
			}
			about := c.known[m]
			if about.signature == "" {
				about.signature = signature(m)
			}
			sig := about.signature
			if twin := first[sig]; twin != nil {
				redirect(c, m, twin)
				fired = true
				continue
			}
			first[sig] = m
		}
		return fired
	},
})

// signature describes what a node computes, its columns by position.
func signature(n *ra.Node) string {
	var b strings.Builder
	pos := func(c kernels.Col) string { return fmt.Sprintf("%d.%d", c.Input, n.Inputs[c.Input].Index(c.ID)) }
	fmt.Fprintf(&b, "%v|%v|%v|%d", n.Op, n.Table, n.PerStep, len(n.Cols))
	for _, in := range n.Inputs {
		fmt.Fprintf(&b, "|%p", in)
	}
	for _, q := range n.Equi {
		fmt.Fprintf(&b, "|%s=%s %v", pos(q.L), pos(q.R), q.NullSafe)
	}
	for _, p := range n.Pred {
		b.WriteString("|?" + p.Format(pos))
	}
	for _, o := range n.Out {
		b.WriteString("|" + o.Format(pos) + o.Type.String())
	}
	for _, g := range n.Group {
		fmt.Fprintf(&b, "|g%d", n.Inputs[0].Index(g))
	}
	for _, a := range n.Aggs {
		arg := -1
		if a.Fn != ra.CountRows {
			arg = n.Inputs[0].Index(a.Arg)
		}
		fmt.Fprintf(&b, "|%v %d", a.Fn, arg)
	}
	return b.String()
}

// redirect makes every consumer of n read to instead, whose columns correspond by position.
func redirect(c *Context, n, to *ra.Node) {
	fresh := map[ra.ColumnID]ra.ColumnID{}
	for i, col := range n.Cols {
		fresh[col.ID] = to.Cols[i].ID
	}
	var users []*ra.Node
	c.consumers(n, func(p *ra.Node) { users = append(users, p) })
	for _, p := range users {
		slots := map[int]bool{}
		p.Inputs = slices.Clone(p.Inputs)
		for s, in := range p.Inputs {
			if in == n {
				p.Inputs[s], slots[s] = to, true
			}
		}
		mapExprs(p, func(col kernels.Col) kernels.Col {
			if slots[col.Input] {
				col.ID = fresh[col.ID]
			}
			return col
		})
		p.Group, p.Aggs = slices.Clone(p.Group), slices.Clone(p.Aggs)
		for i, g := range p.Group {
			p.Group[i] = fresh[g]
		}
		for i, a := range p.Aggs {
			if a.Fn != ra.CountRows {
				p.Aggs[i].Arg = fresh[a.Arg]
			}
		}
	}
	c.Changed(users...)
	for i, r := range c.Plan.Roots {
		if r.Node == n {
			c.moved = true
			c.Plan.Roots[i].Node = to
			c.Plan.Roots[i].Cols = slices.Clone(r.Cols)
			for j, id := range r.Cols {
				c.Plan.Roots[i].Cols[j] = fresh[id]
			}
		}
	}
	c.Update()
}
