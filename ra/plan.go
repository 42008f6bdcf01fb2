package ra

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
)

// Plan is a query with several results that share nodes: a loss and gradients, say.
type Plan struct{ Roots []Root }

// Root is one result.
type Root struct {
	Name string
	Node *Node
	Cols []ColumnID // the columns wanted, in order
}

// Nodes returns the roots' nodes.
func (p *Plan) Nodes() []*Node { return lists.Map(p.Roots, func(r Root) *Node { return r.Node }) }

// Clone copies the DAG, so that it can be rewritten in place; expressions are immutable and shared.
func Clone(p *Plan) *Plan {
	done := map[*Node]*Node{}
	Walk(func(n *Node) {
		c := *n
		c.Inputs = make([]*Node, len(n.Inputs))
		for i, in := range n.Inputs {
			c.Inputs[i] = done[in]
		}
		c.Cols, c.Key, c.Unique, c.Fixed, c.Least = slices.Clone(n.Cols), slices.Clone(n.Key), slices.Clone(n.Unique),
			slices.Clone(n.Fixed), slices.Clone(n.Least)
		c.TableCols, c.Equi, c.Pred, c.Out = slices.Clone(n.TableCols), slices.Clone(n.Equi),
			slices.Clone(n.Pred), slices.Clone(n.Out)
		c.Group, c.Aggs = slices.Clone(n.Group), slices.Clone(n.Aggs)
		done[n] = &c
	}, p.Nodes()...)
	out := &Plan{}
	for _, r := range p.Roots {
		out.Roots = append(out.Roots, Root{r.Name, done[r.Node], slices.Clone(r.Cols)})
	}
	return out
}
