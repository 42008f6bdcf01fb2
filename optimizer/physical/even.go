package physical

import (
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// Even estimates where rows lie before anything has run: what is spread is spread evenly, and rows that are spread by
// one function lie by chance where another wants them.
type Even struct {
	Sites int
	Count func(n *ra.Node) int64 // how many rows a relation has
}

// Rows implements Stats.
func (e Even) Rows(n *Node) []int64 {
	out, all := make([]int64, e.Sites), e.total(n)
	for s := range out {
		switch {
		case n.Place.Kind == Replicated, n.Place.Kind == Single && n.Place.Site == s:
			out[s] = all
		case n.Place.Kind != Single:
			out[s] = (all + int64(e.Sites-1-s)) / int64(e.Sites)
		}
	}
	return out
}

// total is how many rows n has, copies of them apart. A site has a part of each group of which it has rows.
func (e Even) total(n *Node) (out int64) {
	switch {
	case !n.Place.Partial:
		return e.Count(n.Relation())
	case n.Op != Local || n.RA.Op == ra.Select:
		return e.total(n.Inputs[0])
	}
	for _, in := range n.Inputs {
		for _, rows := range e.Rows(in) {
			out += min(rows, e.Count(n.RA))
		}
	}
	if len(n.RA.Key) == 0 {
		return int64(e.Sites)
	}
	return min(out, e.Count(n.RA)*int64(e.Sites))
}

// Stays implements Stats.
func (e Even) Stays(n *Node) int64 {
	from := n.Inputs[0]
	if from.Place.Kind == By && from.Place.Fn.Equal(n.Fn) &&
		slices.EqualFunc(from.Place.By, n.Place.By, func(a, b Same) bool { return slices.Equal(a, b) }) {
		return e.total(from)
	}
	return e.total(from) / int64(e.Sites)
}
