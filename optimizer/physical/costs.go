package physical

import (
	"fmt"
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
	before := c.preparing(m, slices.Max(m.Prepares))
	if m.Rows == 0 {
		return before
	}
	return before + (c.sending(m)+c.Cluster.Latency)*c.moves(m) + c.keys(m, m.busiest())
}

// sending is how long the rows of an exchange are on their way. Where all pass the first site, another one sends a row
// once, wherever it goes, and does not send while it receives.
func (c Costs) sending(m Move) float64 {
	if c.Cluster.Hub == 0 {
		return limited(m.Busiest, c.Cluster.Network)
	}
	through, most := 0.0, 0.0
	for s := 1; s < len(m.Sent); s++ {
		sent := m.Sent[s]
		if m.Node.Op == Bcast {
			sent /= float64(len(m.Sent) - 1)
		}
		most = math.Max(most, sent+m.Received[s])
		through += sent + m.Received[s]
	}
	row := m.Bytes / float64(m.Rows)
	return math.Max(limited(most*row, c.Cluster.Network), limited(through*row, c.Cluster.Hub))
}

// moves is the part of a step that the rows of an exchange are worth.
func (c Costs) moves(m Move) float64 {
	part := c.steps(m.Node.Relation())
	if m.Node.Op == Halo { // of other rows if its partners change
		part = math.Max(part, c.steps(m.Node.Inputs[1].Relation()))
	}
	return part
}

// preparing is how long a site touches so many bytes before it sends.
func (c Costs) preparing(m Move, bytes float64) float64 {
	return limited(bytes, c.Cluster.Reads) * c.moves(m)
}

// keys is how long it takes until what tells so many rows apart that an exchange moves is there: once in a run, unless
// other rows come in each step.
func (c Costs) keys(m Move, rows float64) float64 {
	n := m.Node.Relation()
	out := limited(rows*keyBytes(n), c.Cluster.Network)
	if c.flow.moves(n) {
		return out + limited(rows*lookup, c.Cluster.Reads)
	}
	return out / once
}

// working is the cost of an operator.
func (c Costs) working(w Work) int64 {
	if c.Least != Seconds {
		return 0
	}
	return min(c.time(c.takes(w))+c.holding(w.Holds), impossible)
}

// takes is how long an operator runs at the site that takes longest, or at all that share a machine.
func (c Costs) takes(w Work) (out float64) {
	for s := range w.Operations {
		if at := c.at(w, s); c.Cluster.Shared {
			out += at
		} else {
			out = math.Max(out, at)
		}
	}
	return out
}

// at is how long an operator runs at a site: it computes while it reads.
func (c Costs) at(w Work, site int) float64 {
	computes, reads := c.parts(w, site)
	return math.Max(computes, reads)
}

// parts is how long an operator computes at a site, and how long it reads and writes: of rows that a step has of its
// own the places, too.
func (c Costs) parts(w Work, site int) (computes, reads float64) {
	n := w.Node.RA
	share, bytes := c.steps(n), w.Bytes[site]
	if c.flow.moves(n) && finds(n) {
		bytes += lookup * w.Rows[site]
	}
	computes = limited(w.Operations[site]*c.flow.first(n), c.Cluster.Operations)
	return computes * share, limited(bytes, c.Cluster.Reads) * share
}

