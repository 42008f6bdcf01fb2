package rules

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "RollUpCount", Phase: Whole, Anywhere: true,
	Doc: "Where a relation is summed by groups, the number of all its rows is the sum of the groups' " +
		"numbers; the relation " +
		"is not read again for it (roll-up, as of a data cube). Must not fire where the sums depend on the " +
		"number, nor on counts " +
		"of values that may be NULL.",
	Apply: func(c *Context, n *ra.Node) bool {
		if n.Op != ra.Aggregate || len(n.Group) > 0 {
			return false
		}
		base := sameRows(n.Inputs[0])
		if c.uses(base) < 2 && base == n.Inputs[0] {
			return false
		}
		by := c.groups(base)
		by = slices.DeleteFunc(by, func(m *ra.Node) bool { return below(n, m) })
		if len(by) == 0 {
			return false
		}
		need := c.read(n)
		if len(need) == 0 || slices.ContainsFunc(need, func(i int) bool { return !countsRows(n, n.Aggs[i]) }) {
			return false
		}
		cols := lists.Map(need, func(i int) ra.Column { return n.Cols[i] })
		n.Cols = cols
		rollUp(c, n, c.first(by))
		return true
	},
})

// groups lists the aggregates that group all rows of base.
func (c *Context) groups(base *ra.Node) (out []*ra.Node) {
	c.consumers(base, func(m *ra.Node) {
		switch {
		case m.Op == ra.Aggregate && len(m.Group) > 0:
			out = append(out, m)
		case m.Op == ra.Select && len(m.Pred) == 0:
			out = append(out, c.groups(m)...)
		}
	})
	return out
}

// first is the node that a walk over the plan meets first.
func (c *Context) first(nodes []*ra.Node) *ra.Node {
	var found *ra.Node
	ra.Walk(func(m *ra.Node) {
		if found == nil && slices.Contains(nodes, m) {
			found = m
		}
	}, c.Plan.Nodes()...)
	return found
}

// read lists the columns of n that are read, by position.
func (c *Context) read(n *ra.Node) []int {
	need := map[ra.ColumnID]bool{}
	for _, r := range c.Plan.Roots {
		for _, id := range r.Cols {
			need[id] = true
		}
	}
	c.consumers(n, func(m *ra.Node) { demand(m, need) })
	var out []int
	for i, col := range n.Cols {
		if need[col.ID] {
			out = append(out, i)
		}
	}
	return out
}

// countsRows reports whether an aggregate of n is the number of its input's rows.
func countsRows(n *ra.Node, a ra.Agg) bool {
	return a.Fn == ra.CountRows || a.Fn == ra.Count && !n.Inputs[0].Col(a.Arg).Type.Nullable
}

// sameRows skips selections that keep all rows.
func sameRows(n *ra.Node) *ra.Node {
	for n.Op == ra.Select && len(n.Pred) == 0 {
		n = n.Inputs[0]
	}
	return n
}

// below reports whether m reads n, directly or not.
func below(n, m *ra.Node) bool {
	found := false
	ra.Walk(func(o *ra.Node) { found = found || o == n }, m)
	return found
}

// rollUp makes n, the count of all rows, a sum of the counts by group.
func rollUp(c *Context, n, by *ra.Node) {
	var count ra.Column
	if i := slices.IndexFunc(by.Aggs, func(a ra.Agg) bool { return a.Fn == ra.CountRows }); i >= 0 {
		count = by.Cols[len(by.Group)+i]
	} else {
		count = ra.Column{ID: c.B.ID(), Name: "rows", Type: kernels.Type{Kind: kernels.Int}}
		c.Changed(by)
		by.Cols, by.Aggs = append(slices.Clip(by.Cols), count), append(slices.Clip(by.Aggs), ra.Agg{Fn: ra.CountRows})
	}
	sum, err := c.B.Aggregate(by, nil, []ra.AggCol{{Name: "rows", Agg: ra.Agg{Fn: ra.Sum, Arg: count.ID}}})
	if err != nil {
		panic(err) // cannot happen: a count is a number
	}
	all := kernels.Build("coalesce", sum.Var(0, sum.Cols[0].ID), kernels.Const(kernels.IntValue(0)))
	out := lists.Map(n.Cols, func(col ra.Column) ra.OutCol { return ra.OutCol{Name: col.Name, X: all} })
	become(n, c.B.Select(sum, nil, out))
}
