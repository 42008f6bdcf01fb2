package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
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
			if m.Op == ra.Opaque || m.Op == ra.Scan || m.Op == ra.Self {
				continue
			}
			about := c.known[m]
			if about.signature == "" {
				about.signature = c.signature(m)
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

// signature describes what a node computes, with columns by position. Expressions are in it by number, which keeps it
// short even if they share large parts.
func (c *Context) signature(n *ra.Node) string {
	var b strings.Builder
	x := c.numbering(n)
	fmt.Fprintf(&b, "%v|%v|%v|%d", n.Op, n.Table, n.PerStep, len(n.Cols))
	if n.Loop != nil {
		fmt.Fprintf(&b, "|%v", *n.Loop)
	}
	for _, in := range n.Inputs {
		fmt.Fprintf(&b, "|%p", in)
	}
	for _, q := range n.Equi {
		fmt.Fprintf(&b, "|%s=%s %v", x.column(q.L), x.column(q.R), q.NullSafe)
	}
	for _, p := range n.Pred {
		fmt.Fprintf(&b, "|?%d", x.number(p))
	}
	for _, o := range n.Out {
		fmt.Fprintf(&b, "|%d%v", x.number(o), o.Type)
	}
	for _, g := range n.Group {
		fmt.Fprintf(&b, "|g%d", n.Inputs[0].Index(g))
	}
	if o := n.Over; o != nil {
		at := func(id ra.ColumnID) int { return n.Inputs[0].Index(id) }
		fmt.Fprintf(&b, "|%v|%v|%v", lists.Map(o.Pass, at), lists.Map(o.Partition, at), o.Frame)
		for _, s := range o.Order {
			fmt.Fprintf(&b, "|o%d %v %v", at(s.Col), s.Desc, s.NullsFirst)
		}
		if e := o.Among; e != nil {
			fmt.Fprintf(&b, "|among %d %v %v", at(e.Col), e.Fn, e.Back)
		}
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

// numbering numbers the expressions of a node. Two expressions have the same number, in all nodes of the plan, if they
// are built in the same way from columns at the same positions.
type numbering struct {
	c  *Context
	n  *ra.Node
	of map[*kernels.Expr]int
}

func (c *Context) numbering(n *ra.Node) *numbering {
	return &numbering{c: c, n: n, of: map[*kernels.Expr]int{}}
}

func (x *numbering) column(c kernels.Col) string {
	return strconv.Itoa(c.Input) + "." + strconv.Itoa(x.n.Inputs[c.Input].Index(c.ID))
}

func (x *numbering) number(e *kernels.Expr) int {
	if k, ok := x.of[e]; ok {
		return k
	}
	var key []byte
	switch {
	case e.IsCol:
		key = append(key, x.column(e.Col)...)
	case e.Def == nil:
		key = append(append(append(key, '='), e.Const.String()...), e.Type.String()...)
	default:
		key = append(key, e.Def.Name...)
		for _, a := range e.Args {
			key = strconv.AppendInt(append(key, ' '), int64(x.number(a)), 10)
		}
		key = append(append(key, ';'), e.Attr.String()...)
		if e.Def.Is(kernels.Converts) {
			key = append(key, e.Type.String()...)
		}
	}
	k, ok := x.c.numbers[string(key)]
	if !ok {
		k = len(x.c.numbers)
		x.c.numbers[string(key)] = k
	}
	x.of[e] = k
	return k
}

// redirect makes every reader of n read to instead. Their columns correspond by position.
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
		if p.Over != nil {
			p.Over = p.Over.Renamed(func(id ra.ColumnID) ra.ColumnID { return fresh[id] })
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
