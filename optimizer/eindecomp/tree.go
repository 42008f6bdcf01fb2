package eindecomp

import (
	"context"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Tree is the dynamic programme for trees (EinDecomp §8.3): least[v][c] is the least cost of v and all of its
// producers, with v's output cut as class c.
func (d *Decomposer) Tree(ctx context.Context) (*Plan, error) {
	s := d.s
	if !s.g.IsTree() {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "the graph is no tree: an output is used twice")
	}
	n := len(s.viable)
	least, best := make([][]uint64, n), make([][]int32, n)
	from := make([][]int32, len(s.g.edges)) // for each class of the consumer, the producer's vector
	for _, v := range s.g.order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sums := append([]uint64(nil), s.own[v]...)
		for _, e := range s.g.into[v] {
			u := s.g.edges[e].from
			var into []uint64
			into, from[e] = s.cheapest([]int{e}, s.ends[e][0], least[u], best[u])
			for k, c := range s.ends[e][0].of {
				sums[k] = plus(sums[k], into[c])
			}
		}
		output := s.view(v, setOf(s.g.Vertices[v].Output))
		least[v], best[v] = leastByClass(sums, output)
	}
	choice := make([]int32, n)
	total := uint64(0)
	for i := n - 1; i >= 0; i-- {
		v := s.g.order[i]
		if len(s.g.from[v]) == 0 {
			c := firstLeast(least[v])
			choice[v], total = best[v][c], plus(total, least[v][c])
		} else {
			e := s.g.from[v][0]
			choice[v] = from[e][s.ends[e][0].of[choice[s.g.edges[e].to]]]
		}
	}
	return s.checked(choice, ByTree, total)
}

// cheapest gives, for each class of a consumer's vectors, the least cost of its producer with the edges between, and
// the producer's vector. least and best hold, by cut of the producer's output, its least cost and the vector that has
// it.
func (s *space) cheapest(edges []int, consumer *view, least []uint64, best []int32) (into []uint64, from []int32) {
	into, from = make([]uint64, len(consumer.first)), make([]int32, len(consumer.first))
	room := make([]uint64, len(consumer.first))
	for p, x := range least {
		for c, moved := range s.between(edges, consumer, best[p], room) {
			if y := plus(x, moved); p == 0 || y < into[c] || y == into[c] && best[p] < from[c] {
				into[c], from[c] = y, best[p]
			}
		}
	}
	return into, from
}

// between gives the costs of edges from a producer's vector to each class of a consumer's vectors.
func (s *space) between(edges []int, consumer *view, producer int32, room []uint64) []uint64 {
	first := edges[0]
	if costs := s.costs[s.shared[first]]; len(edges) == 1 && costs != nil {
		n := len(consumer.first)
		at := int(s.ends[first][1].of[producer]) * n
		return costs[at : at+n]
	}
	for c, k := range consumer.first {
		room[c] = 0
		for _, e := range edges {
			room[c] = plus(room[c], s.edgeCost(e, k, producer))
		}
	}
	return room
}

// leastByClass gives the least sum of each class, and its first vector.
func leastByClass(sums []uint64, by *view) (least []uint64, best []int32) {
	least, best = make([]uint64, len(by.first)), make([]int32, len(by.first))
	for c, k := range by.first {
		least[c], best[c] = sums[k], k
	}
	for k, c := range by.of {
		if sums[k] < least[c] {
			least[c], best[c] = sums[k], int32(k)
		}
	}
	return least, best
}

// firstLeast is the index of the first minimum.
func firstLeast(sums []uint64) (out int32) {
	for k, x := range sums {
		if x < sums[out] {
			out = int32(k)
		}
	}
	return out
}
