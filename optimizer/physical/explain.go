package physical

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

// MostSites are the sites for which plans are made.
const MostSites = 1 << 10

// mostCells are the cells of a search's tables.
const mostCells = 1 << 14

// Choose finds the cheapest plan of a query. Rows are estimated. A graph that can be read is spread by hash or by
// ranges, whichever costs less.
func Choose(ctx context.Context, p *ra.Plan, on Sites, costs Costs) (*Choice, error) {
	out, _, err := choose(ctx, p, on, costs)
	return out, err
}

// choose is Choose, which tells by what statistics it chooses.
func choose(ctx context.Context, p *ra.Plan, on Sites, costs Costs) (best *Choice, stats Stats, err error) {
	if on.N < 1 || on.N > MostSites {
		return nil, nil, sqlerr.New(sqlerr.InvalidParameter, "a query runs at 1 to %d sites, not at %d", MostSites, on.N)
	}
	if costs.Cells == 0 {
		costs.Cells = mostCells
	}
	stats, byRanges := costs.stats(p, on)
	best, err = Search(ctx, p, on, stats, costs)
	if err != nil || byRanges == nil {
		return best, stats, err
	}
	on.Spread = byRanges
	other, err := Search(ctx, p, on, stats, costs)
	switch {
	case err != nil && ctx.Err() == nil && sqlerr.Code(err) != sqlerr.Internal: // no such plan by ranges
		return best, stats, nil
	case err == nil && (float64(other.Cost)*other.unit < float64(best.Cost)*best.unit || other.Fits && !best.Fits):
		best = other
	}
	return best, stats, err
}

// stats are estimates, from the numbers of different values where tables can be read. Where there is a graph among them
// it is known how they are spread, and the ranges by which it may be are returned.
func (c Costs) stats(p *ra.Plan, on Sites) (Stats, func(of *ra.Node, by []ra.ColumnID) Function) {
	if on.Read == nil || on.N == 1 || c.Cluster.Tables != nil { // they are larger elsewhere
		return c.estimated(on.N), nil
	}
	byRanges := ranges(p, on.N, on.Owned, on.Read)
	out := newMeasured(Even{Sites: on.N}, on.Read)
	c.Cluster.Tables = out.sizes(p)
	if out.Even = c.estimated(on.N); byRanges == nil {
		return out.Even, nil
	}
	return out, byRanges
}

// estimated counts rows as the optimizer does.
func (c Costs) estimated(sites int) Even {
	model := cost.New()
	model.Tables = c.Cluster.Tables
	out := Even{Sites: sites, Values: model.Values,
		Count: func(n *ra.Node) int64 { return int64(math.Round(min(model.Rows(n), 1<<50))) }}
	for _, t := range c.Cluster.Tables {
		if t.Heaviest != nil {
			out.Heaviest = model.Heaviest
		}
	}
	return out
}

// Explained is the cheapest plan of a query at several sites, as Explain finds it.
type Explained struct {
	Plan *Plan
	Head string             // what the plan takes as a whole
	Note func(*Node) string // what an operator or an exchange takes
}

// Explain shows how a query would run at several sites of a cluster: the cheapest plan, where each relation lies, what
// each exchange moves and how long it and each operator take. Rows are estimated.
func Explain(ctx context.Context, p *ra.Plan, on Sites, costs Costs) (*Explained, error) {
	unread, err := costs.Cluster.unread(p)
	if err != nil {
		return nil, err
	}
	found, stats, err := choose(ctx, p, on, costs)
	if err != nil {
		return nil, err
	}
	r := &report{Choice: found, costs: costs, stats: stats, notes: map[*Node]string{},
		at: make([]float64, on.N)}
	r.costs.flow = newFlow(found.Plan)
	if err := r.read(); err != nil {
		return nil, err
	}
	r.head(on.N)
	if len(unread) > 0 {
		r.WriteString("sizes are given of tables that the query does not read: " + strings.Join(unread, ", ") + "\n")
	}
	if costs.Simulate {
		s, err := Simulate(found.Plan, r.stats, costs)
		if err != nil {
			return nil, err
		}
		r.WriteString(s.String())
	}
	for _, line := range found.Plan.parallel() {
		r.WriteString(line + "\n")
	}
	return &Explained{Plan: found.Plan, Head: r.String(), Note: func(n *Node) string {
		if name := product(n); name != "" {
			return " (" + name + ")" + r.notes[n]
		}
		return r.notes[n]
	}}, nil
}

