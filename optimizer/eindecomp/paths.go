package eindecomp

import "context"

// Linearise is the paper's method for graphs (EinDecomp §8.4): the longest path is decomposed as if there were nothing
// else, then the longest of what is left, until all vertices are fixed. Informed counts the edges to vertices that
// earlier paths have fixed; the paper ignores them.
func (d *Decomposer) Linearise(ctx context.Context, informed bool) (*Plan, error) {
	choice, by := d.s.nothing(), ByText
	if informed {
		by = ByInformed
	}
	for _, path := range d.s.g.Paths() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.s.along(path, choice, informed)
	}
	return d.s.checked(choice, by, d.s.total(choice))
}

// open is the choice of a vertex that is not fixed yet.
const open = -1

func (s *space) nothing() []int32 {
	choice := make([]int32, len(s.viable))
	for v := range choice {
		choice[v] = open
	}
	return choice
}

// Paths cuts the graph into paths. Each is the longest in what earlier ones have left; of equally long ones the one
// whose vertices come first.
func (g *Graph) Paths() (out [][]int) {
	fixed := make([]bool, len(g.Vertices))
	length := make([]int, len(g.Vertices)) // per vertex: of the longest path that begins there
	for left := len(g.Vertices); left > 0; {
		start := -1
		for i := len(g.order) - 1; i >= 0; i-- {
			v := g.order[i]
			if fixed[v] {
				continue
			}
			length[v] = 1
			for _, e := range g.from[v] {
				if to := g.edges[e].to; !fixed[to] {
					length[v] = max(length[v], 1+length[to])
				}
			}
			if start < 0 || length[v] > length[start] || length[v] == length[start] && v < start {
				start = v
			}
		}
		var path []int
		for v := start; v >= 0; v = g.next(v, fixed, length) {
			path = append(path, v)
		}
		for _, v := range path {
			fixed[v] = true
		}
		left -= len(path)
		out = append(out, path)
	}
	return out
}

// next is the first consumer of v on a longest path, or -1.
func (g *Graph) next(v int, fixed []bool, length []int) int {
	out := -1
	for _, e := range g.from[v] {
		to := g.edges[e].to
		if !fixed[to] && length[to] == length[v]-1 && (out < 0 || to < out) {
			out = to
		}
	}
	return out
}

// along chooses the vectors of a path by dynamic programming. It ignores edges between vertices that are not neighbours
// on the path.
func (s *space) along(path []int, choice []int32, informed bool) {
	back := make([][]int32, len(path)) // for each vector the best one of the vertex before
	var sums []uint64
	for i, v := range path {
		here := append([]uint64(nil), s.own[v]...)
		if informed {
			s.addFixed(here, v, choice)
		}
		if i > 0 {
			back[i] = s.step(path[i-1], v, sums, here)
		}
		sums = here
	}
	k := firstLeast(sums)
	for i := len(path) - 1; i >= 0; i-- {
		choice[path[i]] = k
		if i > 0 {
			k = back[i][k]
		}
	}
}

// addFixed adds the cost of v's edges to vertices that are fixed.
func (s *space) addFixed(sums []uint64, v int, choice []int32) {
	for side, edges := range [2][]int{s.g.into[v], s.g.from[v]} {
		for _, e := range edges {
			at, by := s.g.edges[e], s.ends[e][side]
			costs := make([]uint64, len(by.first))
			for c, k := range by.first {
				switch {
				case side == 0 && choice[at.from] != open:
					costs[c] = s.edgeCost(e, k, choice[at.from])
				case side == 1 && choice[at.to] != open:
					costs[c] = s.edgeCost(e, choice[at.to], k)
				}
			}
			for k, c := range by.of {
				sums[k] = plus(sums[k], costs[c])
			}
		}
	}
}

// step goes on along a path from vertex u to v. before holds least sums by u's vectors. It adds to here, the sums by
// v's vectors, the least of before plus the edges between, and returns the vector of u that gives it.
func (s *space) step(u, v int, before, here []uint64) []int32 {
	var edges []int
	seen := uint64(0)
	for _, e := range s.g.into[v] {
		if s.g.edges[e].from == u {
			edges = append(edges, e)
			seen |= setOf(s.g.Vertices[v].Operands[s.g.edges[e].slot].Labels)
		}
	}
	consumer, producer := s.view(v, seen), s.ends[edges[0]][1]
	least, best := leastByClass(before, producer)
	into, from := s.cheapest(edges, consumer, least, best)
	back := make([]int32, len(here))
	for k, c := range consumer.of {
		here[k], back[k] = plus(here[k], into[c]), from[c]
	}
	return back
}

// rounds is how often all paths and vertices are tried again at most.
const rounds = 20

// improved is the informed linearisation, then improved path by path and vertex by vertex as long as that lowers the
// cost.
func (d *Decomposer) improved(ctx context.Context) (*Plan, error) {
	s := d.s
	choice := s.nothing()
	paths := s.g.Paths()
	for _, path := range paths {
		s.along(path, choice, true)
	}
	for v := range s.viable {
		paths = append(paths, []int{v})
	}
	total := s.total(choice)
	for round, again := 0, true; again && round < rounds; round++ {
		again = false
		for _, path := range paths {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			next := append([]int32(nil), choice...)
			for _, v := range path {
				next[v] = open
			}
			s.along(path, next, true)
			if t := s.total(next); t < total {
				choice, total, again = next, t, true
			}
		}
	}
	return s.checked(choice, ByInformed, total)
}
