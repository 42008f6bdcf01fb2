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
	// Heaviest is which part of the rows have the value of a column that most have; nil: each value is as frequent.
	Heaviest func(n *ra.Node, id ra.ColumnID) float64
}

// Rows implements Stats.
func (e Even) Rows(n *Node) []int64 {
	if n.Place.Kind == Needed {
		return e.needed(n)
	}
	out, all := make([]int64, e.Sites), e.total(n)
	for s := range out {
		switch {
		case n.Place.Kind == Replicated, n.Place.Kind == Single && n.Place.Site == s:
			out[s] = all
		case n.Place.Kind != Single:
			out[s] = (all + int64(e.Sites-1-s)) / int64(e.Sites)
		}
	}
	if heaviest := int64(e.heaviest(n) * float64(all)); heaviest > out[0] { // one value is more than its share
		for s := range out {
			out[s] = (all - heaviest + int64(e.Sites-2)) / int64(max(1, e.Sites-1))
		}
		out[0] = heaviest
	}
	return out
}

// heaviest is the part of rows that lie together for one value of the columns that they are spread by, at site 0.
func (e Even) heaviest(n *Node) float64 {
	if e.Heaviest == nil || n.Place.Kind != By {
		return 0
	}
	out := 1.0
	for _, same := range n.Place.By {
		most := 0.0
		for _, id := range same {
			if n.Relation().Col(id) != nil {
				most = max(most, e.Heaviest(n.Relation(), id))
			}
		}
		out *= most
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
	if n.Op == Halo {
		return e.near(n)
	}
	if from.Place.Kind == By && from.Place.Fn.Equal(n.Fn) &&
		slices.EqualFunc(from.Place.By, n.Place.By, func(a, b Same) bool { return slices.Equal(a, b) }) {
		return e.total(from)
	}
	return e.total(from) / int64(e.Sites)
}
