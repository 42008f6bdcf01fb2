package physical

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
)

// Choice is a plan with how it was found.
type Choice struct {
	Plan  *Plan
	Cost  int64   // in picoseconds or floats, as the search counts
	Holds float64 // bytes that a site keeps of what is stored, received and summed, added up over the busiest sites
	Fits  bool    // in the memory of a site
	unit  float64 // of Cost, in seconds, where it is time
	By    string
	Why   string // why the plan is not proved cheapest; "" if it is
}

// The ways to find a plan.
const (
	ByElimination = "min-sum elimination"
	ByFixing      = "min-sum elimination with fixed relations"
	ByTable       = "TRA's Table 1"
)

// Search finds the cheapest plan among those that place each relation at one site, everywhere, or by columns that some
// reader joins or groups by; sums are taken in one phase or in two. A relation is moved where it is made, for all its
// readers, or for one of them. The search is exact, by min-sum elimination over the placements of the relations, while
// its tables have few enough cells; above, some relations are placed before by what seems best, and Why says so. It
// counts an exchange for each reader of its own; those that two readers want alike are one in the plan, which then
// costs less than was counted.
func Search(ctx context.Context, p *ra.Plan, on Sites, stats Stats, costs Costs) (*Choice, error) {
	var best *Choice
	for range mostPrices {
		start, err := Compile(p, on)
		if err != nil {
			return nil, err
		}
		if costs.flow = newFlow(start); costs.unit == 0 {
			if err := costs.fit(start, stats); err != nil {
				return nil, err
			}
		}
		c, err := found(ctx, start, stats, costs)
		if err != nil || c.Fits {
			return c, err
		}
		if best == nil || c.Holds < best.Holds {
			best = c
		}
		costs.perByte = max(2*costs.perByte, c.Cost/int64(1+c.Holds)/16, 1)
		if float64(costs.perByte)*c.Holds > impossible/64 {
			break
		}
	}
	return best, nil
}

// mostPrices are the prices of memory that are tried where a plan does not fit: each is twice the one before.
const mostPrices = 20

// found is the cheapest plan at a price of memory.
func found(ctx context.Context, start *Plan, stats Stats, costs Costs) (*Choice, error) {
	s := &search{plan: &Plan{Sites: start.Sites, Spread: start.Spread}, start: start, costs: costs,
		stats: &remembered{stats, map[*Node][]int64{}}}
	if s.vertices(start); s.costs.Only != "" && slices.ContainsFunc(s.order, (*vertex).stuck) {
		return nil, s.refused()
	}
	choice, least, fixed, err := s.choose(ctx)
	if err != nil {
		return nil, err
	}
	out := &Choice{By: ByElimination, unit: costs.tick()}
	if fixed > 0 {
		out.By, out.Why = ByFixing, fmt.Sprintf("%d choices of %d were fixed before, for tables of all would have more than "+
			"%d cells", fixed, len(choice), costs.Cells)
	}
	if least >= impossible { // what was fixed does not fit together
		out.Plan, out.By = start, ByTable
	} else if out.Plan, err = s.build(choice); err != nil {
		return nil, err
	}
	if s.costs.Only != "" && !named(out.Plan, s.costs.Only) {
		return nil, s.refused()
	}
	if err := out.measure(stats, costs); err != nil {
		return nil, err
	}
	if out.Cost > least { // it is less where readers share an exchange
		return nil, sqlerr.Broken(room, "a plan of cost %d costs %d", least, out.Cost)
	}
	return out, nil
}

// measure tells what a plan costs.
func (c *Choice) measure(stats Stats, costs Costs) error {
	moves, err := c.Plan.Moves(stats)
	if err != nil {
		return err
	}
	for _, m := range moves {
		c.Cost, c.Holds = min(c.Cost+costs.moving(m), impossible), c.Holds+m.Holds
	}
	for _, n := range c.Plan.locals() {
		w := work(n, stats)
		c.Cost, c.Holds = min(c.Cost+costs.working(w), impossible), c.Holds+w.Holds
	}
	c.Fits = costs.Cluster.Memory == 0 || costs.Least != Seconds || c.Holds <= float64(costs.Cluster.Memory)
	return nil
}

