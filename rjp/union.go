package rjp

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// union gives every branch the rows of its own branch number.
func union(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	out := make([]*Grad, len(n.Inputs))
	first := n.Index(n.Key[0]) // the branch number; the key columns follow it
	for b, in := range n.Inputs {
		cols, vals := passed(c, n, in, g)
		if cols == nil {
			continue
		}
		var key []ra.ColumnID
		for _, k := range in.Key {
			x := in.Out[in.Index(k)]
			at := slices.IndexFunc(in.Out[first:], func(e *kernels.Expr) bool { return e.Same(x) })
			key = append(key, g.at(n, n.Cols[first+at].ID))
		}
		branch := kernels.Build("eq", g.Node.Var(0, g.at(n, n.Key[0])), kernels.Const(kernels.IntValue(int64(b))))
		rows := c.B.Select(g.Node, []*kernels.Expr{branch}, append(keyOut(g.Node, 0, key), vals...))
		out[b] = result(rows, len(key), cols)
	}
	return out, nil
}

// passed lists the columns of the input in that receive a gradient, and the columns of g that are it: n's columns are
// its inputs', position by position.
func passed(c *Context, n, in *ra.Node, g *Grad) (cols []ra.ColumnID, vals []ra.OutCol) {
	for _, i := range active(c, n, g) {
		if c.Active(in, in.Cols[i].ID) {
			cols = append(cols, in.Cols[i].ID)
			vals = append(vals, ra.OutCol{Name: n.Cols[i].Name, X: g.Node.Var(0, g.Val[n.Cols[i].ID])})
		}
	}
	return cols, vals
}

// semi passes the gradient on: the rows that were kept are the input's own.
func semi(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	in := n.Inputs[0]
	down := &Grad{Node: g.Node}
	for _, k := range in.Key {
		down.Key = append(down.Key, g.at(n, n.Cols[in.Index(k)].ID))
	}
	for _, i := range active(c, n, g) {
		down.Set(in.Cols[i].ID, g.Val[n.Cols[i].ID])
	}
	if down.Val == nil {
		return []*Grad{nil, nil}, nil
	}
	return []*Grad{down, nil}, nil
}

// add gives each input the gradient of the rows that it has.
func add(c *Context, n *ra.Node, g *Grad) ([]*Grad, error) {
	out := make([]*Grad, len(n.Inputs))
	for b, in := range n.Inputs {
		cols, vals := passed(c, n, in, g)
		if cols == nil {
			continue
		}
		key := make([]ra.ColumnID, len(in.Key)) // the gradient's columns, in the order of in.Key
		for j, k := range in.Key {
			key[j] = g.at(n, n.Cols[in.Index(k)].ID)
		}
		rows := c.B.Join([]*ra.Node{g.Node, in}, matchKey(key, in, 1), nil, append(keyOut(g.Node, 0, key), vals...))
		out[b] = result(rows, len(key), cols)
	}
	return out, nil
}