// holding is the price of bytes.
func (c Costs) holding(bytes float64) int64 {
	return int64(math.Min(bytes*float64(c.perByte), impossible))
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

// Work is what an operator does, by site.
type Work struct {
	Node       *Node
	Operations []float64
	Bytes      []float64 // that it reads and writes
	Rows       []float64 // that it reads and makes
	Holds      float64   // bytes that a site keeps of it: of what is stored, and of sums
}

// cached are the bytes that stay in a processor's caches while a relation is read again and again.
const cached = 16 << 20

// lookup are the bytes in whose time a row is found that a step has of its own: it is looked up among others.
const lookup = 128

// adding are the operations that adding a number to a sum takes which is no product.
const adding = 8

// work is the work of an operator. Tables, sums and what an exchange brings are in memory; what else is computed is
// computed where it is read, and an operator that only renames columns does nothing.
func work(n *Node, stats Stats) Work {
	at := stats.Rows(n)
	out := Work{Node: n}
	sums := n.RA.Op == ra.Aggregate || n.RA.Op == ra.Add
	if len(n.Inputs) == 0 || sums {
		out.Holds = float64(slices.Max(at)) * rowBytes(n.RA)
	}
	if len(n.Inputs) == 0 {
		return out
	}
	out.Operations, out.Bytes, out.Rows = make([]float64, len(at)), make([]float64, len(at)), make([]float64, len(at))
	in := make([][]int64, len(n.Inputs))
	for i, x := range n.Inputs {
		in[i] = stats.Rows(x)
	}
	each := perRow(n.RA, addsParts(n))
	for s, rows := range at {
		out.Rows[s] = float64(rows)
		for i := range in {
			out.Rows[s] += float64(in[i][s])
		}
		of := float64(rows) // for which expressions are computed
		if n.RA.Op == ra.Aggregate {
			of = float64(in[0][s])
		}
		if n.RA.Op == ra.Add || n.RA.Op == ra.Union {
			of = out.Rows[s] - float64(rows)
		}
		out.Operations[s] = each.operations * of
		out.Bytes[s] = each.writes * float64(rows)
		for _, r := range each.reads {
			held := r.bytes * float64(in[r.slot][s])
			if bytes := r.bytes * of; r.again || held <= cached {
				out.Bytes[s] += min(bytes, held)
			} else {
				out.Bytes[s] += bytes
			}
		}
	}
	return out
}

// rowWork is the work for a row: of the result, or of the inputs of a sum or a union.
type rowWork struct {
	operations float64
	reads      []columnRead
	writes     float64 // bytes
}

// columnRead is a column of an input that is in memory.
type columnRead struct {
	slot  int
	bytes float64
	again bool // many rows are computed of it at once
}

// addsParts reports whether an operator adds parts that come from several sites.
func addsParts(n *Node) bool {
	return n.RA.Op == ra.Aggregate && n.Inputs[0].Op != Local && n.Inputs[0].Place.Partial
}

func perRow(n *ra.Node, parts bool) (out rowWork) {
	switch n.Op {
	case ra.Select, ra.Join:
		out.expressions(n)
	case ra.Aggregate:
		for i, a := range n.Aggs {
			out.sum(n, a, n.Cols[len(n.Group)+i].Type, parts)
		}
	case ra.Window:
		out.windows(n)
	case ra.Add, ra.Union:
		out.together(n)
	}
	return out
}

// expressions are those that a selection or a join computes.
func (w *rowWork) expressions(n *ra.Node) {
	var seen []kernels.Col
	for _, x := range n.Out {
		if x.IsCol || x.IsConst() {
			continue
		}
		x.Any(func(x *kernels.Expr) bool { w.operations += x.Effort(); return false })
		x.Cols(func(c kernels.Col) {
			if !slices.Contains(seen, c) {
				seen = append(seen, c)
				w.read(n, c)
			}
		})
	}
}

// sum is an aggregate of rows, or of parts of it. A sum of products of matrices is a product of larger ones.
func (w *rowWork) sum(n *ra.Node, a ra.Agg, t kernels.Type, parts bool) {
	each := float64(adding)
	if w.writes += bytes(t); parts {
		w.reads = append(w.reads, columnRead{bytes: bytes(t)})
	} else if n.Inputs[0].Col(a.Arg) != nil {
		switch x := made(n.Inputs[0], a.Arg); {
		case x == nil:
			w.read(n, kernels.Col{ID: a.Arg})
		case len(t.Shape) > 0 && x.IsProduct():
			each = 1
		case x.Def != nil && len(t.Shape) == 1 && len(n.Group) > 0 && !weighted(x): // in the order of the groups
			w.reads = append(w.reads, columnRead{bytes: bytes(t)})
		}
	}
	w.operations += each * float64(t.Size())
}

// windows are running sums, whose input is read in the order of the rows: each number is added twice.
func (w *rowWork) windows(n *ra.Node) {
	for i, a := range n.Aggs {
		t := n.Cols[len(n.Over.Pass)+i].Type
		if a.Fn != ra.CountRows {
			w.read(n, kernels.Col{ID: a.Arg})
		}
		w.operations += 2 * adding * float64(t.Size())
		w.writes += bytes(t)
	}
	if e := n.Over.Among; e != nil {
		w.read(n, kernels.Col{ID: e.Col})
	}
}

// together are the rows of several inputs, which are read and written, and perhaps added.
func (w *rowWork) together(n *ra.Node) {
	for i, c := range n.Cols {
		if n.IsKey(c.ID) {
			continue
		}
		if n.Op == ra.Add {
			w.operations += adding * float64(c.Type.Size())
		}
		for slot, in := range n.Inputs {
			if made(in, in.Cols[i].ID) == nil {
				w.reads = append(w.reads, columnRead{slot, bytes(c.Type), true})
			}
		}
		w.writes += bytes(c.Type)
	}
}

// read notes that a column is read, if it is in memory. Of blocks that a join has met before nothing is read again.
func (w *rowWork) read(n *ra.Node, c kernels.Col) {
	in := n.Inputs[c.Input]
	t := in.Col(c.ID).Type
	again := len(t.Shape) > 1
	if made(in, c.ID) == nil && !(again && (in.Op == ra.Select || in.Op == ra.Join)) {
		w.reads = append(w.reads, columnRead{c.Input, bytes(t), again})
	}
}

// made is the expression that computes a column; nil: it is in memory.
func made(n *ra.Node, id ra.ColumnID) *kernels.Expr {
	_, _, out := source(n, id)
	return out
}

// weighted reports whether an expression is a column times numbers, which a sum by groups computes as it goes.
func weighted(x *kernels.Expr) bool {
	return len(x.Def.Labels) > 0 && !slices.ContainsFunc(x.Args, func(a *kernels.Expr) bool {
		return !a.IsCol && a.Type.Size() > 1
	})
}

// finds reports whether an operator finds rows by their columns.
func finds(n *ra.Node) bool { return len(n.Equi) > 0 || len(n.Group) > 0 || n.Op == ra.Window }

// flow knows of the relations of a plan what steps change, and which of their expressions others compute, too.
type flow struct {
	known   map[*ra.Node]bool // whether a relation is the same at each step
	rows    map[*ra.Node]bool // whether its rows are others at each step
	all     bool              // there are no steps: nothing changes
	shares  map[*ra.Node]float64
	names   map[string]int // expressions, each a number
	efforts float64        // of all of these
}

func newFlow(p *Plan) *flow {
	f := &flow{known: map[*ra.Node]bool{}, rows: map[*ra.Node]bool{}, shares: map[*ra.Node]float64{},
		names: map[string]int{}}
	all, numbers := true, map[*kernels.Expr]int{}
	for _, n := range p.locals() {
		all = f.steady(n.RA) && all
		f.share(n.RA, numbers)
	}
	f.all = all
	return f
}

// steps reports whether there are steps: not all is the same at each.
func (f *flow) steps() bool { return f != nil && !f.all }

// steady reports whether a relation is the same at each step. Where all are, nothing has steps.
func (f *flow) steady(n *ra.Node) bool {
	if f == nil || f.all {
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

// moves reports whether a relation has other rows at each step.
func (f *flow) moves(n *ra.Node) bool {
	if f == nil || f.all {
		return false
	}
	out, ok := f.rows[n]
	if ok {
		return out
	}
	out = n.PerStep
	for _, e := range n.Pred {
		out = out || e.PerStep()
	}
	for _, in := range n.Inputs {
		out = f.moves(in) || out
	}
	f.rows[n] = out
	return out
}

// first is the share of a relation's operations that no relation before it has done: what several compute of the same
// columns is computed once.
func (f *flow) first(n *ra.Node) float64 {
	if f == nil {
		return 1
	}
	if share, ok := f.shares[n]; ok {
		return share
	}
	return 1
}

// share notes which operations of a relation are new.
func (f *flow) share(n *ra.Node, numbers map[*kernels.Expr]int) {
	if n.Op != ra.Select && n.Op != ra.Join {
		return
	}
	before, all := f.efforts, 0.0
	for _, x := range n.Out {
		if !x.IsCol && !x.IsConst() {
			x.Any(func(x *kernels.Expr) bool { all += x.Effort(); return false })
			f.number(n, x, numbers)
		}
	}
	if all > 0 {
		f.shares[n] = (f.efforts - before) / all
	}
}

// number is that of an expression over stored columns: of equal ones the same.
func (f *flow) number(n *ra.Node, x *kernels.Expr, numbers map[*kernels.Expr]int) int {
	if out, ok := numbers[x]; ok && !x.IsCol {
		return out
	}
	var name string
	switch {
	case x.IsCol:
		of, id, made := source(n.Inputs[x.Col.Input], x.Col.ID)
		if made != nil {
			return f.number(of, made, numbers)
		}
		name = fmt.Sprintf("%p.%d", of, id)
	case x.Def == nil:
		name = fmt.Sprint(x.Const)
	default:
		args := make([]int, len(x.Args))
		for i, a := range x.Args {
			args[i] = f.number(n, a, numbers)
		}
		name = fmt.Sprint(x.Def.Name, x.Attr, args)
	}
	out, ok := f.names[name]
	if !ok {
		out = len(f.names)
		f.names[name], f.efforts = out, f.efforts+x.Effort()
	}
	numbers[x] = out
	return out
}

// source is the relation that has a column of n in memory, and its name there; or the relation that computes it, and by
// which expression.
func source(n *ra.Node, id ra.ColumnID) (*ra.Node, ra.ColumnID, *kernels.Expr) {
	for {
		switch i := n.Index(id); n.Op {
		case ra.Select, ra.Join:
			x := n.Out[i]
			if !x.IsCol {
				return n, 0, x
			}
			n, id = n.Inputs[x.Col.Input], x.Col.ID
		case ra.SemiJoin, ra.AntiJoin:
			n, id = n.Inputs[0], n.Inputs[0].Cols[i].ID
		case ra.Window:
			from, ok := n.Passed(i)
			if !ok {
				return n, id, nil
			}
			n, id = n.Inputs[0], from
		default:
			return n, id, nil
		}
	}
}