// search is a plan whose relations are being placed.
type search struct {
	plan  *Plan
	start *Plan
	stats *remembered
	costs Costs
	wants map[*ra.Node][][]ra.ColumnID
	// products are joins whose rows are summed, with the columns by which they are
	products map[*ra.Node][]ra.ColumnID
	looped   map[*ra.Node]bool // Recursions and what is in their steps: at site 0
	order    []*vertex
	of       map[*ra.Node]*vertex
	roots    []*vertex
}

// vertex is a relation that is to be placed. The placements that are tried of it have numbers, so that what is known
// of one is found without a look at its columns.
type vertex struct {
	number   int // of the variable that chooses a state; that of the mode is the next
	relation *ra.Node
	links    *ra.Links // of the relation
	in       []*vertex
	stored   int
	modes    []mode  // without inputs: none
	states   []int   // where the relation may lie when it is read
	places   []*Node // the relation by the number of a placement
	moves    [][]int64
	routes   []*Node // the exchange that brings rows to a placement, wherever they lie; nil: not known yet
	spreads  []spreading
	few      map[int]bool // of placements where rows are needed: whether these are few
	built    *Node
}

// everywhere and atFirst are the numbers of these placements for each vertex.
const (
	everywhere = iota
	atFirst
)

// spreading is the number of the placement by columns.
type spreading struct {
	by    []ra.ColumnID
	place int
}

// newVertex is the next vertex.
func (s *search) newVertex(n *Node) *vertex {
	v := &vertex{number: 2 * len(s.order), relation: n.RA, few: map[int]bool{}}
	if n.RA.Out != nil || len(n.RA.Equi) > 0 {
		v.links = n.RA.Links()
	}
	for _, in := range n.RA.Inputs {
		v.in = append(v.in, s.of[in])
	}
	for _, p := range []Placement{Everywhere(), At(0)} {
		s.place(v, p)
	}
	v.stored = s.place(v, n.Place)
	return v
}

// stuck reports whether there is no way to run the operator.
func (v *vertex) stuck() bool { return len(v.in) > 0 && len(v.modes) == 0 }

// place is the number of a placement.
func (s *search) place(v *vertex, p Placement) int {
	for i, n := range v.places {
		if n.Place.Equal(p) {
			return i
		}
	}
	n := &Node{RA: v.relation, Place: p, links: v.links}
	s.stats.remember(n)
	v.places, v.moves, v.routes = append(v.places, n), append(v.moves, nil), append(v.routes, nil)
	return len(v.places) - 1
}

// at is a placement by its number.
func (v *vertex) at(place int) Placement { return v.places[place].Place }

// by is the placement of a relation after a SHUF; everywhere if none spreads the rows. By columns of one value all
// would lie at one site, which is tried without a SHUF.
func (s *search) by(v *vertex, ids []ra.ColumnID) int {
	for _, known := range v.spreads {
		if slices.Equal(known.by, ids) {
			return known.place
		}
	}
	n := &Node{Op: Shuf, By: ids, Fn: s.plan.Spread(v.relation, ids), Inputs: v.places[:1]}
	out := everywhere
	if checkSpread(v.relation, ids, n.Fn, s.plan.Sites) == nil {
		p, _ := derive(n, s.plan.Sites)
		at := s.stats.Rows(&Node{RA: v.relation, Place: p, links: v.links})
		if at[0] < 2 || at[0] < total(at) || s.plan.Sites == 1 {
			out = s.place(v, p)
		}
	}
	v.spreads = append(v.spreads, spreading{ids, out})
	return out
}

// moved is what it costs to bring rows from one placement to another.
func (s *search) moved(v *vertex, from, to int) int64 {
	if from == to {
		return 0
	}
	for len(v.moves[from]) <= to {
		v.moves[from] = append(v.moves[from], unknown)
	}
	cost := &v.moves[from][to]
	if *cost == unknown {
		*cost = impossible
		if x := s.exchange(v, v.places[from], to); x != nil {
			*cost = s.paid(x)
		}
	}
	return *cost
}

// unknown stands for a cost.
const unknown = -1

// exchange brings rows to a placement; nil: none does. It holds until the next one.
func (s *search) exchange(v *vertex, n *Node, to int) *Node {
	halo := v.at(to).Kind == Needed
	if n.Place.Kind == Needed || halo && (n.Place.Partial || !n.Place.once()) {
		return nil
	}
	x := s.route(v, to)
	if x == nil || !n.Place.Partial {
		if x != nil {
			x.Inputs[0] = n
		}
		return x
	}
	parts := *x
	parts.Inputs = []*Node{n}
	if parts.Place = parts.exchanged(x.Place); parts.unspreadable() != nil {
		return nil
	}
	return &parts
}

