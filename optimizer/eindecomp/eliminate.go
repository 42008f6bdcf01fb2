package eindecomp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
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

// table is a term of the cost. Tables of equal content have the same number.
type table struct {
	axes   []axis
	number int
}

// step is the elimination of one vertex.
type step struct {
	vertex int
	tables []*table
	out    *table
	takes  int // additions; 0 if an earlier step makes the same table
}

// elimination chooses the order of steps and counts their additions. It computes no table yet.
type elimination struct {
	s       *space
	at      [][]*table // the tables of each vertex
	gone    []bool
	numbers map[string]int // of tables, by how they are made
	made    map[int]bool
}

func newElimination(s *space) *elimination {
	h := &elimination{s: s, at: make([][]*table, len(s.viable)), gone: make([]bool, len(s.viable)),
		numbers: map[string]int{}, made: map[int]bool{}}
	for v := range s.viable {
		h.add(h.own(v))
	}
	for e := range s.g.edges {
		h.add(h.edge(e))
	}
	return h
}

// number is the number of a table, the same for all that are made in the same way.
func (h *elimination) number(made string) int {
	n, known := h.numbers[made]
	if !known {
		n = len(h.numbers)
		h.numbers[made] = n
	}
	return n
}

// own is the table of v's own costs.
func (h *elimination) own(v int) *table {
	return &table{[]axis{{v, h.s.whole(v)}}, h.number(fmt.Sprint("own ", h.s.kind[v]))}
}

// edge is the table of an edge.
func (h *elimination) edge(e int) *table {
	at := h.s.g.edges[e]
	return &table{[]axis{{at.from, setOf(h.s.g.Vertices[at.from].Output)},
		{at.to, setOf(h.s.g.Vertices[at.to].Operands[at.slot].Labels)}}, h.number(fmt.Sprint("edge ", h.s.shared[e]))}
}

func (h *elimination) add(t *table) {
	for _, a := range t.axes {
		h.at[a.vertex] = append(h.at[a.vertex], t)
	}
}

// size is the number of cells of a table; counting stops beyond most.
func (s *space) size(axes []axis, most int) int {
	out := 1
	for _, a := range axes {
		if out *= len(s.view(a.vertex, a.labels).first); out > most {
			return most + 1
		}
	}
	return out
}

// prepare describes the elimination of v into a table of at most this many cells. The axis with most classes comes
// last, where its loop is the innermost.
func (h *elimination) prepare(v, most int) step {
	var axes []axis
	for _, t := range h.at[v] {
		for _, a := range t.axes {
			if i := indexOf(axes, a.vertex); i >= 0 {
				axes[i].labels |= a.labels
			} else if a.vertex != v {
				axes = append(axes, a)
			}
		}
	}
	classes := func(a axis) int { return len(h.s.view(a.vertex, a.labels).first) }
	slices.SortFunc(axes, func(a, b axis) int {
		return cmp.Or(classes(a)-classes(b), a.vertex-b.vertex)
	})
	var made []string
	for _, t := range h.at[v] {
		text := fmt.Sprint(t.number)
		for _, a := range t.axes {
			text += fmt.Sprint(" ", indexOf(axes, a.vertex))
		}
		made = append(made, text)
	}
	slices.Sort(made)
	for _, a := range axes {
		made = append(made, fmt.Sprint(h.s.kind[a.vertex], " ", a.labels))
	}
	out := &table{axes, h.number(fmt.Sprint("without ", h.s.kind[v], ": ", strings.Join(made, ", ")))}
	return step{v, slices.Clone(h.at[v]), out, h.s.size(axes, most) * len(h.s.viable[v]) * len(h.at[v])}
}

// remove takes a step.
func (h *elimination) remove(st step) {
	for _, t := range st.tables {
		for _, a := range t.axes {
			h.at[a.vertex] = slices.DeleteFunc(h.at[a.vertex], func(u *table) bool { return u == t })
		}
	}
	h.gone[st.vertex], h.made[st.out.number] = true, true
	h.add(st.out)
}

// order chooses the order of elimination: each time the vertex that takes fewest additions, of equal ones the first.
// why says which limit is exceeded; "" if none.
func (h *elimination) order(limits Limits) (out []step, why string) {
	cells, takes := 0, 0
	for v, tables := range h.at {
		for _, t := range tables {
			if !h.made[t.number] {
				h.made[t.number] = true
				cells += h.s.size(t.axes, limits.Cells)
			}
		}
		if cells > limits.Cells {
			return nil, fmt.Sprintf("the tables of vertices up to %s and of their edges have more than %d cells",
				h.s.g.Vertices[v].Name, limits.Cells)
		}
	}
	next := make([]step, len(h.at)) // per vertex; without a table: not known any more
	work := func(st step) int {
		if h.made[st.out.number] {
			return 0
		}
		return st.takes
	}
	for range h.at {
		best, least := -1, 0
		for v := range next {
			if h.gone[v] {
				continue
			}
			if next[v].out == nil {
				next[v] = h.prepare(v, limits.Cells)
			}
			if w := work(next[v]); best < 0 || w < least {
				best, least = v, w
			}
		}
		st := next[best]
		if takes += least; !h.made[st.out.number] {
			cells += h.s.size(st.out.axes, limits.Cells)
		}
		if cells > limits.Cells || takes > limits.Steps {
			return nil, fmt.Sprintf("eliminating vertex %s, the cheapest one, takes the tables past %d cells or the work past "+
				"%d additions", h.s.g.Vertices[best].Name, limits.Cells, limits.Steps)
		}
		h.remove(st)
		for _, a := range st.out.axes {
			next[a.vertex] = step{}
		}
		out = append(out, st)
	}
	return out, ""
}

// eliminate finds the cheapest plan, by steps in an order.
func (h *elimination) eliminate(ctx context.Context, order []step) (*Plan, error) {
	s := h.s
	cells := make([][]uint64, len(h.numbers))
	for v := range s.viable {
		cells[h.own(v).number] = s.own[v]
	}
	for e := range s.g.edges {
		if n := h.edge(e).number; cells[n] == nil {
			if cells[n] = s.costs[s.shared[e]]; cells[n] == nil {
				cells[n] = s.edgeCosts(e)
			}
		}
	}
	total := uint64(0)
	for _, st := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if cells[st.out.number] == nil {
			cells[st.out.number] = make([]uint64, s.size(st.out.axes, math.MaxInt32))
			newMerge(s, st, cells).run()
		}
		if len(st.out.axes) == 0 {
			total = plus(total, cells[st.out.number][0])
		}
	}
	choice := make([]int32, len(s.viable))
	for i := len(order) - 1; i >= 0; i-- {
		s.choose(order[i], cells, choice)
	}
	return s.checked(choice, ByElimination, total)
}

// choose takes the first of the best vectors of the vertex that a step eliminates; the other vertices of its tables are
// chosen already.
func (s *space) choose(st step, cells [][]uint64, choice []int32) {
	best, least := int32(-1), uint64(0)
	for k := range s.viable[st.vertex] {
		choice[st.vertex] = int32(k)
		sum := uint64(0)
		for _, t := range st.tables {
			at := 0
			for _, a := range t.axes {
				by := s.view(a.vertex, a.labels)
				at = at*len(by.first) + int(by.of[choice[a.vertex]])
			}
			sum = plus(sum, cells[t.number][at])
		}
		if best < 0 || sum < least {
			best, least = int32(k), sum
		}
	}
	choice[st.vertex] = best
}
