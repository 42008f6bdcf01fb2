// Package cost estimates sizes of relations before the structure phase knows them.
//
// # What
//
// Rows estimates a node's rows. The work of an expression is kernels' Expr.Flops.
//
// # Invariants
//
// Estimates steer the choice among equivalent plans and nothing else: no result depends on them. The unit is
// rows and floating-point operations; the executor decides again with exact counts.
//
// # Errors
//
// None.
//
// # Where to add
//
// An operator's estimate: a case in Rows.
package cost

import (
	"fmt"
	"math"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// selectivity is the assumed share of rows that a predicate keeps.
const selectivity = 1.0 / 3

// Model remembers the estimates of a plan's nodes. A node with an estimate has inputs with estimates.
type Model struct {
	// Tables are sizes of tables, by name, that take the place of their own; nil: each has its own.
	Tables map[string]Size
	known  map[*ra.Node]*estimates
}

// Size is the size of a table: rows, distinct values of columns by name, and how many rows have the value that most
// have. A column without an entry has as many values as a column of that many rows is taken to have, and each as often.
type Size struct {
	Rows     float64
	Values   map[string]float64
	Heaviest map[string]float64
}

// estimates of one node.
type estimates struct {
	rows   float64
	values map[ra.ColumnID]float64 // distinct values
	links  *ra.Links
}

// New returns an empty model.
func New() *Model { return &Model{known: map[*ra.Node]*estimates{}} }

// Forget drops the estimate of a node that has changed, and reports whether there was one. Nodes that read it must be
// forgotten too.
func (m *Model) Forget(n *ra.Node) bool {
	_, known := m.known[n]
	delete(m.known, n)
	return known
}

// Same returns an error if another model's estimate of n differs.
func (m *Model) Same(o *Model, n *ra.Node) error {
	e := m.known[n]
	if e == nil {
		return nil
	}
	if r := o.Rows(n); r != e.rows {
		return fmt.Errorf("a %v has an estimate of %v rows, not %v", n.Op, e.rows, r)
	}
	for id, d := range e.values {
		if v := o.distinctCol(n, id); v != d {
			return fmt.Errorf("column %d of a %v has an estimate of %v values, not %v", id, n.Op, d, v)
		}
	}
	return nil
}

// Rows estimates the number of rows of n.
func (m *Model) Rows(n *ra.Node) float64 { return m.of(n).rows }

func (m *Model) of(n *ra.Node) *estimates {
	if e := m.known[n]; e != nil {
		return e
	}
	e := &estimates{rows: m.estimate(n)}
	if len(n.Unique) == 0 {
		e.rows = 1
	}
	m.known[n] = e
	return e
}

// equated is n.Equated. It is remembered, because a wide node is asked for each of its columns.
func (m *Model) equated(n *ra.Node, c kernels.Col) []kernels.Col {
	if len(n.Equi) == 0 {
		return []kernels.Col{c}
	}
	e := m.of(n)
	if e.links == nil {
		e.links = n.Links()
	}
	return e.links.Equated(c)
}

func (m *Model) estimate(n *ra.Node) float64 {
	switch n.Op {
	case ra.Scan:
		if t, ok := m.Tables[n.Table.Name]; ok {
			return t.Rows
		}
		return float64(n.Table.Rows)
	case ra.Select, ra.Join:
		r := 1.0
		for _, in := range n.Inputs {
			r *= math.Max(1, m.Rows(in))
		}
		for _, q := range n.Equi { // each value of the side with fewer values occurs on the other
			r /= math.Max(1, math.Max(m.distinct(n, q.L), m.distinct(n, q.R)))
		}
		for _, p := range n.Pred {
			r *= m.share(n, p)
		}
		return r
	case ra.Aggregate:
		d := 1.0
		for _, g := range n.Group {
			d *= m.distinctCol(n.Inputs[0], g)
		}
		return math.Min(d, m.together(n.Inputs[0], n.Group))
	case ra.SemiJoin:
		return m.Rows(n.Inputs[0]) * math.Min(m.kept(n), m.Rows(n.Inputs[1]))
	case ra.AntiJoin:
		return m.Rows(n.Inputs[0]) / 2
	case ra.Union, ra.Add:
		return m.all(n.Inputs)
	case ra.Recursion:
		return m.Rows(n.Along().Inputs[0]) * levels
	case ra.Window, ra.Gradient: // those of the only input; those of the parameter
		return m.Rows(n.Inputs[len(n.Inputs)-1])
	case ra.Opaque:
		if n.Rows > 0 {
			return float64(n.Rows)
		}
	}
	return 1000
}

// all estimates the rows of all inputs together.
func (m *Model) all(inputs []*ra.Node) (r float64) {
	for _, in := range inputs {
		r += m.Rows(in)
	}
	return r
}

// levels is how many levels a recursion is taken to have.
const levels = 16

// deepest is how far down a plan together looks.
const deepest = 100

// together bounds how many combinations of values some columns have: as many as there are rows, there and in each
// relation below from which all of them come.
func (m *Model) together(n *ra.Node, ids []ra.ColumnID) float64 {
	rows := m.Rows(n)
	for range deepest {
		if n, ids = m.below(n, ids); n == nil {
			break
		}
		rows = math.Min(rows, math.Max(1, m.Rows(n)))
	}
	return rows
}

// below is an input from which all of some columns come, and what they are there; nil: there is none.
func (m *Model) below(n *ra.Node, ids []ra.ColumnID) (*ra.Node, []ra.ColumnID) {
	for i, in := range n.Inputs {
		out := make([]ra.ColumnID, 0, len(ids))
		for _, id := range ids {
			at := n.Index(id)
			switch {
			case n.Op == ra.Select || n.Op == ra.Join:
				if x := n.Out[at]; x.IsCol {
					equal := m.equated(n, x.Col)
					if c := slices.IndexFunc(equal, func(c kernels.Col) bool { return c.Input == i }); c >= 0 {
						out = append(out, equal[c].ID)
					}
				}
			case n.Op == ra.Aggregate && at < len(n.Group):
				out = append(out, n.Group[at])
			case n.Op == ra.Window && at < len(n.Over.Pass):
				out = append(out, n.Over.Pass[at])
			case (n.Op == ra.SemiJoin || n.Op == ra.AntiJoin) && i == 0:
				out = append(out, in.Cols[at].ID)
			}
		}
		if len(out) == len(ids) && len(ids) > 0 {
			return in, out
		}
	}
	return nil, nil
}

// Heaviest estimates which part of the rows of n have the value of a column that most have; 0: each value is taken to
// be as frequent.
func (m *Model) Heaviest(n *ra.Node, id ra.ColumnID) (out float64) {
	switch n.Op {
	case ra.Scan:
		t := m.Tables[n.Table.Name]
		return t.Heaviest[n.Col(id).Name] / math.Max(1, t.Rows)
	case ra.Select, ra.Join:
		if x := n.Out[n.Index(id)]; x.IsCol {
			for _, c := range m.equated(n, x.Col) {
				out = math.Max(out, m.Heaviest(n.Inputs[c.Input], c.ID))
			}
		}
	case ra.SemiJoin, ra.AntiJoin:
		return m.Heaviest(n.Inputs[0], n.Inputs[0].Cols[n.Index(id)].ID)
	case ra.Window:
		if id, ok := n.Passed(n.Index(id)); ok {
			return m.Heaviest(n.Inputs[0], id)
		}
	case ra.Aggregate:
		if i := n.Index(id); i < len(n.Group) && len(n.Group) > 1 {
			return m.Heaviest(n.Inputs[0], n.Group[i])
		}
	}
	return out
}

// share estimates the share of rows that a predicate keeps. One that wants a value of a key column keeps the rows of
// one of its values; attributes often have few values, whatever the rows are.
func (m *Model) share(n *ra.Node, p *kernels.Expr) float64 {
	if p.Def.Is(kernels.Equates) {
		for i, c := range p.Args {
			if c.IsCol && p.Args[1-i].IsConst() && slices.Contains(n.Inputs[c.Col.Input].Unique, c.Col.ID) {
				return 1 / math.Max(1, m.distinct(n, c.Col))
			}
		}
	}
	return selectivity
}

// kept estimates the share of rows that a semi-join keeps: those whose values the right side has, of which each is
// among those of the left.
func (m *Model) kept(n *ra.Node) float64 {
	share := 1.0
	for _, p := range n.Pred {
		share *= m.share(n, p)
	}
	for _, q := range n.Equi {
		l, r := q.L, q.R
		if l.Input != 0 {
			l, r = r, l
		}
		share *= math.Min(1, m.distinct(n, r)/m.distinct(n, l))
	}
	return share
}

func (m *Model) distinct(n *ra.Node, c kernels.Col) float64 {
	return m.distinctCol(n.Inputs[c.Input], c.ID)
}

// Values estimates how many distinct values a column of n has.
func (m *Model) Values(n *ra.Node, id ra.ColumnID) float64 { return m.distinctCol(n, id) }

// distinctCol estimates the number of distinct values of a column. A key of one column has as many as rows, a part of a
// longer key a root of that. A column of an input has as many as there, one that is equated with a key as many as the
// key.
func (m *Model) distinctCol(n *ra.Node, id ra.ColumnID) float64 {
	e := m.of(n)
	d, ok := e.values[id]
	if !ok {
		d = m.guess(n, id)
		if e.values == nil {
			e.values = map[ra.ColumnID]float64{}
		}
		e.values[id] = d
	}
	return d
}

// remaining estimates how many values of a column of its left side a semi-join or anti-join leaves. Of values that must
// be among those of the right side there are no more.
func (m *Model) remaining(n *ra.Node, id ra.ColumnID) float64 {
	d := m.distinctCol(n.Inputs[0], id)
	for _, q := range n.Equi {
		l, r := q.L, q.R
		if l.Input != 0 {
			l, r = r, l
		}
		if n.Op == ra.SemiJoin && l.ID == id {
			d = math.Min(d, m.distinct(n, r))
		}
	}
	return d
}

func (m *Model) guess(n *ra.Node, id ra.ColumnID) float64 {
	r := math.Max(1, m.Rows(n))
	if n.Op == ra.Scan {
		if v, ok := m.Tables[n.Table.Name].Values[n.Col(id).Name]; ok {
			return math.Min(r, v)
		}
	}
	for _, k := range n.Unique {
		if k == id && len(n.Unique) == 1 {
			return r
		}
	}
	switch n.Op {
	case ra.Select, ra.Join:
		x, d := n.Out[n.Index(id)], 1.0
		if x.IsConst() {
			return 1
		}
		if x.IsCol {
			for _, c := range m.equated(n, x.Col) {
				d = math.Max(d, m.distinct(n, c))
			}
			return math.Min(r, d)
		}
	case ra.SemiJoin, ra.AntiJoin:
		return math.Min(r, m.remaining(n, n.Inputs[0].Cols[n.Index(id)].ID))
	case ra.Window:
		if id, ok := n.Passed(n.Index(id)); ok {
			return math.Min(r, m.distinctCol(n.Inputs[0], id))
		}
	case ra.Aggregate:
		if i := n.Index(id); i < len(n.Group) {
			return math.Min(r, m.distinctCol(n.Inputs[0], n.Group[i]))
		}
	}
	for _, k := range n.Unique {
		if k == id {
			return math.Pow(r, 1/float64(len(n.Unique)))
		}
	}
	return math.Sqrt(r)
}
