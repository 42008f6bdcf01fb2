package physical

import (
	"math"
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// A halo is what a site reads of a relation beyond the rows that lie there: of vertices, the neighbours of its own.
// Halo sends a row to each site that has a row of a partner with which a join matches it, so to several sites or to
// none. Only a join with this partner, or a semi-join of it, may read these rows: it meets every match at its site, and
// looks at nothing else. Everything else would see some rows several times and others never.

// Need is what rows at a site are needed for: the partner that joins them there.
type Need struct {
	Of    *ra.Node  // the partner. Each of its rows lies at one site
	At    Placement // of the partner
	Pairs []Pair
}

// columns are those of the relation that is sent, and of the partner.
func (w *Need) columns() (own, partner []ra.ColumnID) {
	for _, p := range w.Pairs {
		own, partner = append(own, p.Own), append(partner, p.Partner)
	}
	return own, partner
}

// covers reports whether all columns of a key are among some.
func covers(columns, key []ra.ColumnID) bool {
	return !slices.ContainsFunc(key, func(id ra.ColumnID) bool { return !slices.Contains(columns, id) })
}

// Pair are columns that the join equates: one of the relation that is sent, one of the partner.
type Pair struct{ Own, Partner ra.ColumnID }

// equal reports whether two needs are the same.
func (w *Need) equal(o *Need) bool {
	if w == nil || o == nil {
		return w == o
	}
	return w.Of == o.Of && w.At.Equal(o.At) && slices.Equal(w.Pairs, o.Pairs)
}

// NeededBy is the placement of rows at the sites where a partner joins them.
func NeededBy(of *ra.Node, at Placement, pairs []Pair) Placement {
	return Placement{Kind: Needed, Need: &Need{of, at, pairs}}
}

// pairs are those of a Halo.
func pairs(n *Node) (out []Pair) {
	for i, id := range n.By {
		out = append(out, Pair{id, n.On[i]})
	}
	return out
}

// haloed is the placement of what a Halo sends.
func haloed(n *Node) (Placement, error) {
	x, e := n.Inputs[0].Place, n.Inputs[1].Place
	for _, p := range []Placement{x, e} {
		if p.Partial || !p.once() {
			return Placement{}, sqlerr.Broken(room, "a %v sends rows that are %v to where rows are that are %v", n, x, e)
		}
	}
	return NeededBy(n.Inputs[1].Relation(), e, pairs(n)), nil
}

// checkHalo: rows are found by columns that both relations have and that do not change from step to step.
func checkHalo(n *Node) error {
	if len(n.By) == 0 || len(n.By) != len(n.On) {
		return sqlerr.Broken(room, "a %v finds rows by %d columns, their partners by %d", n, len(n.By), len(n.On))
	}
	for i, ids := range [][]ra.ColumnID{n.By, n.On} {
		of := n.Inputs[i].Relation()
		for _, id := range ids {
			if c := of.Col(id); c == nil || c.Dep {
				return sqlerr.Broken(room, "a %v cannot find rows of a %v by column %d", n, of.Op, id)
			}
		}
	}
	return nil
}

// meetsAll reports whether each row of input e of a join meets all its matches in input x, of which each site has only
// those that e needs there.
func meetsAll(n *Node, e, x int) bool {
	need, by := n.Inputs[x].Place.Need, n.Inputs[e]
	if need == nil || by.Relation() != need.Of || !by.Place.Equal(need.At) {
		return false
	}
	links := n.linked()
	return !slices.ContainsFunc(need.Pairs, func(p Pair) bool { return !equates(n.RA, links, e, x, p) })
}

// needed reports whether input x of a join holds what another input needs.
func needed(n *Node, x int) bool {
	for e := range n.Inputs {
		if e != x && meetsAll(n, e, x) {
			return true
		}
	}
	return false
}

// equates reports whether rows of inputs e and x of a join match only where a pair of their columns is equal and not
// NULL.
func equates(n *ra.Node, links *ra.Links, e, x int, p Pair) bool {
	same := links.Equated(kernels.Col{Input: x, ID: p.Own})
	if !slices.Contains(same, kernels.Col{Input: e, ID: p.Partner}) {
		return false
	}
	own, partner := n.Inputs[x].Col(p.Own), n.Inputs[e].Col(p.Partner)
	return !own.Type.Nullable || !partner.Type.Nullable || slices.ContainsFunc(n.Equi, func(q ra.Equi) bool {
		return !q.NullSafe && slices.Contains(same, q.L)
	})
}

// pairsOf lists the pairs of columns by which rows of input x of a join can be found for those of input e.
func pairsOf(n *ra.Node, e, x int) (out []Pair) {
	links := n.Links()
	for _, c := range n.Inputs[x].Cols {
		if c.Dep {
			continue
		}
		for _, o := range links.Equated(kernels.Col{Input: x, ID: c.ID}) {
			p := Pair{c.ID, o.ID}
			if o.Input == e && !n.Inputs[e].Col(o.ID).Dep && equates(n, links, e, x, p) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// halo is the exchange that brings rows where a partner needs them.
func halo(of, partner *Node, need *Need) *Node {
	return &Node{Op: Halo, Inputs: []*Node{of, partner},
		By: lists.Map(need.Pairs, func(p Pair) ra.ColumnID { return p.Own }),
		On: lists.Map(need.Pairs, func(p Pair) ra.ColumnID { return p.Partner })}
}

// spare refuses rows that a site has only because a partner needs them there, in any operator but a join with it.
func spare(n *Node) error {
	for i, in := range n.Inputs {
		if in.Place.Kind != Needed || n.RA.Op == ra.Join || (n.RA.Op == ra.SemiJoin || n.RA.Op == ra.AntiJoin) && i == 1 {
			continue
		}
		return sqlerr.Broken(room, "a %v reads input %d (%v) as if it were whole", n.RA.Op, i, in.Place)
	}
	return nil
}

// needed estimates how many rows each site needs: those of the different keys that as many draws find as the partner
// has rows there. Where the columns do not tell the rows apart, each key has as many.
func (e Even) needed(n *Node) []int64 {
	need, of := n.Place.Need, n.Relation()
	all, keys := e.Count(of), e.keys(of, need)
	least, most := e.bounds(need, keys)
	out := e.Rows(&Node{RA: need.Of, Place: need.At})
	for s, draws := range out {
		switch {
		case draws == 0 || all == 0:
			out[s] = 0
		case keys <= 1:
			out[s] = all
		default:
			found := keys * -math.Expm1(float64(draws)*math.Log1p(-1/keys))
			found = math.Min(math.Max(found, least), math.Min(float64(draws), most))
			out[s] = int64(math.Ceil(found * (float64(all) / keys)))
		}
	}
	return out
}

// keys is how many different keys the rows have by which a partner finds them: 1 where it is not known.
func (e Even) keys(of *ra.Node, need *Need) float64 {
	all := float64(e.Count(of))
	if own, _ := need.columns(); covers(own, of.Unique) {
		return all
	}
	out := 1.0
	for _, p := range need.Pairs {
		if e.Values != nil {
			out *= math.Max(1, e.Values(of, p.Own))
		}
	}
	return math.Min(math.Round(out), all)
}

// bounds are how many of a partner's keys a site finds at least, if it has so many rows, and at most. Where the keys
// are what the partner is spread by each has its place at one site. Rows that lie together, for they are equal in these
// columns, have different keys if both tell the rows apart. Of all combinations of values the hash spreads neighbours,
// so that rows at a site have different values of each column.
func (e Even) bounds(need *Need, keys float64) (least, most float64) {
	at, of := need.At, &Node{RA: need.Of, Place: need.At}
	_, on := need.columns()
	spread := slices.Concat(at.By...)
	if most = keys; at.Kind == By && at.within(on) {
		most = math.Ceil(keys / float64(e.Sites))
	}
	if e.Values == nil || at.Kind != By || len(need.Of.Unique) == 0 {
		return 0, most
	}
	rows := e.Count(need.Of)
	switch {
	case covers(spread, on) && math.Round(e.cells(of)) <= float64(rows):
		return most, most
	case covers(slices.Concat(spread, on), need.Of.Unique):
		return math.Floor(float64(rows) / math.Max(1, float64(e.different(of, rows)))), most
	}
	return 0, most
}

// near estimates how many rows lie where they are needed.
func (e Even) near(n *Node) (rows int64) {
	x, at := n.Inputs[0].Place, n.Inputs[1].Place
	needed := e.Rows(n)
	meet := func(a, b Same) bool {
		return slices.ContainsFunc(pairs(n), func(p Pair) bool {
			return slices.Contains(a, p.Own) && slices.Contains(b, p.Partner)
		})
	}
	together := x.Kind == By && at.Kind == By && x.Fn.Equal(at.Fn) && slices.EqualFunc(x.By, at.By, meet)
	switch {
	case x.Kind == Single:
		return needed[x.Site]
	case together:
		return total(needed)
	}
	return total(needed) / int64(e.Sites)
}

// total adds rows up.
func total(at []int64) (all int64) {
	for _, rows := range at {
		all += rows
	}
	return all
}

// sharedHalos lets a relation lie where a partner needs it, if several joins read it there: the halo is then sent once
// for all of them.
func (s *search) sharedHalos() {
	readers := map[*vertex][]int{}
	for _, v := range s.order {
		for slot, in := range v.in {
			var own []int // of this reader
			for _, m := range v.modes {
				if p := m.in[slot]; in.at(p).Kind == Needed && !slices.Contains(own, p) {
					own = append(own, p)
				}
			}
			for _, p := range own {
				if slices.Contains(readers[in], p) && !slices.Contains(in.states, p) {
					in.states = append(in.states, p)
				}
			}
			readers[in] = append(readers[in], own...)
		}
	}
}

// whole is where other readers find the rows of a relation of which a halo has been sent: a table lies where it is
// stored, too.
func (v *vertex) whole(p int) int {
	if v.at(p).Kind == Needed && len(v.in) == 0 {
		return v.stored
	}
	return p
}

// fewer reports whether by a tenth fewer rows are needed than all sites, or the partner's one, would have otherwise.
// Where each key of several rows has its place at one site, a SHUF brings nearly the same.
func (s *search) fewer(of *vertex, needed int) bool {
	out, known := of.few[needed]
	if !known {
		all, to := s.stats.Rows(of.places[everywhere]), of.places[needed]
		at := to.Place.Need.At
		if at.Kind == Single {
			all = all[:1]
		}
		own, on := to.Place.Need.columns()
		shuffled := at.Kind == By && at.within(on) && !covers(own, of.relation.Unique)
		out = !shuffled && total(s.stats.Rows(to)) <= total(all)/10*9
		of.few[needed] = out
	}
	return out
}
