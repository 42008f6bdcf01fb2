package sqlgen

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// risky reports whether e can raise an error on a row that the query does not ask for. Overflow of integer sums and
// products does not count: it would take an extreme value in such a row.
func (p *printer) risky(e *kernels.Expr) bool {
	found := e.Any(func(x *kernels.Expr) bool {
		if x.Def != nil && x.Type.Kind == kernels.Int {
			switch x.Def.Name {
			case "add", "sub", "mul", "neg":
				return false
			case "div", "mod":
				return !nonzeroConst(x.Args[1])
			}
		}
		return !x.TotalCall()
	})
	e.Cols(func(c kernels.Col) { found = found || p.from[c.ID] })
	return found
}

func nonzeroConst(e *kernels.Expr) bool { return e.IsConst() && !e.Const.Null && e.Const.I != 0 }

// conditionsMayFail reports whether some condition of the plan is risky, or reads a column whose computation is. It
// fills p.from.
func (p *printer) conditionsMayFail() bool {
	p.from = map[ra.ColumnID]bool{}
	fails := false
	for _, n := range p.nodes {
		for _, e := range n.Pred {
			fails = fails || p.risky(e)
		}
		for _, q := range n.Equi {
			fails = fails || p.from[q.L.ID] || p.from[q.R.ID]
		}
		for i, c := range n.Cols {
			switch n.Op {
			case ra.Select, ra.Join:
				p.from[c.ID] = p.risky(n.Out[i])
			case ra.Aggregate:
				p.from[c.ID] = i < len(n.Group) && p.from[n.Group[i]]
			case ra.Window:
				id, ok := n.Passed(i)
				p.from[c.ID] = ok && p.from[id]
			case ra.Union, ra.SemiJoin, ra.AntiJoin:
				for _, in := range n.Inputs {
					p.from[c.ID] = p.from[c.ID] || i < len(in.Cols) && p.from[in.Cols[i].ID]
				}
			}
		}
	}
	return fails
}
