package physical

import (
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestBalance: ranges spread values evenly, up to those of one value; a bound is the least value of its site. NULLs do
// not count.
func TestBalance(t *testing.T) {
	for _, c := range []struct {
		values []int64
		sites  int
		from   []int64
	}{
		{[]int64{0, 1, 2, 3, 4, 5, 6, 7}, 4, []int64{2, 4, 6}},
		{[]int64{7, 7, 7, 7, 7, 7, 0, 9}, 4, []int64{7, 7, 7}},
		{[]int64{5, -3, 40}, 3, []int64{5, 40}},
		{nil, 3, []int64{0, 0}},
	} {
		v := column.New(kernels.Type{Kind: kernels.Int}, len(c.values)+1)
		copy(v.I64(), c.values)
		v.SetNull(len(c.values))
		f := balance([]*column.Column{v}, c.sites)
		if !f.Equal(Function{Kind: Ranges, From: c.from}) {
			t.Errorf("%v over %d sites: %v, not %v", c.values, c.sites, f.From, c.from)
		}
		for s, from := range c.from {
			if at := f.Site([]kernels.Value{kernels.IntValue(from)}, c.sites); at <= s {
				t.Errorf("%v: the least value of site %d lies at %d", c.from, s+1, at)
			}
			if at := f.Site([]kernels.Value{kernels.IntValue(from - 1)}, c.sites); at > s {
				t.Errorf("%v: what is below the least value of site %d lies at %d", c.from, s+1, at)
			}
		}
	}
}

// read reads the columns of a hand.
func (h *hand) read(t *ra.Table, col int) *column.Column { return h.data[t.Name][col] }

// TestMeasured: of tables that can be read it is known how many rows lie where, how many rows a site needs of another
// table, how many stay when they are spread by another column, and how many parts of sums there are.
func TestMeasured(t *testing.T) {
	for _, sites := range counts[1:] {
		h := newHand(t, sites, map[string]int64{"j": 90, "k": 90})
		h.draw = rand.New(rand.NewSource(int64(sites)))
		e, x := h.edges("e", 200, 80), h.scan("x", "j", "", 2)
		near := Function{Kind: Ranges}
		for s := range sites - 1 {
			near.From = append(near.From, int64((s+1)*80/sites))
		}
		j, k := h.col(e.RA, "j"), h.col(e.RA, "k")
		for _, fn := range []Function{{}, near} {
			by := func(of *Node, id ra.ColumnID) *Node {
				return h.placed(&Node{Op: Shuf, By: []ra.ColumnID{id}, Fn: fn, Inputs: []*Node{of}})
			}
			byK := by(e, k)
			byJ, own := by(byK, j), by(x, h.col(x.RA, "j"))
			halo := h.halo(own, byK, "j")
			p := h.plan(h.join("id j k", "", halo, byK), byJ)
			r, err := run(t.Context(), p, h, nil)
			must(t, err)
			rows := map[*ra.Node]int64{e.RA: 200, x.RA: 90}
			stats := newMeasured(Even{Sites: sites, Count: func(n *ra.Node) int64 { return rows[n] }}, h.read)
			for _, n := range []*Node{e, byK, byJ, own, halo} {
				for s, real := range r.Rows(n) {
					if guess := stats.Rows(n)[s]; guess != real {
						t.Errorf("%d sites, %v: site %d has %d rows of %v %v, not %d", sites, fn, s, real, n, n.Place, guess)
					}
				}
			}
			for _, n := range []*Node{byK, byJ, halo} {
				if guess, real := Crossing(n, stats), Crossing(n, r); guess != real {
					t.Errorf("%d sites, %v: %d rows cross in %v to %v, not %d", sites, fn, real, n, n.Place, guess)
				}
			}
		}
	}
}

// chainOf is the plan of a sum by k over edges from j to k between neighbours and vertices j, and of the same of its
// result.
func chainOf(h *hand) *ra.Plan {
	e, x := h.edges("e", 400, 400), h.scan("x", "j", "", 4)
	for r := range 400 {
		e := h.data["e"]
		e[1].I64()[r] = int64(r)
		e[2].I64()[r] = int64((r + 1) % 400)
		for _, c := range e[1:] {
			c.SetValid(nil)
		}
	}
	sum := h.sumRA(h.joinRA("id k", "", x.RA, e.RA), "k", ra.Sum)
	l, r := kernels.Col{ID: sum.Cols[0].ID}, kernels.Col{Input: 1, ID: e.RA.Cols[1].ID}
	next := h.b.Join([]*ra.Node{sum, e.RA}, []ra.Equi{{L: l, R: r}}, nil, []ra.OutCol{
		{Name: "k", X: e.RA.Var(1, e.RA.Cols[2].ID)}, {Name: "id", X: e.RA.Var(1, e.RA.Cols[0].ID)},
		{Name: "v", X: sum.Var(0, sum.Cols[1].ID)}})
	z := h.sumRA(next, "k", ra.Sum)
	return &ra.Plan{Roots: []ra.Root{{Name: "z", Node: z, Cols: []ra.ColumnID{z.Cols[0].ID, z.Cols[1].ID}}}}
}

// TestRanges: where ends of edges are near each other, ranges are chosen, the same for all columns that are joined, and
// less moves than by hash; the result is the same.
func TestRanges(t *testing.T) {
	for _, sites := range []int{2, 3, 8} {
		h := newHand(t, sites, map[string]int64{"j": 399, "k": 399})
		h.draw = rand.New(rand.NewSource(1))
		p := chainOf(h)
		on := Sites{N: sites, Result: func(_ int, of *ra.Node) (Placement, bool) {
			return Spread(Function{}, of.Cols[0].ID), true
		}}
		costs := Costs{Least: ExactFloats}
		hash, err := Choose(t.Context(), p, on, costs)
		must(t, err)
		on.Read = h.read
		found, err := Choose(t.Context(), p, on, costs)
		must(t, err)
		must(t, Validate(found.Plan))
		floats := func(c *Choice) (out int64) {
			r, err := run(t.Context(), c.Plan, h, nil)
			must(t, err)
			for _, moved := range r.moved {
				out += moved
			}
			return out
		}
		if by, before := floats(found), floats(hash); by*5 > before*4 {
			t.Errorf("%d sites: %d floats move by ranges, %d by hash\n%s", sites, by, before, found.Plan.Format())
		}
		for _, n := range found.Plan.Nodes() {
			if n.Place.Kind == By && len(n.Place.By) == 1 && n.Relation().Table == nil && n.Place.Fn.Kind != Ranges {
				t.Errorf("%d sites: rows of %v are %v", sites, n, n.Place)
			}
		}
	}
}

// TestClasses: columns that are passed on, equated, or the same of a table, are spread alike; others are not.
func TestClasses(t *testing.T) {
	h := newHand(t, 2, map[string]int64{"j": 399, "k": 399, "i": 5})
	h.draw = rand.New(rand.NewSource(1))
	p := chainOf(h)
	c, z := classesOf(p), p.Roots[0].Node
	sum, e := z.Inputs[0].Inputs[0], z.Inputs[0].Inputs[1]
	x := sum.Inputs[0].Inputs[0]
	for _, id := range []ra.ColumnID{z.Cols[0].ID, sum.Cols[0].ID, x.Cols[0].ID, e.Cols[2].ID} {
		if c.of(id) != c.of(e.Cols[1].ID) {
			t.Errorf("column %d is in another class than %d", id, e.Cols[1].ID)
		}
	}
	if c.of(e.Cols[0].ID) == c.of(e.Cols[1].ID) || c.of(z.Cols[1].ID) == c.of(e.Cols[1].ID) {
		t.Error("columns that do not meet are in one class")
	}
}
