package chunking

import (
	"context"
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/optimizer/eindecomp"
)

// Explain decomposes the graph for p kernel calls of each vertex and writes what is cut how, and what that moves.
func (c *Chunking) Explain(ctx context.Context, p int64) (string, error) {
	var b strings.Builder
	if c.Graph == nil {
		b.WriteString("no sum of the loss or its gradients has a labelled form over full grids\n")
	} else if err := c.plan(ctx, &b, p); err != nil {
		return "", err
	}
	if len(c.Left) > 0 {
		b.WriteString("left out:\n")
	}
	for _, l := range c.Left {
		fmt.Fprintf(&b, "  %s: %s\n", l.Name, l.Reason)
	}
	return b.String(), nil
}

func (c *Chunking) plan(ctx context.Context, b *strings.Builder, p int64) error {
	d, err := eindecomp.NewDecomposer(c.Graph, p, eindecomp.Limits{})
	if err != nil {
		return err
	}
	plan, err := d.Decompose(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "%d kernel calls of each sum move %d floats, found by %s\n", p, plan.Costs.Total, plan.By)
	if plan.Why != "" {
		fmt.Fprintf(b, "this is not proved to be the least: %s\n", plan.Why)
	}
	for i := range c.Graph.Vertices {
		v, cost := &c.Graph.Vertices[i], plan.Costs.Vertices[i]
		fmt.Fprintf(b, "%s = %s\n", v.Name, c.Texts[i])
		fmt.Fprintf(b, "  parts %s; %d tuples; join %d, aggregation %d floats\n", parts(v, plan.Vectors[i]), cost.Tuples,
			cost.Join, cost.Agg)
		for _, e := range plan.Costs.Edges {
			if e.To == i {
				fmt.Fprintf(b, "  from %s to operand %d: repartition %d floats\n", c.Graph.Vertices[e.From].Name, e.Slot+1,
					e.Repartitions)
			}
		}
	}
	return nil
}

// parts writes a partition vector by the names of the labels, with their bounds.
func parts(v *eindecomp.Vertex, d eindecomp.Vector) string {
	var out []string
	for l, n := range d {
		whole := ""
		if v.Labels[l].Whole {
			whole = ", whole"
		}
		out = append(out, fmt.Sprintf("%s %d of %d%s", v.Labels[l].Name, n, v.Labels[l].Bound, whole))
	}
	return strings.Join(out, ", ")
}
