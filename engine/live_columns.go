package engine

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// liveColumns are the columns, by node, on which the roots of a plan depend. The plan is not optimized: a scan has all
// columns of its table, and a sub-query all that it selects.
func liveColumns(plan *ra.Plan) map[*ra.Node]map[ra.ColumnID]bool {
	live := map[*ra.Node]map[ra.ColumnID]bool{}
	need := func(n *ra.Node, ids ...ra.ColumnID) {
		if live[n] == nil {
			live[n] = map[ra.ColumnID]bool{}
		}
		for _, id := range ids {
			live[n][id] = true
		}
	}
	for _, r := range plan.Roots {
		need(r.Node, r.Cols...)
	}
	var order []*ra.Node // inputs first
	ra.Walk(func(n *ra.Node) { order = append(order, n) }, plan.Nodes()...)
	for _, n := range slices.Backward(order) {
		reads := func(e *kernels.Expr) { e.Cols(func(c kernels.Col) { need(n.Inputs[c.Input], c.ID) }) }
		for _, e := range n.Pred {
			reads(e)
		}
		for _, q := range n.Equi {
			need(n.Inputs[q.L.Input], q.L.ID)
			need(n.Inputs[q.R.Input], q.R.ID)
		}
		for i, c := range n.Cols {
			if live[n][c.ID] || n.IsKey(c.ID) {
				passes(n, i, need, reads)
			}
		}
	}
	return live
}

// passes calls need for the columns from which column i of a node is computed.
func passes(n *ra.Node, i int, need func(*ra.Node, ...ra.ColumnID), reads func(*kernels.Expr)) {
	switch n.Op {
	case ra.Select, ra.Join:
		reads(n.Out[i])
	case ra.SemiJoin, ra.AntiJoin:
		need(n.Inputs[0], n.Cols[i].ID)
	case ra.Aggregate:
		if i < len(n.Group) {
			need(n.Inputs[0], n.Group[i])
		} else if a := n.Aggs[i-len(n.Group)]; a.Fn != ra.CountRows {
			need(n.Inputs[0], a.Arg)
		}
	case ra.Window:
		need(n.Inputs[0], n.Arranged()...)
		need(n.Inputs[0], n.Sources(i)...)
	case ra.Union:
		for _, in := range n.Inputs {
			need(in, in.Cols[i].ID)
		}
	default: // other operators need all their columns
		for _, in := range n.Inputs {
			for _, c := range in.Cols {
				need(in, c.ID)
			}
		}
	}
}
