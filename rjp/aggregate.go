package rjp

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// aggregate is the RJP of Σ: each input row receives its group's gradient, for min and max only the rows
// that attain it, in equal shares (law 6). NULL inputs take no part and receive zero.
func aggregate(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	in := n.Inputs[0]
	inputs := []*ra.Node{g.Node, in}
	var equi []ra.Equi
	for i, id := range n.Group {
		equi = append(equi, ra.Equi{L: kernels.Col{ID: g.Key[i]}, R: kernels.Col{Input: 1, ID: id}, NullSafe: true})
	}
	out := keyOut(in, 1, in.Key)
	var cols []ra.ColumnID
	var grads []*kernels.Expr
	for _, i := range active(c, n, g) {
		a := n.Aggs[i-len(n.Group)]
		gx := g.Node.Var(0, g.Val[n.Cols[i].ID])
		x := in.Var(1, a.Arg)
		if a.Fn == ra.Min || a.Fn == ra.Max {
			extremes, err := ties(c, n, i)
			if err != nil {
				return nil, err
			}
			s := len(inputs)
			inputs = append(inputs, extremes)
			equi = append(equi, matchKey(g.Key, extremes, s)...)
			value, count := extremes.Cols[len(n.Group)], extremes.Cols[len(n.Group)+1]
			gx = attained(x, extremes.Var(s, value.ID), kernels.Div(gx, extremes.Var(s, count.ID)))
		} else if x.Type.Nullable {
			gx = kernels.Guard(kernels.Build("is_not_null", x), gx)
		}
		gx = kernels.NullToZero(kernels.CastTo(x.Type.Kind, gx))
		k := -1
		for j, id := range cols {
			if id == a.Arg {
				k = j
			}
		}
		if k >= 0 { // sum(x) and max(x) of one column
			grads[k] = kernels.Add(grads[k], gx)
			continue
		}
		cols, grads = append(cols, a.Arg), append(grads, gx)
	}
	if len(cols) == 0 {
		return []*Grad{nil}, nil
	}
	for i, id := range cols {
		out = append(out, ra.OutCol{Name: "d_" + in.Col(id).Name, X: grads[i]})
	}
	return []*Grad{result(c.B.Join(inputs, equi, nil, out), len(in.Key), cols)}, nil
}

// attained is g where x is the extreme, else zero; of a chunk, element by element.
func attained(x, extreme, g *kernels.Expr) *kernels.Expr {
	if x.Type.IsChunk() {
		return kernels.Select(kernels.Build("eq_mask", x, extreme), g, kernels.Num(0))
	}
	return kernels.Guard(kernels.Build("eq", x, extreme), g)
}

// ties returns, by group, the extreme value of aggregate i of n and the number of rows that attain it.
func ties(c *Context, n *ra.Node, i int) (*ra.Node, error) {
	in := n.Inputs[0]
	arg := n.Aggs[i-len(n.Group)].Arg
	var equi []ra.Equi
	for j, id := range n.Group {
		equi = append(equi, ra.Equi{L: kernels.Col{ID: n.Key[j]}, R: kernels.Col{Input: 1, ID: id}, NullSafe: true})
	}
	top, x := n.Var(0, n.Cols[i].ID), in.Var(1, arg)
	one := kernels.NullToZero(attained(x, top, kernels.Num(1)))
	out := append(keyOut(n, 0, n.Key), ra.OutCol{Name: "top", X: top}, ra.OutCol{Name: "tie", X: one})
	rows := c.B.Join([]*ra.Node{n, in}, equi, nil, out)
	var group []ra.ColumnID
	for j := range n.Key {
		group = append(group, rows.Cols[j].ID)
	}
	k := len(group)
	return c.B.Aggregate(rows, group, []ra.AggCol{{Name: "top", Agg: ra.Agg{Fn: ra.Max, Arg: rows.Cols[k].ID}},
		{Name: "ties", Agg: ra.Agg{Fn: ra.Sum, Arg: rows.Cols[k+1].ID}}})
}
