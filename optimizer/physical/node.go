package physical

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// Op is an operator of a physical plan.
type Op uint8

// Operators.
const (
	Local  Op = iota // an operator of ra, at each site over the rows there
	Bcast            // all rows to all sites
	Shuf             // each row to the site that a function of some columns gives
	Gather           // all rows to one site
	Halo             // each row to the sites that have rows of a partner with which a join matches it
)

// String returns the operator's name.
func (o Op) String() string { return [...]string{"Local", "BCAST", "SHUF", "Gather", "HALO"}[o] }

// Node is an operator of a physical plan. Which fields count depends on Op.
type Node struct {
	Op     Op
	Inputs []*Node       // of a Halo: what is sent, the partner
	RA     *ra.Node      // Local: the operator. Its inputs are the relations that Inputs hold.
	By     []ra.ColumnID // Shuf, Halo: columns of the input
	On     []ra.ColumnID // Halo: columns of the partner, those that By must equal
	Fn     Function      // Shuf: the site as a function of By
	Site   int           // Gather: where to
	Place  Placement     // where the rows lie: of a node without inputs it is given, of others it follows

	links *ra.Links // of RA, where a search has made them; nil: not yet
}

// linked tells which columns of RA equal which.
func (n *Node) linked() *ra.Links {
	if n.links == nil {
		return n.RA.Links()
	}
	return n.links
}

// Relation is the relation whose rows n holds. An exchange holds that of its input.
func (n *Node) Relation() *ra.Node {
	for n.Op != Local {
		n = n.Inputs[0]
	}
	return n.RA
}

// exchange reports whether n moves rows.
func (n *Node) exchange() bool { return n.Op != Local }

// bare is what n holds before it is moved.
func (n *Node) bare() *Node {
	for n.exchange() {
		n = n.Inputs[0]
	}
	return n
}

// Plan is a query over several sites.
type Plan struct {
	Sites int
	Roots []Root
	// Spread chooses how rows are spread over sites by columns of a relation. Of columns that are joined it must choose
	// the same, or they cannot be joined where they lie.
	Spread func(relation *ra.Node, by []ra.ColumnID) Function
}

// Root is one result.
type Root struct {
	Name  string
	Node  *Node
	Cols  []ra.ColumnID // the columns wanted, in order
	Place Placement     // where its reader wants its rows
	There bool          // of rows at one site: at no other one than that of Place
}

// placed reports whether the rows lie where they are wanted.
func (r Root) placed() bool {
	p, want := r.Node.Place, r.Place
	return !p.Partial && p.Kind == want.Kind && p.Fn.Equal(want.Fn) && (!r.There || p.Site == want.Site) &&
		slices.EqualFunc(p.By, want.By, func(s, w Same) bool { return slices.Contains(s, w[0]) })
}

// Logical is the plan without its exchanges. It shares the nodes of ra.
func (p *Plan) Logical() *ra.Plan {
	out := &ra.Plan{}
	for _, r := range p.Roots {
		out.Roots = append(out.Roots, ra.Root{Name: r.Name, Node: r.Node.Relation(), Cols: r.Cols})
	}
	return out
}

// Walk visits every node once, inputs first.
func (p *Plan) Walk(f func(*Node)) {
	seen := map[*Node]bool{}
	var visit func(*Node)
	visit = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, in := range n.Inputs {
			visit(in)
		}
		f(n)
	}
	for _, r := range p.Roots {
		visit(r.Node)
	}
}

// Nodes lists the nodes, inputs first.
func (p *Plan) Nodes() (out []*Node) {
	p.Walk(func(n *Node) { out = append(out, n) })
	return out
}

// readers counts the slots and roots that read each node.
func (p *Plan) readers() map[*Node]int {
	out := map[*Node]int{}
	p.Walk(func(n *Node) {
		for _, in := range n.Inputs {
			out[in]++
		}
	})
	for _, r := range p.Roots {
		out[r.Node]++
	}
	return out
}

// clone copies the plan and its nodes of ra, so that both can be changed in place. It returns the copy of each node.
func (p *Plan) clone() (*Plan, map[*Node]*Node) {
	locals := p.locals()
	whole := &ra.Plan{}
	for _, n := range locals {
		whole.Roots = append(whole.Roots, ra.Root{Node: n.RA})
	}
	copies := map[*ra.Node]*ra.Node{}
	for i, r := range ra.Clone(whole).Roots {
		copies[locals[i].RA] = r.Node
	}
	out, done := &Plan{Sites: p.Sites, Spread: p.Spread}, map[*Node]*Node{}
	p.Walk(func(n *Node) {
		c := *n
		c.RA, c.By, c.On, c.Inputs = copies[n.RA], slices.Clone(n.By), slices.Clone(n.On), make([]*Node, len(n.Inputs))
		if need := n.Place.Need; need != nil {
			c.Place = NeededBy(copies[need.Of], need.At, need.Pairs)
		}
		for i, in := range n.Inputs {
			c.Inputs[i] = done[in]
		}
		done[n] = &c
	})
	for _, r := range p.Roots {
		out.Roots = append(out.Roots, Root{r.Name, done[r.Node], slices.Clone(r.Cols), r.Place, r.There})
	}
	return out, done
}

// WithTables is a copy of the plan that reads other tables.
func (p *Plan) WithTables(of func(t *ra.Table) *ra.Table) *Plan {
	out, _ := p.clone()
	for _, n := range out.locals() {
		if n.RA.Op == ra.Scan {
			n.RA.Table = of(n.RA.Table)
		}
	}
	return out
}

// locals lists the nodes that hold an operator of ra.
func (p *Plan) locals() (out []*Node) {
	p.Walk(func(n *Node) {
		if n.Op == Local {
			out = append(out, n)
		}
	})
	return out
}
