package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// graph is a symmetric adjacency matrix with self-loops, D^-½(A+I)D^-½, sorted by row (dst), then column (src).
type graph struct {
	dst, src []int32
	weight   []float32
}

// powerLaw draws a graph with n nodes and so many undirected edges by Chung and Lu's model: an end of an edge is node i
// with a probability proportional to (rank+30)^-0.62, where ranks are a random order of the nodes. With 169,343 nodes
// and 1,166,243 edges it has the size and about the degrees of ogbn-arxiv (Hu et al., NeurIPS 2020).
func powerLaw(r *rand.Rand, n, edges int) *graph {
	cdf := make([]float64, n)
	for i, rank := range r.Perm(n) {
		cdf[i] = math.Pow(float64(rank)+30, -0.62)
	}
	for i := 1; i < n; i++ {
		cdf[i] += cdf[i-1]
	}
	end := func() uint64 { return uint64(min(sort.SearchFloat64s(cdf, r.Float64()*cdf[n-1]), n-1)) }
	var keys []uint64
	for len(keys) < edges {
		for range edges - len(keys) + edges/20 {
			if s, d := end(), end(); s != d {
				keys = append(keys, min(s, d)<<32|max(s, d))
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	both := make([]uint64, 0, 2*edges+n)
	for _, k := range keys[:edges] {
		both = append(both, k, k<<32|k>>32)
	}
	for i := range uint64(n) {
		both = append(both, i<<32|i)
	}
	slices.Sort(both)
	return normalised(both, n)
}

func normalised(pairs []uint64, n int) *graph {
	degree := make([]float64, n)
	for _, p := range pairs {
		degree[p>>32]++
	}
	g := &graph{make([]int32, len(pairs)), make([]int32, len(pairs)), make([]float32, len(pairs))}
	for i, p := range pairs {
		d, s := int32(p>>32), int32(p&math.MaxUint32)
		g.dst[i], g.src[i], g.weight[i] = d, s, float32(1/math.Sqrt(degree[d]*degree[s]))
	}
	return g
}
