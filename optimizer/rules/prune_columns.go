package rules

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

var _ = register(Rule{
	Name: "PruneColumns", Phase: Final, Anywhere: true,
	Doc: "Columns that nobody reads are neither computed nor loaded (projection push-down). Identities stay, and " +
		"so do columns that correspond by position (inputs of Union, Add, SemiJoin, AntiJoin and Recursion).",
	Apply: func(c *Context, n *ra.Node) bool {
		if n != c.Plan.Roots[len(c.Plan.Roots)-1].Node { // one walk over the whole plan does it
			return false
		}
		need := map[ra.ColumnID]bool{}
		for _, r := range c.Plan.Roots {
			for _, id := range r.Cols {
				need[id] = true
			}
		}
		var order []*ra.Node
		ra.Walk(func(m *ra.Node) { order = append(order, m) }, c.Plan.Nodes()...)
		fired := false
		for i := len(order) - 1; i >= 0; i-- {
			fired = prune(order[i], need) || fired
			demand(order[i], need)
		}
		return fired
	},
})

// demand marks the columns of its inputs that n reads.
func demand(n *ra.Node, need map[ra.ColumnID]bool) {
	read := func(c kernels.Col) { need[c.ID] = true }
	n.Reads(read)
	for _, q := range n.Equi {
		need[q.L.ID], need[q.R.ID] = true, true
	}
	for _, g := range n.Arranged() {
		need[g] = true
	}
	for i := range n.Cols {
		if n.Op == ra.Window {
			for _, id := range n.Sources(i) {
				need[id] = true
			}
		}
	}
	for _, a := range n.Aggs {
		if a.Fn != ra.CountRows {
			need[a.Arg] = true
		}
	}
	if n.Op == ra.Union || n.Op == ra.Add || n.Op == ra.SemiJoin || n.Op == ra.AntiJoin || n.Op == ra.Recursion {
		for s, in := range n.Inputs {
			for i, c := range in.Cols {
				if s == 0 || n.Op == ra.Union || n.Op == ra.Add || n.Op == ra.Recursion && s == 1 {
					need[c.ID] = need[c.ID] || i < len(n.Cols)
				}
			}
		}
	}
	for _, in := range n.Inputs {
		for _, k := range in.Key {
			need[k] = true
		}
	}
}

// prune drops n's unread columns.
func prune(n *ra.Node, need map[ra.ColumnID]bool) bool {
	switch n.Op {
	case ra.Scan, ra.Select, ra.Join, ra.Aggregate, ra.Window:
	default:
		return false
	}
	var cols []ra.Column
	var tab []int
	var out []*kernels.Expr
	var aggs []ra.Agg
	var pass []ra.ColumnID
	for i, c := range n.Cols {
		last := n.Op == ra.Scan && i == len(n.Cols)-1 && cols == nil // a scan without columns would have no rows
		if !need[c.ID] && !n.IsKey(c.ID) && !last {
			continue
		}
		cols = append(cols, c)
		if n.Op == ra.Scan {
			tab = append(tab, n.TableCols[i])
		}
		if n.Out != nil {
			out = append(out, n.Out[i])
		}
		switch own := i - len(n.Cols) + len(n.Aggs); {
		case own >= 0 && n.Aggs != nil:
			aggs = append(aggs, n.Aggs[own])
		case n.Op == ra.Window:
			pass = append(pass, n.Over.Pass[i])
		}
	}
	fired := len(cols) < len(n.Cols)
	if n.Over != nil && fired {
		over := *n.Over
		over.Pass, n.Over = pass, &over
	}
	n.Cols, n.TableCols, n.Out, n.Aggs = cols, tab, out, aggs
	return fired
}
