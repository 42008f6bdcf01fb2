package eindecomp

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// mostPairs is how many pairs of cuts the two ends of an edge may have.
const mostPairs = 1 << 28

// mostShared is how many costs of edges are kept. Beyond, a cost is computed when it is asked for.
const mostShared = 1 << 25

// space holds the viable vectors of each vertex and their costs, from which the methods choose. Vertices of one kind,
// with equal bounds and labels in equal places, share them, and so do edges between equal kinds: the layers of a
// network are planned at the cost of one.
type space struct {
	g      *Graph
	kind   []int      // of each vertex
	viable [][]vector // of each vertex, ascending
	own    [][]uint64 // cost of join and aggregation of each of them
	views  []map[uint64]*view
	ends   [][2]*view // of each edge: how it sees the consumer's and the producer's vector
	shared []int      // per edge: the index of its table in costs
	costs  [][]uint64 // by the producer's class, then the consumer's; nil if not kept
}

// view groups the vectors of a vertex for something that depends on some of its labels only. Vectors with equal parts
// of these labels are one class.
type view struct {
	of    []int32 // the class of each vector
	first []int32 // the first vector of each class
}

// newSpace lists the viable vectors and computes their costs.
func newSpace(g *Graph, p int64) (*space, error) {
	if err := checkSites(p); err != nil {
		return nil, err
	}
	s := &space{g: g}
	kinds := map[string]int{} // the first vertex of each kind
	for i := range g.Vertices {
		v := &g.Vertices[i]
		like, known := kinds[v.kind()]
		if known {
			s.kind, s.viable = append(s.kind, like), append(s.viable, s.viable[like])
			s.own, s.views = append(s.own, s.own[like]), append(s.views, s.views[like])
			continue
		}
		kinds[v.kind()] = i
		viable, err := v.viable(p)
		if err != nil {
			return nil, err
		}
		own := make([]uint64, len(viable))
		for k, d := range viable {
			_, join := v.joining(d)
			own[k] = plus(join, v.aggregating(d))
		}
		s.kind, s.viable = append(s.kind, i), append(s.viable, viable)
		s.own, s.views = append(s.own, own), append(s.views, map[uint64]*view{})
	}
	return s, s.share()
}

// kind is equal for vertices that differ in names only.
func (v *Vertex) kind() string {
	var b strings.Builder
	for _, l := range v.Labels {
		fmt.Fprint(&b, l.Bound, l.Whole, " ")
	}
	for _, o := range v.Operands {
		fmt.Fprint(&b, o.Labels)
	}
	fmt.Fprint(&b, v.Output)
	return b.String()
}

// share computes the costs of the edges, once for each pair of kinds.
func (s *space) share() error {
	known := map[[3]int]int{}
	var first []int // the first edge of each pair
	cells := 0
	for i, e := range s.g.edges {
		from, to := &s.g.Vertices[e.from], &s.g.Vertices[e.to]
		ends := [2]*view{s.view(e.to, setOf(to.Operands[e.slot].Labels)), s.view(e.from, setOf(from.Output))}
		s.ends = append(s.ends, ends)
		key := [3]int{s.kind[e.from], s.kind[e.to], e.slot}
		n, found := known[key]
		if !found {
			n = len(first)
			known[key], first = n, append(first, i)
			pairs := len(ends[0].first) * len(ends[1].first)
			if cells += pairs; pairs > mostPairs {
				return sqlerr.New(sqlerr.ProgramLimit, "%s can be cut in %d ways where it is produced and in %d where %s "+
					"reads it: more than %d pairs", from.Name, len(ends[1].first), len(ends[0].first), to.Name, mostPairs)
			}
		}
		s.shared = append(s.shared, n)
	}
	s.costs = make([][]uint64, len(first))
	if cells > mostShared {
		return nil
	}
	for n, e := range first {
		s.costs[n] = s.edgeCosts(e)
	}
	return nil
}

// edgeCosts computes the costs of an edge.
func (s *space) edgeCosts(e int) []uint64 {
	at, ends := s.g.edges[e], s.ends[e]
	out := make([]uint64, 0, len(ends[0].first)*len(ends[1].first))
	for _, p := range ends[1].first {
		for _, c := range ends[0].first {
			out = append(out, s.g.repart(at, s.viable[at.to][c], s.viable[at.from][p]))
		}
	}
	return out
}

func setOf(labels []int) (out uint64) {
	for _, l := range labels {
		out |= 1 << l
	}
	return out
}

// whole is the set of all labels of a vertex.
func (s *space) whole(v int) uint64 { return 1<<len(s.g.Vertices[v].Labels) - 1 }

// view gives the classes of a vertex's vectors by some of its labels.
func (s *space) view(v int, labels uint64) *view {
	if out := s.views[v][labels]; out != nil {
		return out
	}
	out := &view{of: make([]int32, len(s.viable[v]))}
	class := map[string]int32{}
	var key []byte
	for k, d := range s.viable[v] {
		key = key[:0]
		for rest := labels; rest != 0; rest &= rest - 1 {
			key = append(key, d[bits.TrailingZeros64(rest)])
		}
		c, known := class[string(key)]
		if !known {
			c = int32(len(out.first))
			class[string(key)] = c
			out.first = append(out.first, int32(k))
		}
		out.of[k] = c
	}
	s.views[v][labels] = out
	return out
}

// edgeCost is the cost of edge number e between vectors number c of the consumer and number p of the producer.
func (s *space) edgeCost(e int, c, p int32) uint64 {
	at, ends := s.g.edges[e], &s.ends[e]
	if costs := s.costs[s.shared[e]]; costs != nil {
		return costs[int(ends[1].of[p])*len(ends[0].first)+int(ends[0].of[c])]
	}
	return s.g.repart(at, s.viable[at.to][c], s.viable[at.from][p])
}

// total is the cost of a choice of viable vectors.
func (s *space) total(choice []int32) (out uint64) {
	for v, k := range choice {
		out = plus(out, s.own[v][k])
	}
	for e, at := range s.g.edges {
		out = plus(out, s.edgeCost(e, choice[at.to], choice[at.from]))
	}
	return out
}

// checked makes a plan of a choice, for which a method has found the cost total. The formulas must give the same cost.
func (s *space) checked(choice []int32, by string, total uint64) (*Plan, error) {
	if total >= tooMany {
		return nil, passes("the cost of every plan")
	}
	out := &Plan{By: by}
	for v, k := range choice {
		out.Vectors = append(out.Vectors, s.viable[v][k].parts())
	}
	costs, err := s.g.Costs(out.Vectors)
	if err != nil {
		return nil, err
	}
	if uint64(costs.Total) != total {
		return nil, sqlerr.Broken("optimizer/eindecomp", "%s found a cost of %d, but its plan costs %d", by, total,
			costs.Total)
	}
	out.Costs = *costs
	return out, nil
}