// String is the text of the plan, below what it takes as a whole.
func (e *Explained) String() string { return e.Head + e.Plan.FormatWith(e.Note) }

// report is the text of a plan.
type report struct {
	*Choice
	strings.Builder
	costs         Costs
	stats         Stats
	notes         map[*Node]string
	moved         float64 // bytes, of all exchanges of a step
	moving, works float64 // seconds of a step
	floats        int64
	at            []float64 // seconds that each site computes
}

// read notes what each operator and each exchange takes.
func (r *report) read() error {
	moves, err := r.Plan.Moves(r.stats)
	if err != nil {
		return err
	}
	for _, m := range moves {
		switch floats := m.Exact; r.costs.Least {
		case ModelFloats:
			floats = m.Model
			fallthrough
		case ExactFloats:
			r.floats += floats
			r.notes[m.Node] = fmt.Sprintf(": %d floats", floats)
		default:
			r.notes[m.Node] = fmt.Sprintf(": %s, %s", scaled(m.Bytes, "B"), seconds(r.costs.seconds(m)))
			r.moved, r.moving = r.moved+m.Bytes*r.costs.steps(m.Node.Relation()), r.moving+r.costs.seconds(m)
		}
		if r.costs.flow.steady(m.Node.Relation()) {
			r.notes[m.Node] += ", once in a run"
		}
	}
	for _, n := range r.Plan.locals() {
		if w := work(n, r.stats); r.costs.Least == Seconds && len(n.Inputs) > 0 {
			r.notes[n] = ": " + seconds(r.costs.takes(w))
			r.works += r.costs.takes(w)
			for s := range w.Operations {
				r.at[s] += r.costs.at(w, s)
			}
		}
	}
	return nil
}

// head tells what the whole plan takes.
func (r *report) head(sites int) {
	many := "s"
	if sites == 1 {
		many = ""
	}
	fmt.Fprintf(r, "%d site%s; ", sites, many)
	switch r.costs.Least {
	case Seconds:
		what := "a step"
		if !r.costs.flow.steps() {
			what = "it"
		}
		fmt.Fprintf(r, what+" takes %s, of which exchanges take %s and move %s; found by %s\n",
			seconds(r.moving+r.works), seconds(r.moving), scaled(r.moved, "B"), r.By)
		fmt.Fprintf(r, "limits of a site: %v\n", r.costs.Cluster)
		busiest := slices.Index(r.at, slices.Max(r.at))
		fmt.Fprintf(r, "site %d computes most, %s; a site holds up to %s of rows and sums", busiest, seconds(r.at[busiest]),
			scaled(r.Holds, "B"))
		if !r.Fits {
			fmt.Fprintf(r, ": no plan was found that fits in its memory")
		}
		r.WriteString("\n")
	case ModelFloats:
		fmt.Fprintf(r, "%d floats move, as TRA counts them; found by %s\n", r.floats, r.By)
	case ExactFloats:
		fmt.Fprintf(r, "%d floats move; found by %s\n", r.floats, r.By)
	}
	if r.Why != "" {
		fmt.Fprintf(r, "this is not proved to be the least: %s\n", r.Why)
	}
	ranged := func(n *Node) bool { return len(n.Inputs) == 0 && n.Place.Kind == By && n.Place.Fn.Kind == Ranges }
	if slices.ContainsFunc(r.Plan.locals(), ranged) {
		r.WriteString("tables of a graph lie by ranges, others by the hash of their identity; rows are estimated")
	} else {
		r.WriteString("tables lie by the hash of their identity, rows are estimated")
	}
	if r.costs.flow.steps() {
		fmt.Fprintf(r, "; what is done once counts as in a run of %d steps", once)
	}
	r.WriteString("\n")
}
