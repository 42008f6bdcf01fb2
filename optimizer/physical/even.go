package physical

import (
	"math"
	"slices"

	"github.com/relgrad/relgrad/ra"
)

// Even estimates where rows lie before anything has run: the values by which rows are spread are spread evenly, and
// rows that are spread by one function lie by chance where another wants them.
type Even struct {
	Sites int
	Count func(n *ra.Node) int64 // how many rows a relation has
	// Values is how many different values a column has; nil: as many as there are rows. Of fewer values than there are
	// sites some sites have none.
	Values func(n *ra.Node, id ra.ColumnID) float64
	// Heaviest is which part of the rows have the value of a column that most have; nil: each value is as frequent.
	Heaviest func(n *ra.Node, id ra.ColumnID) float64
}

// Rows implements Stats.
func (e Even) Rows(n *Node) []int64 {
	if n.Place.Kind == Needed {
		return e.needed(n)
	}
	if n.Place.Partial && n.Op == Local {
		return e.parts(n)
	}
	out, all := make([]int64, e.Sites), e.total(n)
	values, before := e.different(n, all), int64(0)
	upTo := func(values, of int64) int64 { return int64(math.Ceil(float64(all) * float64(values) / float64(of))) }
	for s := range out {
		switch {
		case n.Place.Kind == Replicated, n.Place.Kind == Single && n.Place.Site == s:
			out[s] = all
		case n.Place.Kind != Single:
			has := (values + int64(e.Sites-1-s)) / int64(e.Sites)
			if out[s] = has; values < all {
				out[s] = upTo(before+has, values) - upTo(before, values)
			}
			before += has
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

// different is how many different values the rows are spread by, of so many rows.
func (e Even) different(n *Node, all int64) int64 {
	if e.Values == nil || n.Place.Kind != By {
		return all
	}
	return int64(math.Min(math.Round(e.cells(n)), float64(all)))
}

// cells are the different values that rows might be spread by: all combinations.
func (e Even) cells(n *Node) float64 {
	out := 1.0
	for _, same := range n.Place.By {
		least := math.Inf(1)
		for _, id := range same {
			if n.Relation().Col(id) != nil {
				least = math.Min(least, e.Values(n.Relation(), id))
			}
		}
		out *= math.Max(1, least)
	}
	return out
}

// total is how many rows n has, copies of them apart.
func (e Even) total(n *Node) int64 {
	switch {
	case !n.Place.Partial:
		return e.Count(n.Relation())
	case n.Op != Local || n.RA.Op == ra.Select:
		return e.total(n.Inputs[0])
	}
	return total(e.parts(n))
}

// parts are those of sums that are not added up: a site has a part of each group of which it has rows.
func (e Even) parts(n *Node) []int64 {
	if n.RA.Op == ra.Select {
		return e.Rows(n.Inputs[0])
	}
	if len(n.RA.Key) == 0 {
		return slices.Repeat([]int64{1}, e.Sites)
	}
	out, groups := make([]int64, e.Sites), e.Count(n.RA)
	for _, in := range n.Inputs {
		for s, rows := range e.Rows(in) {
			out[s] = min(out[s]+min(rows, groups), groups)
		}
	}
	return out
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
