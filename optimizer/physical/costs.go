package physical

import (
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Objective is what a search makes least.
type Objective uint8

// Objectives.
const (
	Seconds     Objective = iota // of a step, by the limits of a cluster
	ModelFloats                  // that move, as TRA counts them (Move.Model)
	ExactFloats                  // that move, as they do (Move.Exact)
)

// Costs are what a search makes least, and how far it may go.
type Costs struct {
	Least   Objective
	Cluster Cluster
	Cells   int    // of the tables of the search, at most
	Only    string // of Names: what is looked for; "": any plan
	// Simulate has Explain replay the plan.
	Simulate bool

	unit    float64 // seconds; 0: a picosecond
	perByte int64   // the price of a byte that the busiest site holds, where plans do not fit
	flow    *flow
}

// once is the part of a step that something is worth that is done once in a run: a run is taken to have so many steps.
const once = 100

// time is seconds as a cost, in picoseconds, or in a larger unit where that is too much.
func (c Costs) time(seconds float64) int64 { return int64(math.Min(seconds/c.tick(), impossible)) }

// tick is the unit of time.
func (c Costs) tick() float64 {
	if c.unit == 0 {
		return 1e-12
	}
	return c.unit
}

// fit takes a unit of time in which a plan costs little enough that sums of costs can be compared.
func (c *Costs) fit(p *Plan, stats Stats) error {
	whole := 0.0
	moves, err := p.Moves(stats)
	if err != nil {
		return err
	}
	for _, m := range moves {
		whole += c.seconds(m)
	}
	for _, n := range p.locals() {
		whole += c.takes(work(n, stats))
	}
	for c.unit = 1e-12; whole/c.unit > mostTicks && whole < math.MaxFloat64; {
		c.unit *= 1024
	}
	return nil
}

// mostTicks are the units of time that TRA's Table 1 takes at most.
const mostTicks = 1 << 43

// limited is the time of so much of something that a cluster does at a rate; no rate: none.
func limited(amount, rate float64) float64 {
	if rate == 0 {
		return 0
	}
	return amount / rate
}

// steps is the part of a step that a relation's numbers are worth.
func (c Costs) steps(n *ra.Node) float64 {
	if c.flow.steady(n) {
		return 1.0 / once
	}
	return 1
}

// moving is the cost of an exchange.
func (c Costs) moving(m Move) int64 {
	switch c.Least {
	case ModelFloats:
		return min(m.Model, impossible)
	case ExactFloats:
		return min(m.Exact, impossible)
	}
	return min(c.time(c.seconds(m))+c.holding(m.Holds), impossible)
}

// seconds is how long an exchange takes: what tells its rows apart moves once in a run.
func (c Costs) seconds(m Move) float64 {
	part := c.steps(m.Node.Relation())
	if m.Node.Op == Halo { // of other rows if its partners change
		part = math.Max(part, c.steps(m.Node.Inputs[1].Relation()))
	}
	looks := limited(m.Looks, c.Cluster.Reads) * part
	if m.Rows == 0 {
		return looks
	}
	return (limited(m.Busiest, c.Cluster.Network)+c.Cluster.Latency)*part + limited(m.Keys, c.Cluster.Network)/once + looks
}

// working is the cost of an operator.
func (c Costs) working(w Work) int64 {
	if c.Least != Seconds {
		return 0
	}
	return min(c.time(c.takes(w))+c.holding(w.Holds), impossible)
}

// takes is how long an operator runs at the site that takes longest.
func (c Costs) takes(w Work) (out float64) {
	for s := range w.Operations {
		out = math.Max(out, c.at(w, s))
	}
	return out
}

// at is how long an operator runs at a site: it computes while it reads.
func (c Costs) at(w Work, site int) float64 {
	return math.Max(limited(w.Operations[site], c.Cluster.Operations), limited(w.Bytes[site], c.Cluster.Reads)) *
		c.steps(w.Node.RA)
}

// holding is the price of bytes.
func (c Costs) holding(bytes float64) int64 {
	return int64(math.Min(bytes*float64(c.perByte), impossible))
}

// Work is what an operator does, by site.
type Work struct {
	Node       *Node
	Operations []float64
	Bytes      []float64 // that it reads and writes
	Holds      float64   // bytes that a site keeps of it: of what is stored, and of sums
}

// work is the work of an operator: it reads each number of its inputs, computes, and writes its rows. Rows of a join
// are not written: what reads them computes them.
func work(n *Node, stats Stats) Work {
	at, row := stats.Rows(n), rowBytes(n.RA)
	out := Work{Node: n}
	sums := n.RA.Op == ra.Aggregate || n.RA.Op == ra.Add
	if len(n.Inputs) == 0 || sums {
		out.Holds = float64(slices.Max(at)) * row
	}
	if len(n.Inputs) == 0 {
		return out
	}
	out.Operations, out.Bytes = make([]float64, len(at)), make([]float64, len(at))
	operations := 0.0
	for _, x := range n.RA.Out {
		operations += float64(x.Flops())
	}
	for s, rows := range at {
		if out.Operations[s] = operations * float64(rows); n.RA.Op != ra.Join && n.RA.Op != ra.Select {
			out.Bytes[s] = row * float64(rows)
		}
	}
	for _, in := range n.Inputs {
		of := in.Relation()
		each := rowBytes(of)
		for s, rows := range stats.Rows(in) {
			if out.Bytes[s] += each * float64(rows); sums {
				out.Operations[s] += float64(Width(of)) * float64(rows)
			}
		}
	}
	return out
}

// rowBytes are the bytes of a row, its identity included.
func rowBytes(n *ra.Node) (out float64) {
	for _, c := range n.Cols {
		out += bytes(c.Type)
	}
	return out
}

// keyBytes are the bytes of what tells a row apart.
func keyBytes(n *ra.Node) (out float64) {
	for _, id := range n.Key {
		out += bytes(n.Col(id).Type)
	}
	return out
}

// bytes are those of a value.
func bytes(t kernels.Type) float64 {
	if t.Kind == kernels.Text {
		return 16
	}
	return float64(t.Size()) * float64(column.KindOf(t).Bytes())
}

// flow knows which relations neither a parameter nor a step changes, unless that is so of all: then nothing has steps.
type flow struct{ known map[*ra.Node]bool }

func newFlow(p *Plan) *flow {
	f := &flow{map[*ra.Node]bool{}}
	all := true
	for _, n := range p.locals() {
		all = f.steady(n.RA) && all
	}
	if all {
		return nil
	}
	return f
}

// steady reports whether a relation is the same at each step.
func (f *flow) steady(n *ra.Node) bool {
	if f == nil {
		return false
	}
	out, ok := f.known[n]
	if ok {
		return out
	}
	out = !n.PerStep
	for _, c := range n.Cols {
		out = out && !c.Dep
	}
	for _, in := range n.Inputs {
		out = out && f.steady(in)
	}
	for _, e := range append(n.Out[:len(n.Out):len(n.Out)], n.Pred...) {
		out = out && !e.PerStep()
	}
	f.known[n] = out
	return out
}
