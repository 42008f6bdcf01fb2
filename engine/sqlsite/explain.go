package sqlsite

import (
	"context"
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// Explain prints the statements of a step at the site, in the order in which they are run, and what is done with their
// rows.
func (s *Site) Explain(ctx context.Context, env kernels.Env) (string, error) {
	var b strings.Builder
	for i := range s.tables {
		fmt.Fprintf(&b, "%s;\n", s.creates[i])
	}
	shown := map[*keep]bool{}
	for i, x := range s.exchanges {
		often := "in the first step"
		if x.Varies {
			often = "in each step"
		}
		if err := s.show(ctx, &b, fmt.Sprintf("the keys of rows that are needed here, %s", often), x.keys, shown,
			&env); err != nil {
			return "", err
		}
		what := fmt.Sprintf("exchange %d, %v, %s", i+1, x.Node.Op, often)
		if err := s.show(ctx, &b, what, x.rows, shown, &env); err != nil {
			return "", err
		}
		if x.arrive != "" {
			fmt.Fprintf(&b, "-- exchange %d fills %s\n", i+1, x.arrive)
		}
	}
	return b.String(), nil
}

// show prints the statement of a query, behind those of the tables that it reads and that are not shown yet.
func (s *Site) show(ctx context.Context, b *strings.Builder, what string, q *query, shown map[*keep]bool,
	env *kernels.Env) error {
	if q == nil {
		return nil
	}
	c := s.cutter(q)
	for _, r := range q.roots {
		c.node(r)
	}
	for _, k := range c.reads {
		if !shown[k] {
			shown[k] = true
			if err := s.show(ctx, b, "kept in "+k.name, &k.query, shown, env); err != nil {
				return err
			}
		}
	}
	text, err := s.print(ctx, q, env)
	if err == nil {
		fmt.Fprintf(b, "-- %s\n%s;\n", what, strings.TrimRight(text, "\n"))
	}
	return err
}

// Counts are those of the site's exchanges.
func (s *Site) Counts() (out []Count) {
	for _, x := range s.exchanges {
		out = append(out, x.count)
	}
	return out
}

// Exchanged tells what the exchanges of a plan have moved, by the counts of all sites, beside what their rows have.
func (s *Site) Exchanged(counts [][]Count) (out []executor.Exchanged) {
	for i, x := range s.exchanges {
		e := executor.Exchanged{Node: x.Node, Once: !x.Varies}
		width := int64(0)
		for at, t := range x.types {
			if x.Moved[at] {
				width += int64(t.Size() * column.KindOf(t).Bytes())
				e.Columns = append(e.Columns, x.Node.Relation().Cols[x.Cols[at]].Name)
			}
		}
		e.Rows = physical.Crossing(x.Node, counted{x.Node, i, counts})
		for _, site := range counts {
			e.Moved += site[i].Bytes
		}
		if e.Predicted = e.Rows * width; e.Columns != nil {
			out = append(out, e)
		}
	}
	return out
}

// counted are the rows of an exchange as sites have counted them.
type counted struct {
	of     *physical.Node
	number int
	by     [][]Count
}

// Rows implements physical.Stats.
func (c counted) Rows(n *physical.Node) (out []int64) {
	for _, site := range c.by {
		x := site[c.number]
		if n == c.of { // of a HALO, what arrives
			out = append(out, x.Came+x.Stays)
		} else {
			out = append(out, x.Sent)
		}
	}
	return out
}

// Stays implements physical.Stats.
func (c counted) Stays(*physical.Node) (rows int64) {
	for _, site := range c.by {
		rows += site[c.number].Stays
	}
	return rows
}
