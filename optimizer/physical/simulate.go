package physical

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Simulation is what a step of a plan takes at sites that are simulated: each has a processor, which runs one operator
// after the other in the order of the plan, and a link to the network, on which one exchange follows the other, in each
// direction. What a site needs of an exchange is there when all sites that send to it have sent.
type Simulation struct {
	Seconds   float64
	Busiest   int        // the site that is busy longest
	Busy      [4]float64 // of that site, by Resource
	Waits     float64    // seconds in which that site neither computes nor moves anything
	Events    int
	Holds     float64 // bytes
	Memory    int64
	Exchanges []SimulatedExchange
}

// SimulatedExchange is an exchange of a simulation.
type SimulatedExchange struct {
	Node       *Node
	Begin, End float64 // seconds: when the first site sends, and when the last one has all
}

// Resource is what a site has of something.
type Resource uint8

// Resources.
const (
	Processor Resource = iota // operations
	Memory                    // reads and writes
	Network
	Latency
)

func (r Resource) String() string {
	return [...]string{"operations", "reads of memory", "the network", "latency"}[r]
}

// Binds is the resource of which the busiest site uses most.
func (s *Simulation) Binds() Resource {
	return Resource(slices.Index(s.Busy[:], slices.Max(s.Busy[:])))
}

// String tells the result.
func (s *Simulation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "simulated: a step takes %s; %v binds: ", seconds(s.Seconds), s.Binds())
	var parts []string
	for r, x := range s.Busy {
		parts = append(parts, fmt.Sprintf("%v %s", Resource(r), seconds(x)))
	}
	fmt.Fprintf(&b, "site %d is busy with %s, and waits %s; %d events\n", s.Busiest, strings.Join(parts, ", "),
		seconds(s.Waits), s.Events)
	if s.Memory > 0 && s.Holds > float64(s.Memory) {
		fmt.Fprintf(&b, "memory does not suffice: a site holds up to %s of %s\n", scaled(s.Holds, "B"),
			scaled(float64(s.Memory), "B"))
	}
	return b.String()
}

// Simulate replays a step of a plan in simulated time. What is done once in a run takes the part of a step that it is
// worth. A site that overlaps computes what it can while exchanges run; one that does not waits for each.
func Simulate(p *Plan, stats Stats, costs Costs) (*Simulation, error) {
	costs.flow = newFlow(p)
	s := &simulator{costs: costs, sites: p.Sites, out: &Simulation{Memory: costs.Cluster.Memory}}
	moves, err := p.Moves(stats)
	if err != nil {
		return nil, err
	}
	at := map[*Node]int{}
	for i, n := range p.Nodes() {
		at[n] = i
		t := &task{node: n, number: i}
		for _, in := range n.Inputs {
			t.inputs = append(t.inputs, at[in])
		}
		if n.Op == Local {
			w := work(n, stats)
			t.work, s.out.Holds = w, s.out.Holds+w.Holds
		} else {
			t.move, moves = moves[0], moves[1:]
			s.out.Holds += t.move.Holds
		}
		s.tasks = append(s.tasks, t)
	}
	s.run()
	return s.out, nil
}

// task is a node of the plan.
type task struct {
	node   *Node
	number int
	inputs []int
	work   Work
	move   Move

	senders     int     // sites that have not sent yet
	begin, last float64 // when the first site sends, and when the last has sent
	waits       []int   // sites that wait
}

// simulator holds the state of sites.
type simulator struct {
	costs Costs
	sites int
	tasks []*task
	state []siteState
	queue events
	crowd crowd
	out   *Simulation
}

// siteState is what a site is doing.
type siteState struct {
	next    int       // of the tasks that it begins in order
	done    []float64 // by task: when its rows are there; NaN: not yet
	free    float64   // when the processor is free
	out, in float64   // when the link is free
	busy    [4]float64
}

// event is the time at which a site goes on.
type event struct {
	at   float64
	site int
}

// events are a heap: the earliest first, of several that of the first site.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].site < e[j].site
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (s *simulator) run() {
	s.state = make([]siteState, s.sites)
	for i := range s.state {
		s.state[i].done = slices.Repeat([]float64{math.NaN()}, len(s.tasks))
		heap.Push(&s.queue, event{0, i})
	}
	for _, t := range s.tasks {
		t.senders, t.begin = s.sites, math.Inf(1)
	}
	s.crowd.processors = s.costs.Cluster.Processors
	for s.queue.Len()+s.crowd.Len() > 0 {
		s.out.Events++
		if at := s.crowd.next(); s.queue.Len() == 0 || at <= s.queue[0].at {
			s.computed(s.crowd.finish(at), at)
		} else {
			e := heap.Pop(&s.queue).(event)
			s.step(e.site, e.at)
		}
	}
	most := -1.0
	for i, st := range s.state {
		for _, t := range st.done {
			s.out.Seconds = max(s.out.Seconds, t)
		}
		busy := 0.0
		for _, b := range st.busy {
			busy += b
		}
		if busy > most {
			most, s.out.Busiest, s.out.Busy = busy, i, st.busy
		}
	}
	s.out.Waits = max(0, s.out.Seconds-most)
	for _, t := range s.tasks {
		if x := (SimulatedExchange{Node: t.node, Begin: t.begin, End: t.last}); t.node.exchange() {
			for _, st := range s.state {
				x.End = max(x.End, st.done[t.number])
			}
			s.out.Exchanges = append(s.out.Exchanges, x)
		}
	}
}

