package rjp

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// join is the RJP of σ and ⋈: the upstream gradient, joined back on identities with the inputs that the
// kernels' derivatives read, gives each output row's contribution; these are summed by the input's identity.
func join(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	up := len(n.Inputs) // the slot that stands for the upstream gradient
	parts := make([][]kernels.Contribution, len(n.Inputs))
	for _, i := range active(c, n, g) {
		gcol := g.Val[n.Cols[i].ID]
		gx := kernels.Column(kernels.Col{Input: up, ID: gcol}, g.Node.Col(gcol).Type)
		cs, err := kernels.VJP(n.Out[i], gx, func(col kernels.Col) bool { return c.Active(n.Inputs[col.Input], col.ID) })
		if err != nil {
			return nil, err
		}
		for _, part := range cs {
			addPart(&parts[part.Col.Input], part)
		}
	}
	out := make([]*Grad, len(n.Inputs))
	for i := range n.Inputs {
		if len(parts[i]) > 0 {
			grad, err := contribute(c, n, g, i, parts[i])
			if err != nil {
				return nil, err
			}
			out[i] = grad
		}
	}
	return out, nil
}

func addPart(parts *[]kernels.Contribution, p kernels.Contribution) {
	for i, q := range *parts {
		if q.Col == p.Col {
			(*parts)[i].Grad = kernels.Add(q.Grad, p.Grad)
			return
		}
	}
	*parts = append(*parts, p)
}

// contribute builds Σ_{key of input i}(G ⋈ the inputs that the expressions read).
func contribute(c *Context, n *ra.Node, g *Grad, i int, parts []kernels.Contribution) (*Grad, error) {
	slot := map[int]int{len(n.Inputs): 0}
	inputs, equi := []*ra.Node{g.Node}, []ra.Equi(nil)
	for _, p := range parts {
		p.Grad.Cols(func(col kernels.Col) {
			if _, ok := slot[col.Input]; ok {
				return
			}
			slot[col.Input] = len(inputs)
			inputs = append(inputs, n.Inputs[col.Input])
			equi = append(equi, matchKey(carried(n, g, col.Input), n.Inputs[col.Input], slot[col.Input])...)
		})
	}
	key := carried(n, g, i)
	out := GroupOut(g.Node, key)
	var cols []ra.ColumnID
	for _, p := range parts {
		x := p.Grad.MapCols(func(e *kernels.Expr) *kernels.Expr {
			return kernels.Column(kernels.Col{Input: slot[e.Col.Input], ID: e.Col.ID}, e.Type)
		})
		out = append(out, ra.OutCol{Name: "d_" + n.Inputs[i].Col(p.Col.ID).Name, X: x})
		cols = append(cols, p.Col.ID)
	}
	rows := c.B.Join(inputs, equi, nil, out)
	sum, err := SumGroups(c.B, rows, len(out)-len(cols), len(cols))
	if err != nil {
		return nil, err
	}
	down := &Grad{Node: sum}
	for j := range key {
		down.Key = append(down.Key, sum.Cols[j].ID)
	}
	for j, id := range cols {
		down.Set(id, sum.Cols[len(out)-len(cols)+j].ID)
	}
	return down, nil
}

// carried returns the gradient's columns that hold the identity of input i of n.
func carried(n *ra.Node, g *Grad, i int) []ra.ColumnID {
	ids := n.InputKey(i)
	for j, id := range ids {
		ids[j] = g.at(n, id)
	}
	return ids
}

// GroupOut makes the output columns by which the contributions to an input are summed: its identity, or, where
// that is empty, a constant. A sum without groups would give a row of zeros where the input has no row that
// reaches the loss (law 3).
func GroupOut(g *ra.Node, key []ra.ColumnID) []ra.OutCol {
	if len(key) == 0 {
		return []ra.OutCol{{Name: "all", X: kernels.Const(kernels.IntValue(0))}}
	}
	return keyOut(g, 0, key)
}

// SumGroups sums columns of rows, nVal of them after the first nKey, by the first nKey.
func SumGroups(b *ra.Builder, rows *ra.Node, nKey, nVal int) (*ra.Node, error) {
	var group []ra.ColumnID
	var aggs []ra.AggCol
	for i, col := range rows.Cols[:nKey+nVal] {
		if i < nKey {
			group = append(group, col.ID)
		} else {
			aggs = append(aggs, ra.AggCol{Name: col.Name, Agg: ra.Agg{Fn: ra.GradSum, Arg: col.ID}})
		}
	}
	return b.Aggregate(rows, group, aggs)
}
