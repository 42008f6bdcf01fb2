package physical

import (
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// mode is a way to run an operator: where its inputs must lie, and where its rows lie then, by numbers of placements.
type mode struct {
	in    []int
	parts bool  // Σ has parts at each site first
	out   int   // of parts: where they come together
	cost  int64 // of its work, and of moving the parts
}

// most are the placements by columns that are tried of one relation.
const most = 6

// mostUnions are the ways to read the inputs of a union as they lie that are tried.
const mostUnions = 256

// wanted lists, for each relation, columns by which some reader would have it spread, readers of results included.
func wanted(order []*ra.Node, roots []Root) map[*ra.Node][][]ra.ColumnID {
	out := map[*ra.Node][][]ra.ColumnID{}
	want := func(n *ra.Node, by []ra.ColumnID) {
		dependent := func(id ra.ColumnID) bool { return n.Col(id) == nil || n.Col(id).Dep }
		known := func(o []ra.ColumnID) bool { return slices.Equal(o, by) }
		if len(by) > 0 && len(out[n]) < most && !slices.ContainsFunc(by, dependent) && !slices.ContainsFunc(out[n], known) {
			out[n] = append(out[n], by)
		}
	}
	for _, r := range roots {
		want(r.Node.Relation(), lists.Map(r.Place.By, func(s Same) ra.ColumnID { return s[0] }))
	}
	for _, n := range slices.Backward(order) { // readers first
		for slot, in := range n.Inputs {
			switch n.Op {
			case ra.Aggregate:
				want(in, n.Group)
				for _, g := range n.Group {
					want(in, []ra.ColumnID{g})
				}
			case ra.Window:
				want(in, n.Over.Partition)
				for _, g := range n.Over.Partition {
					want(in, []ra.ColumnID{g})
				}
			case ra.Join, ra.SemiJoin, ra.AntiJoin:
				for _, by := range joint(n) {
					if by[slot] != nil {
						want(in, by[slot])
					}
				}
			case ra.Add:
				want(in, byPosition(n, slot, n.Key))
			}
			for _, by := range out[n] {
				if down, ok := below(n, slot, by); ok {
					want(in, down)
				}
			}
		}
	}
	return out
}

// below finds the columns of an input that columns of n are.
func below(n *ra.Node, slot int, by []ra.ColumnID) (out []ra.ColumnID, ok bool) {
	for _, id := range by {
		i := n.Index(id)
		switch {
		case n.Op == ra.Aggregate && i < len(n.Group):
			out = append(out, n.Group[i])
		case n.Op == ra.Window && i < len(n.Over.Pass):
			out = append(out, n.Over.Pass[i])
		case n.Out != nil && n.Out[i].IsCol && n.Out[i].Col.Input == slot:
			out = append(out, n.Out[i].Col.ID)
		case n.Op == ra.Union || n.Op == ra.Add || (n.Op == ra.SemiJoin || n.Op == ra.AntiJoin) && slot == 0:
			out = append(out, n.Inputs[slot].Cols[i].ID)
		default:
			return nil, false
		}
	}
	return out, true
}

// joint lists the ways to spread inputs of a join so that rows that meet lie together: by the columns of each
// condition, and of all conditions that reach all inputs. An input without such a column has nil.
func joint(n *ra.Node) (out [][][]ra.ColumnID) {
	together := make([][]ra.ColumnID, len(n.Inputs))
	seen := map[kernels.Col]bool{}
	for _, q := range n.Equi {
		same := n.Equated(q.L)
		if seen[q.L] || q.L.Input == q.R.Input {
			continue
		}
		by, reaches := make([][]ra.ColumnID, len(n.Inputs)), 0
		for _, c := range same {
			if seen[c] = true; by[c.Input] == nil {
				by[c.Input], reaches = []ra.ColumnID{c.ID}, reaches+1
			}
		}
		out = append(out, by)
		for i := range together {
			if reaches == len(n.Inputs) {
				together[i] = append(together[i], by[i]...)
			}
		}
	}
	if len(together[0]) > 1 {
		out = append(out, together)
	}
	return out
}

// modes lists the ways to run the operator of v.
func (s *search) modes(v *vertex) (out []mode) {
	n := v.relation
	add := func(in []int) {
		for _, in := range append([][]int{in}, s.halos(v, in)...) { // of equal costs the first is taken
			same := func(m mode) bool { return slices.Equal(m.in, in) }
			if !slices.ContainsFunc(out, same) {
				out = append(out, s.run(v, in)...)
			}
		}
	}
	every := func(p int) []int { return slices.Repeat([]int{p}, len(n.Inputs)) }
	if s.looped[n] {
		add(every(atFirst))
		return out
	}
	add(every(everywhere))
	add(every(atFirst))
	switch n.Op {
	case ra.Union, ra.Add:
		for _, by := range s.wants[n] {
			add(s.spread(v, func(slot int) []ra.ColumnID { return byPosition(n, slot, by) }))
		}
		add(s.spread(v, func(slot int) []ra.ColumnID { return byPosition(n, slot, n.Key) }))
		for _, in := range s.asTheyLie(v) {
			add(in)
		}
		return out
	case ra.Join, ra.SemiJoin, ra.AntiJoin:
		for _, by := range joint(n) {
			add(s.spread(v, func(slot int) []ra.ColumnID { return by[slot] }))
		}
	}
	for slot, in := range v.in {
		for _, p := range in.states {
			one := every(everywhere)
			one[slot] = p
			add(one)
		}
	}
	return out
}

// halos lists the ways to read inputs of a join where only the rows that another input needs are sent that would be
// replicated: all of them, and each. Where nearly all rows are needed there is none.
func (s *search) halos(v *vertex, in []int) (out [][]int) {
	n, all, found := v.relation, slices.Clone(in), 0
	for x, p := range in {
		if n.Op != ra.Join && (n.Op != ra.SemiJoin && n.Op != ra.AntiJoin || x == 0) || v.in[x].at(p).Kind != Replicated {
			continue
		}
		for e, p := range in {
			at := v.in[e].at(p)
			if e == x || !at.once() || at.Partial {
				continue
			}
			pairs := pairsOf(n, e, x)
			if len(pairs) == 0 {
				continue
			}
			if need := s.place(v.in[x], NeededBy(v.in[e].relation, at, pairs)); s.fewer(v.in[x], need) {
				one := slices.Clone(in)
				all[x], one[x] = need, need
				out, found = append(out, one), found+1
			}
			break
		}
	}
	if found > 1 {
		out = append(out, all)
	}
	return out
}

// asTheyLie lists the placements of all inputs in which each row lies once, as a union may read them; of very many
// inputs none.
func (s *search) asTheyLie(v *vertex) (out [][]int) {
	out = [][]int{nil}
	for _, in := range v.in {
		var next [][]int
		for _, before := range out {
			for _, p := range in.states {
				if in.at(p).once() && v.relation.Op == ra.Union {
					next = append(next, append(slices.Clone(before), p))
				}
			}
		}
		if out = next; len(out) > mostUnions {
			return nil
		}
	}
	return out
}

// spread places the inputs by columns, those without columns everywhere.
func (s *search) spread(v *vertex, by func(slot int) []ra.ColumnID) (out []int) {
	for i, in := range v.in {
		if ids := by(i); ids != nil {
			out = append(out, s.by(in, ids))
		} else {
			out = append(out, everywhere)
		}
	}
	return out
}

// run is what comes of placements of the inputs: nothing if the operator cannot run there, several modes where parts
// can come together at several places.
func (s *search) run(v *vertex, in []int) (out []mode) {
	local := &Node{RA: v.relation, links: v.links}
	for i, p := range in {
		local.Inputs = append(local.Inputs, v.in[i].places[p])
	}
	place, err := derive(local, s.plan.Sites)
	switch local.Place = place; {
	case err != nil || place.Partial && v.relation.Op != ra.Aggregate || s.costs.Only != "" && !s.allows(v, local):
		return nil
	case !place.Partial:
		at := s.place(v, place)
		s.stats.as(local, v.places[at], func() {
			out = []mode{{in: in, out: at, cost: s.costs.working(work(local, s.stats))}}
		})
		return out
	}
	s.stats.as(local, local, func() {
		first := s.costs.working(work(local, s.stats))
		for _, to := range s.targets(v) {
			if !v.at(to).within(v.relation.Key) {
				continue
			}
			cost := int64(impossible)
			if parts := s.exchange(v, local, to); parts != nil {
				cost = min(first+s.adding(parts, v.places[to]), impossible)
				cost = min(cost+s.paid(parts), impossible)
			}
			out = append(out, mode{in: in, parts: true, out: to, cost: cost})
		}
	})
	return out
}

// adding is what it costs to add up parts where they have come together.
func (s *search) adding(parts, to *Node) (cost int64) {
	last := &Node{RA: to.RA, Inputs: []*Node{parts}, Place: to.Place}
	s.stats.as(last, to, func() { cost = s.costs.working(work(last, s.stats)) })
	return cost
}

// targets are where a relation may be brought.
func (s *search) targets(v *vertex) []int {
	out := []int{atFirst, everywhere}
	for _, by := range s.wants[v.relation] {
		if p := s.by(v, by); v.at(p).Kind == By {
			out = append(out, p)
		}
	}
	return out
}