// route is the exchange that brings rows to a placement, nil where there is none.
func (s *search) route(v *vertex, to int) *Node {
	if v.routes[to] == nil {
		v.routes[to] = &Node{}
		lie := &Node{RA: v.relation, links: v.links, Place: Placement{Kind: Anywhere}}
		if x := exchange(lie, v.at(to)); x != nil && x != lie {
			var err error
			// an operator may tell of fewer equal columns than a SHUF does
			if x.Place, err = derive(x, s.plan.Sites); err == nil && x.Place.Equal(v.at(to)) {
				v.routes[to] = x
				s.stats.rows[x] = s.stats.Rows(v.places[to])
			}
		}
	}
	if x := v.routes[to]; x.exchange() {
		return x
	}
	return nil
}

// paid is the cost of an exchange.
func (s *search) paid(x *Node) int64 {
	m, err := predict(x, s.stats)
	if err != nil {
		return impossible
	}
	return s.costs.moving(m)
}

// remembered are statistics that are asked for again and again.
type remembered struct {
	Stats
	rows map[*Node][]int64 // nil: to be asked for
}

// remember has the rows of n counted once.
func (r *remembered) remember(n *Node) { r.rows[n] = nil }

// Rows implements Stats.
func (r *remembered) Rows(n *Node) []int64 {
	rows, ok := r.rows[n]
	if rows == nil {
		if rows = r.Stats.Rows(n); ok {
			r.rows[n] = rows
		}
	}
	return rows
}

// as has the rows of n counted as those of another node, which has the same relation at the same placement, while f
// asks for them.
func (r *remembered) as(n, other *Node, f func()) {
	r.rows[n] = r.Rows(other)
	f()
	delete(r.rows, n)
}

// vertices lists the relations of a plan with where they may lie.
func (s *search) vertices(start *Plan) {
	s.of = map[*ra.Node]*vertex{}
	var order []*ra.Node
	for _, n := range start.locals() {
		order = append(order, n.RA)
	}
	s.wants = wanted(order, start.Roots)
	s.looped = looped(order...)
	s.multiplies(order)
	for _, n := range start.locals() {
		v := s.newVertex(n)
		places := []int{v.stored}
		if len(v.in) > 0 {
			v.modes, places = s.modes(v), nil
		}
		for _, m := range v.modes {
			places = append(places, m.out)
		}
		if !s.looped[n.RA] {
			places = append(places, s.targets(v)...)
		}
		for _, p := range places {
			if !slices.Contains(v.states, p) && (p == v.stored || s.reads(n.RA, v.at(p))) {
				v.states = append(v.states, p)
			}
		}
		s.order, s.of[n.RA] = append(s.order, v), v
	}
	for _, r := range start.Roots {
		s.roots = append(s.roots, s.of[r.Node.Relation()])
	}
	s.sharedHalos()
}

// exchange is what brings rows from where they lie to a placement; the node itself where they lie so, nil where no
// exchange does.
func exchange(n *Node, to Placement) *Node {
	switch {
	case n.Place.Equal(to):
		return n
	case to.Kind == Anywhere:
		return nil
	case to.Kind == Needed:
		return halo(n, &Node{RA: to.Need.Of, Place: to.Need.At}, to.Need)
	}
	out := &Node{Op: [...]Op{Gather, Bcast, Shuf}[to.Kind], Site: to.Site, Fn: to.Fn, Inputs: []*Node{n}}
	for _, same := range to.By {
		out.By = append(out.By, same[0])
	}
	return out
}

// choose finds the state and the mode of each vertex.
func (s *search) choose(ctx context.Context) (choice []int, least int64, fixed int, err error) {
	sizes := make([]int, 2*len(s.order))
	var terms []*table
	for _, v := range s.order {
		sizes[v.number], sizes[v.number+1] = len(v.states), max(1, len(v.modes))
		terms = append(terms, s.making(v))
		for slot, in := range v.in {
			terms = append(terms, s.reading(v, slot, in))
		}
	}
	for i, v := range s.roots {
		t, to := &table{vars: []int{v.number}}, s.place(v, s.wanted(i))
		for _, p := range v.states {
			cost := int64(0)
			if p = v.whole(p); !(Root{Node: v.places[p], Place: v.at(to), There: s.start.Roots[i].There}).placed() {
				cost = s.moved(v, p, to)
			}
			t.cost = append(t.cost, cost)
		}
		terms = append(terms, t)
	}
	return minSum(ctx, sizes, terms, s.costs.Cells)
}

