package autodiff

import (
	"context"

	"github.com/relgrad/relgrad/ra"
)

// Expand replaces every Gradient node below root by the query of that gradient, inner ones first, so that
// the result can be run or differentiated again (law 8). Nodes outside keep their identity.
func Expand(ctx context.Context, b *ra.Builder, root *ra.Node) (*ra.Node, error) {
	done := map[*ra.Node]*ra.Node{}
	var visit func(n *ra.Node) (*ra.Node, error)
	visit = func(n *ra.Node) (*ra.Node, error) {
		if r, ok := done[n]; ok {
			return r, nil
		}
		inputs, changed := make([]*ra.Node, len(n.Inputs)), false
		for i, in := range n.Inputs {
			r, err := visit(in)
			if err != nil {
				return nil, err
			}
			inputs[i] = r
			changed = changed || r != in
		}
		out := n
		if changed {
			c := *n
			c.Inputs = inputs
			out = &c
		}
		if n.Op == ra.Gradient {
			g, err := expand(ctx, b, out)
			if err != nil {
				return nil, err
			}
			out = g
		}
		done[n] = out
		return out, nil
	}
	return visit(root)
}

// expand builds the gradient that n stands for, under n's own column ids.
func expand(ctx context.Context, b *ra.Builder, n *ra.Node) (*ra.Node, error) {
	loss, scan := n.Inputs[0], n.Inputs[1]
	grads, err := differentiate(ctx, b, loss, loss.Cols[0].ID, []Param{{Scan: scan}}, true)
	if err != nil {
		return nil, err
	}
	g := grads[0]
	var out []ra.OutCol
	for i, c := range n.Cols {
		id := g.Key[0] // of a table without key columns
		if i < len(scan.Cols) {
			id = g.Cols[i].ID
		}
		out = append(out, ra.OutCol{Name: c.Name, X: g.Var(0, id)})
	}
	r := b.Select(g, nil, out)
	rename := map[ra.ColumnID]ra.ColumnID{}
	for i := range n.Cols {
		rename[r.Cols[i].ID] = n.Cols[i].ID
		r.Cols[i].ID = n.Cols[i].ID
	}
	r.Least, r.Fixed = nil, nil
	for _, ids := range []*[]ra.ColumnID{&r.Key, &r.Unique} {
		fresh := make([]ra.ColumnID, len(*ids))
		for i, id := range *ids {
			fresh[i] = id
			if to, ok := rename[id]; ok {
				fresh[i] = to
			}
		}
		*ids = fresh
	}
	return r, nil
}
