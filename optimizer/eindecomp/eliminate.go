package eindecomp

import (
	"context"
	"fmt"
	"slices"
)

// Min-sum elimination (variable elimination: Bertelè and Brioschi, Nonserial Dynamic Programming, 1972). The cost of a
// plan is a sum of tables, each over the vectors of one vertex or of the two ends of an edge. Eliminating a vertex adds
// the tables that it is in and takes, for each choice of the other vertices in them, the least sum over its vectors.
// That is one new table over those others. A table sees a vertex by the labels that it depends on only, which keeps
// tables small: an edge sees the producer by the labels of its output.

// axis is a vertex of a table, and the labels by which the table sees it.
type axis struct {
	vertex int
	labels uint64
}

// table is a term of the cost. Cells are in row-major order.
type table struct {
	axes  []axis
	views []*view
	cells []uint64
}

// step is the elimination of one vertex.
type step struct {
	vertex int
	axes   []axis // of the new table
}

// shape is the axes of the tables that are left, as the choice of an order needs them.
type shape struct {
	s      *space
	tables []([]axis)
	at     [][]int // the tables of each vertex
	gone   []bool
}

func newShape(s *space) *shape {
	out := &shape{s: s, at: make([][]int, len(s.viable)), gone: make([]bool, len(s.viable))}
	for v := range s.viable {
		out.add([]axis{{v, s.whole(v)}})
	}
	for _, e := range s.g.edges {
		out.add(s.axes(e))
	}
	return out
}

// axes are those of an edge's table.
func (s *space) axes(e edge) []axis {
	return []axis{{e.from, setOf(s.g.Vertices[e.from].Output)}, {e.to, setOf(s.g.Vertices[e.to].Operands[e.slot].Labels)}}
}

func (h *shape) add(axes []axis) {
	for _, a := range axes {
		h.at[a.vertex] = append(h.at[a.vertex], len(h.tables))
	}
	h.tables = append(h.tables, axes)
}

// size is the number of cells of a table; what passes most is not counted on.
func (s *space) size(axes []axis, most int) int {
	out := 1
	for _, a := range axes {
		if out *= len(s.view(a.vertex, a.labels).first); out > most {
			return most + 1
		}
	}
	return out
}

// around gives the axes of the table that eliminating v makes. The axis with most classes comes last: the loop over it
// is the innermost.
func (h *shape) around(v int) []axis {
	var out []axis
	for _, t := range h.at[v] {
		for _, a := range h.tables[t] {
			if a.vertex == v {
				continue
			}
			i := slices.IndexFunc(out, func(b axis) bool { return b.vertex == a.vertex })
			if i < 0 {
				out = append(out, a)
			} else {
				out[i].labels |= a.labels
			}
		}
	}
	classes := func(a axis) int { return len(h.s.view(a.vertex, a.labels).first) }
	slices.SortFunc(out, func(a, b axis) int {
		if n := classes(a) - classes(b); n != 0 {
			return n
		}
		return a.vertex - b.vertex
	})
	return out
}

// remove eliminates v.
func (h *shape) remove(v int, axes []axis) {
	for _, t := range slices.Clone(h.at[v]) {
		for _, a := range h.tables[t] {
			h.at[a.vertex] = slices.DeleteFunc(h.at[a.vertex], func(u int) bool { return u == t })
		}
	}
	h.gone[v] = true
	h.add(axes)
}

// eliminationOrder chooses what to eliminate first: each time what takes fewest steps, of equal ones the first vertex.
// Why says what passes the limits, if anything does.
func (s *space) eliminationOrder(limits Limits) (out []step, why string) {
	h := newShape(s)
	cells, steps := 0, 0
	for _, t := range h.tables {
		if cells += s.size(t, limits.Cells); cells > limits.Cells {
			return nil, fmt.Sprintf("the tables of the edges have more than %d cells", limits.Cells)
		}
	}
	takes := make([]int, len(s.viable)) // the steps of each vertex; 0 where not known any more
	axes := make([][]axis, len(s.viable))
	for range s.viable {
		best := -1
		for v := range takes {
			if h.gone[v] {
				continue
			}
			if takes[v] == 0 {
				axes[v] = h.around(v)
				takes[v] = s.size(axes[v], limits.Cells) * len(s.viable[v]) * len(h.at[v])
			}
			if best < 0 || takes[v] < takes[best] {
				best = v
			}
		}
		n := s.size(axes[best], limits.Cells)
		if cells, steps = cells+n, steps+takes[best]; cells > limits.Cells || steps > limits.Steps {
			return nil, fmt.Sprintf("eliminating vertex %s, the cheapest one, takes the tables past %d cells or the work past "+
				"%d steps", s.g.Vertices[best].Name, limits.Cells, limits.Steps)
		}
		h.remove(best, axes[best])
		for _, a := range axes[best] {
			takes[a.vertex] = 0
		}
		out = append(out, step{best, axes[best]})
	}
	return out, ""
}

// newTable makes an empty table.
func (s *space) newTable(axes []axis) *table {
	t := &table{axes: axes}
	n := 1
	for _, a := range axes {
		t.views = append(t.views, s.view(a.vertex, a.labels))
		n *= len(t.views[len(t.views)-1].first)
	}
	t.cells = make([]uint64, n)
	return t
}

// edgeTable is the table of edge number e.
func (s *space) edgeTable(e int) *table {
	t := s.newTable(s.axes(s.g.edges[e]))
	at := 0
	for _, p := range t.views[0].first {
		for _, c := range t.views[1].first {
			t.cells[at] = s.edgeCost(e, c, p)
			at++
		}
	}
	return t
}

// eliminate finds the cheapest plan.
func (s *space) eliminate(ctx context.Context, order []step) (*Plan, error) {
	at := make([][]*table, len(s.viable)) // the tables of each vertex
	add := func(t *table) {
		for _, a := range t.axes {
			at[a.vertex] = append(at[a.vertex], t)
		}
	}
	for v := range s.viable {
		t := s.newTable([]axis{{v, s.whole(v)}})
		copy(t.cells, s.own[v])
		add(t)
	}
	for e := range s.g.edges {
		add(s.edgeTable(e))
	}
	total := uint64(0)
	merged := make([][]*table, len(order))
	for i, st := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		merged[i] = slices.Clone(at[st.vertex])
		for _, t := range merged[i] {
			for _, a := range t.axes {
				at[a.vertex] = slices.DeleteFunc(at[a.vertex], func(u *table) bool { return u == t })
			}
		}
		out := s.newTable(st.axes)
		s.newMerge(st, merged[i], out).run()
		if add(out); len(out.axes) == 0 {
			total = plus(total, out.cells[0])
		}
	}
	choice := make([]int32, len(s.viable))
	for i := len(order) - 1; i >= 0; i-- {
		choice[order[i].vertex] = s.choose(order[i].vertex, merged[i], choice)
	}
	return s.checked(choice, ByElimination, total)
}

// choose gives the first of the best vectors of v, where the other vertices of its tables are chosen.
func (s *space) choose(v int, tables []*table, choice []int32) int32 {
	best, least := int32(0), uint64(0)
	for k := range s.viable[v] {
		choice[v] = int32(k)
		sum := uint64(0)
		for _, t := range tables {
			at := 0
			for i, a := range t.axes {
				at = at*len(t.views[i].first) + int(t.views[i].of[choice[a.vertex]])
			}
			sum = plus(sum, t.cells[at])
		}
		if k == 0 || sum < least {
			best, least = int32(k), sum
		}
	}
	return best
}
