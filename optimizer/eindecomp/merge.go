package eindecomp

import "slices"

// merge makes the table of an elimination: it adds tables and takes the least sum over the vectors of one vertex. Loops
// over the axes of the new table are nested; a table is added in the loop over the last of its axes.
type merge struct {
	terms  []*term
	levels []level  // of each axis of the new table
	first  []uint64 // sums of the tables that have only the eliminated vertex, by its vectors
	cells  []uint64 // of the new table, from the next to write on
	view   *view    // what the tables of the last level see of the eliminated vertex
	least  []uint64 // the least of the outer sums, by the classes of view
}

// level is the loop over one axis of the new table.
type level struct {
	classes int
	moves   []*term  // the terms that have this axis
	adds    []*term  // those of moves that have no later axis
	sums    []uint64 // by the vectors of the eliminated vertex
}

// term is a table in a merge.
type term struct {
	cells  []uint64
	at     int     // where in the table the chosen classes of the axes lie
	start  [][]int // of each axis of the new table: where in the table its classes lie
	vector []int   // where the vectors of the eliminated vertex lie; on the last level the classes of merge.view
}

// newMerge prepares a step; cells are those of each table by its number.
func newMerge(s *space, st step, cells [][]uint64) *merge {
	axes := st.out.axes
	m := &merge{cells: cells[st.out.number], levels: make([]level, len(axes)),
		first: make([]uint64, len(s.viable[st.vertex]))}
	for i, a := range axes {
		m.levels[i] = level{classes: len(s.view(a.vertex, a.labels).first), sums: make([]uint64, len(m.first))}
	}
	seen := uint64(0)
	for _, t := range st.tables {
		x := &term{cells: cells[t.number], start: make([][]int, len(axes))}
		stride, at, labels := 1, -1, uint64(0)
		for _, a := range slices.Backward(t.axes) {
			by := s.view(a.vertex, a.labels)
			if a.vertex == st.vertex {
				x.vector, labels = offsets(by, nil, stride), a.labels
			} else {
				i := indexOf(axes, a.vertex)
				x.start[i] = offsets(by, s.view(a.vertex, axes[i].labels).first, stride)
				m.levels[i].moves = append(m.levels[i].moves, x)
				at = max(at, i)
			}
			stride *= len(by.first)
		}
		if at == len(m.levels)-1 {
			seen |= labels
		}
		if at < 0 {
			addTerms(m.first, m.first, []*term{x})
		} else {
			m.levels[at].adds = append(m.levels[at].adds, x)
		}
	}
	if len(m.levels) > 0 {
		m.view = s.view(st.vertex, seen)
		m.least = make([]uint64, len(m.view.first))
		for _, x := range m.levels[len(m.levels)-1].adds {
			vector := make([]int, len(m.view.first))
			for c, k := range m.view.first {
				vector[c] = x.vector[k]
			}
			x.vector = vector
		}
	}
	return m
}

func indexOf(axes []axis, vertex int) int {
	for i, a := range axes {
		if a.vertex == vertex {
			return i
		}
	}
	return -1
}

// offsets gives, for each of some vectors (nil: all), the place of its class.
func offsets(by *view, of []int32, stride int) []int {
	if of == nil {
		out := make([]int, len(by.of))
		for k, c := range by.of {
			out[k] = int(c) * stride
		}
		return out
	}
	out := make([]int, len(of))
	for i, k := range of {
		out[i] = int(by.of[k]) * stride
	}
	return out
}

// run fills the new table.
func (m *merge) run() {
	if len(m.levels) == 0 {
		m.cells[0] = leastOf(m.first)
		return
	}
	m.loop(0, m.first)
}

func leastOf(sums []uint64) uint64 {
	out := tooMany
	for _, x := range sums {
		out = min(out, x)
	}
	return out
}

// loop runs over the classes of axis i and, inside, over the later axes.
func (m *merge) loop(i int, outer []uint64) {
	l := &m.levels[i]
	last := i == len(m.levels)-1
	if last {
		for c := range m.least {
			m.least[c] = tooMany
		}
		for k, c := range m.view.of {
			m.least[c] = min(m.least[c], outer[k])
		}
	}
	for c := range l.classes {
		for _, x := range l.moves {
			x.at += x.start[i][c]
		}
		if last {
			m.cells[0] = leastSum(m.least, l.adds, l.sums)
			m.cells = m.cells[1:]
		} else {
			addTerms(l.sums, outer, l.adds)
			m.loop(i+1, l.sums)
		}
		for _, x := range l.moves {
			x.at -= x.start[i][c]
		}
	}
}

// addTerms adds the chosen rows of terms to sums.
func addTerms(to, sums []uint64, terms []*term) {
	copy(to, sums)
	for _, x := range terms {
		cells := x.cells[x.at:]
		for k, at := range x.vector {
			to[k] = plus(to[k], cells[at])
		}
	}
}

// leastSum is the least sum of outer and the chosen rows of terms.
func leastSum(outer []uint64, terms []*term, room []uint64) uint64 {
	if len(terms) > 1 {
		room = room[:len(outer)]
		addTerms(room, outer, terms[1:])
		outer = room
	}
	x, out := terms[0], tooMany
	cells := x.cells[x.at:]
	for k, at := range x.vector {
		out = min(out, outer[k]+cells[at])
	}
	return out
}
