package autodiff

import (
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/rjp"
)

// loops is for the walk through the step of a Recursion, where the level before is a relation like others.
type loops struct {
	to     *ra.Node      // that relation; nil: the walk is through the whole query
	wanted []ra.ColumnID // its columns that depend on a wanted parameter
}

// through is what to receives if root receives g; nil: nothing.
func (d *differ) through(root *ra.Node, g *rjp.Grad, made []*ra.Node, to *ra.Node) (*rjp.Grad, error) {
	sub := newDiffer(d.ctx.B, nil)
	sub.to = to
	for _, c := range to.Cols {
		if d.isActive(to, c.ID) {
			sub.wanted = append(sub.wanted, c.ID)
		}
	}
	sub.parts[root] = []*rjp.Grad{g}
	if err := sub.back(made); err != nil || len(sub.parts[to]) == 0 {
		return nil, err
	}
	return sub.sum(to, sub.parts[to])
}

// spread has the nodes that made read, other than to, receive what they do if root receives g.
func (d *differ) spread(root *ra.Node, g *rjp.Grad, made []*ra.Node, to *ra.Node) error {
	before := d.loops
	d.loops = loops{to: to}
	defer func() { d.loops = before }()
	d.parts[root] = []*rjp.Grad{g}
	return d.back(made)
}

// back visits nodes, consumers before producers.
func (d *differ) back(made []*ra.Node) error {
	for i := len(made) - 1; i >= 0; i-- {
		if err := d.visit(made[i]); err != nil {
			return err
		}
	}
	return nil
}

// levelsOf maps the Self of each Recursion below root to it.
func levelsOf(root *ra.Node) map[*ra.Node]*ra.Node {
	out := map[*ra.Node]*ra.Node{}
	for _, n := range ra.Loops(root) {
		out[n.SelfLeaf()] = n
	}
	return out
}

// activeState reports for each column of a Recursion whether it depends on a wanted parameter other than through
// piecewise constant kernels: in some level, so more columns may with each level that is looked at.
func (d *differ) activeState(n *ra.Node) []bool {
	self, within := n.SelfLeaf(), map[*ra.Node]bool{}
	for _, m := range n.Within() {
		within[m] = true
	}
	active := make([]bool, len(n.Cols))
	for changed := true; changed; {
		changed = false
		known := map[activeKey]bool{}
		var is func(m *ra.Node, id ra.ColumnID) bool
		is = func(m *ra.Node, id ra.ColumnID) bool {
			switch {
			case m == self:
				return active[m.Index(id)]
			case !within[m]:
				return d.isActive(m, id)
			}
			k := activeKey{m, id}
			r, ok := known[k]
			if c := m.Col(id); !ok && c.Dep && c.Type.IsFloat() {
				r = readBy(m, m.Index(id), is)
			}
			known[k] = r
			return r
		}
		for i, c := range n.Cols {
			if !active[i] && c.Dep && c.Type.IsFloat() && readBy(n, i, is) {
				active[i], changed = true, true
			}
		}
	}
	for i, c := range n.Cols { // so that each column is not looked at again
		d.active[activeKey{n, c.ID}] = active[i]
	}
	return active
}
