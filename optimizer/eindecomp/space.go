package eindecomp

import (
	"math/bits"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// mostPairs is how many pairs of cuts the two ends of an edge may have.
const mostPairs = 1 << 28

// space holds what the methods choose from: the viable vectors of each vertex, with their costs.
type space struct {
	g      *Graph
	p      int64
	viable [][]vector // of each vertex, ascending
	own    [][]uint64 // join and aggregation of each of them
	views  []map[uint64]*view
	ends   [][2]*view // of each edge: how it sees the consumer's and the producer's vector
}

// view is how something sees the vectors of a vertex that depends on some of the labels only: vectors with equal parts
// of these are one class.
type view struct {
	of    []int32 // the class of each vector
	first []int32 // the first vector of each class
}

// newSpace lists the viable vectors and computes their costs.
func newSpace(g *Graph, p int64) (*space, error) {
	if err := checkSites(p); err != nil {
		return nil, err
	}
	s := &space{g: g, p: p, views: make([]map[uint64]*view, len(g.Vertices))}
	for i := range g.Vertices {
		v := &g.Vertices[i]
		viable, err := v.viable(p)
		if err != nil {
			return nil, err
		}
		own := make([]uint64, len(viable))
		for k, d := range viable {
			_, join := v.joining(d)
			own[k] = plus(join, v.aggregating(d))
		}
		s.viable, s.own, s.views[i] = append(s.viable, viable), append(s.own, own), map[uint64]*view{}
	}
	for _, e := range g.edges {
		from, to := &g.Vertices[e.from], &g.Vertices[e.to]
		ends := [2]*view{s.view(e.to, setOf(to.Operands[e.slot].Labels)), s.view(e.from, setOf(from.Output))}
		if n := len(ends[0].first) * len(ends[1].first); n > mostPairs {
			return nil, sqlerr.New(sqlerr.ProgramLimit, "%s can be cut in %d ways where it is produced and in %d where %s "+
				"reads it: more than %d pairs", from.Name, len(ends[1].first), len(ends[0].first), to.Name, mostPairs)
		}
		s.ends = append(s.ends, ends)
	}
	return s, nil
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
	at := s.g.edges[e]
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

// plan makes a plan of a choice, whose cost is computed again from the formulas.
func (s *space) plan(choice []int32, by string) (*Plan, error) {
	out := &Plan{By: by}
	for v, k := range choice {
		out.Vectors = append(out.Vectors, s.viable[v][k].parts())
	}
	costs, err := s.g.Costs(out.Vectors)
	if err != nil {
		return nil, err
	}
	out.Costs = *costs
	return out, nil
}