// wanted is where the rows of a result are wanted, as an exchange brings them there.
func (s *search) wanted(i int) Placement {
	n := s.roots[i].relation
	x := exchange(&Node{RA: n, Place: Placement{Kind: Anywhere}}, s.start.Roots[i].Place)
	p, _ := derive(x, s.plan.Sites)
	return p
}

// making is the cost of making a relation by a mode and bringing it to a state.
func (s *search) making(v *vertex) *table {
	t := &table{vars: []int{v.number, v.number + 1}}
	for _, to := range v.states {
		if len(v.in) == 0 {
			held := s.costs.working(work(v.places[v.stored], s.stats))
			t.cost = append(t.cost, min(held+s.moved(v, v.stored, to), impossible))
		}
		for _, m := range v.modes {
			t.cost = append(t.cost, min(m.cost+s.moved(v, m.out, to), impossible))
		}
	}
	return t
}

// reading is the cost of bringing an input from its state to where a mode reads it.
func (s *search) reading(v *vertex, slot int, in *vertex) *table {
	t := &table{vars: []int{in.number, v.number + 1}}
	for _, from := range in.states {
		for _, m := range v.modes {
			cost := int64(0)
			if to := m.in[slot]; from != to {
				cost = s.moved(in, in.whole(from), to)
			}
			t.cost = append(t.cost, cost)
		}
	}
	return t
}

// build makes the plan of a choice.
func (s *search) build(choice []int) (*Plan, error) {
	start, out := s.start, s.plan
	moved := map[*Node][]*Node{} // what brings the rows of a node somewhere, one of each kind
	bring := func(n *Node, to Placement, partners ...*Node) *Node {
		x := exchange(n, to)
		if x == n {
			return n
		}
		for _, o := range moved[n] {
			if o.Place.Equal(to) {
				return o
			}
		}
		for _, e := range partners {
			if x.Op == Halo && e != nil && e.Relation() == to.Need.Of && e.Place.Equal(to.Need.At) {
				x.Inputs[1] = e
			}
		}
		x.Place, _ = derive(x, out.Sites)
		moved[n] = append(moved[n], x)
		return x
	}
	b := ra.NewBuilder(start.Logical().Nodes()...)
	for _, v := range s.order {
		n := &Node{RA: v.relation, Place: v.at(v.stored)}
		if len(v.in) > 0 {
			m := v.modes[choice[v.number+1]]
			n.Inputs = make([]*Node, len(v.in))
			for _, halos := range []bool{false, true} { // their partners first
				for i, in := range v.in {
					if to := in.at(m.in[i]); halos == (to.Kind == Needed) {
						n.Inputs[i] = bring(in.built, to, n.Inputs...)
					}
				}
			}
			if n.Place, _ = derive(n, out.Sites); m.parts {
				n = inPhases(b, n, v.at(m.out), out.Sites)
			}
		}
		v.built = n
		if to := v.at(v.states[choice[v.number]]); to.Kind != Needed { // who reads it brings that
			v.built = bring(n, to)
		}
	}
	for i, r := range start.Roots {
		root := Root{Name: r.Name, Node: s.roots[i].built, Cols: r.Cols, Place: r.Place, There: r.There}
		if !root.placed() {
			root.Node = bring(root.Node, s.wanted(i))
		}
		out.Roots = append(out.Roots, root)
	}
	return out, Validate(out)
}

// inPhases makes a Σ at each site first and adds the parts where they come together.
func inPhases(b *ra.Builder, n *Node, to Placement, sites int) *Node {
	first := (&ruleContext{b: b}).firstPhase(n.RA)
	parts := &Node{RA: first, Inputs: n.Inputs}
	parts.Place, _ = derive(parts, sites)
	x := exchange(parts, to)
	for i, id := range x.By {
		x.By[i] = first.Key[slices.Index(n.RA.Key, id)]
	}
	x.Place, _ = derive(x, sites)
	last := *n.RA
	last.Inputs, last.Group, last.Aggs = []*ra.Node{first}, first.Key, sums(first)
	*n.RA = last
	out := &Node{RA: n.RA, Inputs: []*Node{x}}
	out.Place, _ = derive(out, sites)
	return out
}
