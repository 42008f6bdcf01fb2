package rules

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

// Context is what rules see: the plan, and facts about its nodes. It follows changes of the plan at a cost that does
// not depend on the plan's size: a rule reports the nodes that it has changed (Changed), and Update counts their inputs
// again and drops facts that were derived from them.
type Context struct {
	B    *ra.Builder
	Plan *ra.Plan
	Cost *cost.Model

	known   map[*ra.Node]*about // the nodes of the plan
	numbers map[string]int      // of expressions; see numbering
	roots   []*ra.Node          // the roots that have been counted
	changed []*ra.Node
	moved   bool       // roots have changed
	loops   []*ra.Node // the Recursions
}

// about holds the facts about a node of the plan.
type about struct {
	uses       int        // how many inputs and roots read it
	inputs     []*ra.Node // the inputs that have been counted
	users      []*ra.Node // one entry for each input that is this node
	restricted choice
	tried      bool // no rule fires here, nor below, until something below changes
	signature  string
}

// choice is an answer that is computed once: unknown, no or yes.
type choice uint8

const (
	unknown choice = iota
	no
	yes
)

// NewContext prepares a context for the plan as it is now.
func NewContext(b *ra.Builder, p *ra.Plan) *Context {
	c := &Context{B: b, Plan: p, Cost: cost.New(), known: map[*ra.Node]*about{}, numbers: map[string]int{}, moved: true,
		loops: ra.Loops(p.Nodes()...)}
	c.Update()
	return c
}

// Sole reports whether n has one consumer.
func (c *Context) Sole(n *ra.Node) bool { return c.uses(n) == 1 }

// Alive reports whether n is still part of the plan.
func (c *Context) Alive(n *ra.Node) bool { return c.known[n] != nil }

func (c *Context) uses(n *ra.Node) int {
	if a := c.known[n]; a != nil {
		return a.uses
	}
	return 0
}

// consumers calls f for every node that reads n.
func (c *Context) consumers(n *ra.Node, f func(p *ra.Node)) {
	a := c.known[n]
	if a == nil {
		return
	}
	for i, p := range a.users {
		if !slices.Contains(a.users[:i], p) {
			f(p)
		}
	}
}

// Changed notes the nodes that a rule has changed in place, for Update.
func (c *Context) Changed(nodes ...*ra.Node) { c.changed = append(c.changed, nodes...) }

// Try reports whether n must be tried: something below it, or its number of readers, has changed since the last Try.
// Rules that look further (Rule.Anywhere) must be tried in any case.
func (c *Context) Try(n *ra.Node) bool {
	a := c.known[n]
	if a.tried {
		return false
	}
	a.tried = !slices.ContainsFunc(a.inputs, func(in *ra.Node) bool { return !c.known[in].tried })
	return true
}

// again has n, and all nodes that read it, tried again.
func (c *Context) again(n *ra.Node) {
	if a := c.known[n]; a != nil && a.tried {
		a.tried = false
		for _, p := range a.users {
			c.again(p)
		}
	}
}

// Update brings the context up to date with the nodes that have changed.
func (c *Context) Update() {
	changed := c.changed
	c.changed = nil
	for _, n := range changed {
		if a := c.known[n]; a != nil {
			old := a.inputs
			a.inputs = slices.Clone(n.Inputs)
			for _, in := range a.inputs {
				c.use(in, n)
			}
			for _, in := range old {
				c.release(in, n)
			}
		}
	}
	if c.moved {
		old := c.roots
		c.roots, c.moved = c.Plan.Nodes(), false
		for _, n := range c.roots {
			c.use(n, nil)
		}
		for _, n := range old {
			c.release(n, nil)
		}
	}
	for _, n := range changed {
		c.forget(n)
		c.again(n)
		if a := c.known[n]; a != nil {
			a.signature = ""
			for _, p := range a.users {
				c.known[p].signature = ""
			}
		}
	}
}

// use counts another input of p that is n; p is nil for a root.
func (c *Context) use(n, p *ra.Node) {
	a := c.known[n]
	if a == nil {
		a = &about{inputs: slices.Clone(n.Inputs)}
		c.known[n] = a
		for _, in := range a.inputs {
			c.use(in, n)
		}
	}
	if a.uses++; a.uses == 2 {
		c.again(n)
	}
	if p != nil {
		a.users = append(a.users, p)
	}
}

// release removes an input that is n. A node without readers leaves the plan, and so do nodes that only it has read.
func (c *Context) release(n, p *ra.Node) {
	a := c.known[n]
	a.uses--
	if p != nil {
		i := slices.Index(a.users, p)
		last := len(a.users) - 1
		a.users[i] = a.users[last]
		a.users = a.users[:last]
	}
	if a.uses > 0 {
		if a.uses == 1 {
			c.again(n)
		}
		return
	}
	delete(c.known, n)
	c.Cost.Forget(n)
	for _, in := range a.inputs {
		c.release(in, n)
	}
}

// forget drops facts about n and about all nodes that read it. A fact about a node is derived from facts about its
// inputs, so the walk ends at nodes without facts.
func (c *Context) forget(n *ra.Node) {
	a := c.known[n]
	if a == nil {
		return
	}
	if estimated := c.Cost.Forget(n); !estimated && a.restricted == unknown {
		return
	}
	a.restricted = unknown
	for _, p := range a.users {
		c.forget(p)
	}
}

// restricted reports whether n holds a restricted set of rows, such as those of a batch.
func (c *Context) restricted(n *ra.Node) bool {
	a := c.known[n]
	if a.restricted != unknown {
		return a.restricted == yes
	}
	a.restricted = no
	if len(n.Pred) > 0 || n.Op == ra.SemiJoin || n.Op == ra.Opaque && n.Rows > 0 {
		a.restricted = yes
	}
	for _, in := range n.Inputs {
		if c.restricted(in) {
			a.restricted = yes
		}
	}
	return a.restricted == yes
}

// Verify compares the facts with those of a new Context.
func (c *Context) Verify() error {
	fresh := NewContext(c.B, c.Plan)
	if len(fresh.known) != len(c.known) {
		return fmt.Errorf("%d nodes are known of %d", len(c.known), len(fresh.known))
	}
	for n, a := range c.known {
		f := fresh.known[n]
		if f == nil || f.uses != a.uses || len(f.users) != len(a.users) || !slices.Equal(f.inputs, a.inputs) {
			return fmt.Errorf("a %v is read by others than is known", n.Op)
		}
		for _, p := range f.users {
			if !slices.Contains(a.users, p) {
				return fmt.Errorf("a %v is read by a %v that is not known", n.Op, p.Op)
			}
		}
		if a.tried && slices.ContainsFunc(a.inputs, func(in *ra.Node) bool { return !c.known[in].tried }) {
			return fmt.Errorf("a %v counts as tried, something below it does not", n.Op)
		}
		if a.signature != "" && a.signature != c.signature(n) {
			return fmt.Errorf("a %v computes something else than is known", n.Op)
		}
		if known := a.restricted; known != unknown && fresh.restricted(n) != (known == yes) {
			return fmt.Errorf("a %v is restricted: %v", n.Op, known != yes)
		}
		if err := c.Cost.Same(fresh.Cost, n); err != nil {
			return err
		}
	}
	return nil
}
