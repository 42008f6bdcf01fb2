package eindecomp

import (
	"context"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Tree is the dynamic programme for trees (EinDecomp §8.3): least[v][c] is the least cost of v and all above it with
// the output cut as class c.
func (d *Decomposer) Tree(ctx context.Context) (*Plan, error) {
	s := d.s
	if !s.g.IsTree() {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "the graph is no tree: an output is used twice")
	}
	n := len(s.viable)
	least, best := make([][]uint64, n), make([][]int32, n)
	from := make([][]int32, len(s.g.edges)) // for each class of the consumer, the class of the producer
	for _, v := range s.g.order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sums := append([]uint64(nil), s.own[v]...)
		for _, e := range s.g.into[v] {
			ends := s.ends[e]
			into := make([]uint64, len(ends[0].first))
			from[e] = make([]int32, len(into))
			for c, k := range ends[0].first {
				into[c] = tooMany
				for p, j := range ends[1].first {
					if x := plus(least[s.g.edges[e].from][p], s.edgeCost(e, k, j)); x < into[c] {
						into[c], from[e][c] = x, int32(p)
					}
				}
			}
			for k, c := range ends[0].of {
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
			choice[v] = best[v][from[e][s.ends[e][0].of[choice[s.g.edges[e].to]]]]
		}
	}
	return s.checked(choice, ByTree, total)
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

// firstLeast is the first of the least.
func firstLeast(sums []uint64) (out int32) {
	for k, x := range sums {
		if x < sums[out] {
			out = int32(k)
		}
	}
	return out
}