// step begins the next task of a site, if its inputs are there.
func (s *simulator) step(site int, now float64) {
	st := &s.state[site]
	if st.next == len(s.tasks) {
		return
	}
	t := s.tasks[st.next]
	begin := max(now, st.free)
	for _, in := range t.inputs {
		switch ready := st.done[in]; {
		case ready != ready:
			s.tasks[in].waits = append(s.tasks[in].waits, site)
			return
		default:
			begin = max(begin, ready)
		}
	}
	switch {
	case t.node.Op != Local:
		s.send(st, t, site, begin)
	case begin > now:
		heap.Push(&s.queue, event{begin, site})
		return
	default:
		s.compute(st, t, site, begin)
		return
	}
	st.next++
	if ready := st.done[t.number]; s.costs.Cluster.Overlap || ready == ready {
		heap.Push(&s.queue, event{st.free, site})
	} else {
		t.waits = append(t.waits, site)
	}
}

// compute runs an operator.
func (s *simulator) compute(st *siteState, t *task, site int, begin float64) {
	took := 0.0
	if t.work.Operations != nil {
		computes, reads := s.costs.parts(t.work, site)
		of := Processor
		if took = computes; reads > computes {
			took, of = reads, Memory
		}
		st.busy[of] += took
	}
	s.crowd.start(begin, event{took, site})
}

// computed is when a site has run its operator.
func (s *simulator) computed(site int, now float64) {
	st := &s.state[site]
	st.done[st.next], st.free = now, now
	st.next++
	heap.Push(&s.queue, event{now, site})
}

// send gives the link what a site has for an exchange. When all sites have, the others receive.
func (s *simulator) send(st *siteState, t *task, site int, begin float64) {
	sent, waits := s.part(t, t.move.Sent[site])
	prepares := s.costs.preparing(t.move, t.move.Prepares[site])
	st.busy[Memory] += prepares
	begin += prepares
	start := max(begin, st.out)
	if t.move.Sent[site] > 0 {
		st.busy[Latency] += waits
		st.out = start + waits + sent
		t.begin = min(t.begin, start)
	}
	t.last = max(t.last, start+sent+waits)
	if st.free = begin; t.move.Received[site] == 0 {
		st.done[t.number] = begin
	}
	if t.senders--; t.senders > 0 {
		return
	}
	for i := range s.state {
		s.receive(&s.state[i], t, i)
	}
	waiting := t.waits
	t.waits = nil
	for _, w := range waiting {
		heap.Push(&s.queue, event{s.state[w].done[t.number], w})
	}
}

// receive is when a site has what an exchange brings: when all have sent, and its own link has had the time.
func (s *simulator) receive(st *siteState, t *task, site int) {
	received, waits := s.part(t, t.move.Received[site])
	sent, _ := s.part(t, t.move.Sent[site])
	if st.busy[Network] += max(sent, received); t.move.Received[site] == 0 {
		return
	}
	st.in = max(t.last, max(st.in, t.begin)+waits+received)
	if st.done[t.number] = st.in; !s.costs.Cluster.Overlap {
		st.free = max(st.free, st.in)
	}
}

// part is the time that bytes of rows take in the network, as a part of a step, and the fixed time before them.
func (s *simulator) part(t *task, rows float64) (moves, waits float64) {
	if rows == 0 {
		return 0, 0
	}
	of, share := t.node.Relation(), s.costs.moves(t.move)
	return limited(rows*(rowBytes(of)-keyBytes(of)), s.costs.Cluster.Network)*share + s.costs.keys(t.move, rows),
		s.costs.Cluster.Latency * share
}

// crowd are the sites that compute. Where there are more of them than processors, all slow down alike.
type crowd struct {
	events             // what a site has to do, in seconds of a processor of its own, from the beginning on
	processors int     // that all share; 0: each has its own
	now, done  float64 // what each site has done that has computed from the beginning on
}

// rate is how fast a site computes, as a part of a processor.
func (c *crowd) rate() float64 {
	if c.processors == 0 || c.Len() <= c.processors {
		return 1
	}
	return float64(c.processors) / float64(c.Len())
}

// until lets time pass.
func (c *crowd) until(now float64) {
	if c.Len() > 0 {
		c.done += (now - c.now) * c.rate()
	}
	c.now = now
}

// start has a site compute for so many seconds of a processor.
func (c *crowd) start(now float64, of event) {
	c.until(now)
	of.at += c.done
	heap.Push(&c.events, of)
}

// next is when the first site will have finished.
func (c *crowd) next() float64 {
	if c.Len() == 0 {
		return math.Inf(1)
	}
	return c.now + max(0, c.events[0].at-c.done)/c.rate()
}

// finish is the site that has finished.
func (c *crowd) finish(now float64) int {
	c.until(now)
	return heap.Pop(&c.events).(event).site
}
