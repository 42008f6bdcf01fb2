package physical

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

// The limits of Explain.
const (
	mostSites = 1 << 10
	mostCells = 1 << 16
	rate      = 32 // operations in the time of a float that moves
)

// Choose finds the cheapest plan of a query. Rows are estimated.
func Choose(ctx context.Context, p *ra.Plan, on Sites) (*Choice, error) {
	if on.N < 1 || on.N > mostSites {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "a query runs at 1 to %d sites, not at %d", mostSites, on.N)
	}
	return Search(ctx, p, on, estimated(on.N), Costs{Rate: rate, Cells: mostCells})
}

// estimated counts rows as the optimizer does.
func estimated(sites int) Even {
	model := cost.New()
	return Even{Sites: sites, Count: func(n *ra.Node) int64 { return int64(math.Round(min(model.Rows(n), 1<<50))) }}
}

// Explain shows how a query would run at several sites: the cheapest plan, where each relation lies, and what each
// exchange moves. Rows are estimated.
func Explain(ctx context.Context, p *ra.Plan, on Sites) (string, error) {
	found, err := Choose(ctx, p, on)
	if err != nil {
		return "", err
	}
	even := estimated(on.N)
	moves, err := found.Plan.Moves(even)
	if err != nil {
		return "", err
	}
	notes := map[*Node]string{}
	for _, m := range moves {
		notes[m.Node] = fmt.Sprintf(": %d floats", m.Exact)
	}
	var b strings.Builder
	many := "s"
	if on.N == 1 {
		many = ""
	}
	fmt.Fprintf(&b, "%d site%s; %d floats move, operators take %d operations at the busiest site; found by %s\n",
		on.N, many, found.Floats, found.Work, found.By)
	if found.Why != "" {
		fmt.Fprintf(&b, "this is not proved to be the least: %s\n", found.Why)
	}
	fmt.Fprintf(&b, "tables lie by the hash of their identity, rows are estimated; a float that moves costs as much as "+
		"%d operations\n", rate)
	for _, line := range found.Plan.parallel() {
		b.WriteString(line + "\n")
	}
	b.WriteString(found.Plan.FormatWith(func(n *Node) string {
		if name := product(n); name != "" {
			return " (" + name + ")" + notes[n]
		}
		return notes[n]
	}))
	return b.String(), nil
}
