package physical

import (
	"slices"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// valuesOf knows how many rows and values the tables of a hand have, and the joins of them.
func (h *hand) valuesOf(sites int) Even {
	rows := func(n *ra.Node) int64 {
		count := int64(1)
		for _, id := range n.Key {
			count *= h.lens[n.Col(id).Name]
		}
		return count
	}
	return Even{Sites: sites, Count: rows,
		Values: func(n *ra.Node, id ra.ColumnID) float64 { return float64(h.lens[n.Col(id).Name]) }}
}

// TestFewValues: rows that are spread by a column of few values lie together by value, so a site has all rows of some
// values and others have none. The hash of numbers in sequence has at most two values more at a site than are expected.
// A site has parts of those sums of which it has rows.
func TestFewValues(t *testing.T) {
	for _, sites := range []int{2, 3, 4, 7, 16} {
		for _, values := range []int64{1, 2, 3, 5, 16, 40} {
			h := newHand(t, sites, map[string]int64{"i": 6, "j": values})
			n := h.scan("x", "i j", "j", 2)
			even, keys := h.valuesOf(sites), make([]int64, values)
			for i := range keys {
				keys[i] = int64(i)
			}
			at, real := even.Rows(n), make([]int64, sites)
			for _, s := range (Function{}).Sites([]*column.Column{column.Of(kernels.Type{Kind: kernels.Int}, keys)}, sites) {
				real[s] += 6
			}
			if most := 6 * ((values + int64(sites) - 1) / int64(sites)); at[0] != most || slices.Max(real) > most+2*6 {
				t.Errorf("%d values over %d sites: %d, really %d", values, sites, at, real)
			}
			if all := total(at); all != 6*values || slices.Min(at) > 0 != (values >= int64(sites)) {
				t.Errorf("%d values over %d sites: %d", values, sites, at)
			}
			parts := h.sum(n, "i")
			for s, got := range even.Rows(parts) {
				if want := min(6, at[s]); got != want {
					t.Errorf("%d values over %d sites: site %d has %d parts, not %d", values, sites, s, got, want)
				}
			}
		}
	}
}

// TestHaloOfBlocks: of a matrix in blocks a site needs those rows of blocks that meet its own blocks of another one. It
// needs all where it has whole rows of the other.
func TestHaloOfBlocks(t *testing.T) {
	for _, k := range []struct {
		by    string
		whole bool
	}{{"i j", false}, {"j", false}, {"i", true}} {
		for _, blocks := range []int64{4, 8, 12} {
			h := newHand(t, 16, map[string]int64{"i": blocks, "j": blocks, "k": 5})
			a, b := h.scan("a", "i j", "", 2), h.scan("b", "j k", "j k", 2)
			a.Place = Spread(Function{}, h.cols(a.RA, k.by)...)
			halo := h.halo(b, a, "j")
			p := h.plan(h.join("i j k", []int{2}, halo, a))
			r, err := run(t.Context(), p, h, nil)
			must(t, err)
			even := h.valuesOf(16)
			guess, real := total(even.Rows(halo)), total(r.Rows(halo))
			if apart := float64(guess) / float64(real); apart < 0.95 || apart > 1.05 {
				t.Errorf("%d blocks by %s: %d rows are expected to be needed, %d are", blocks, k.by, guess, real)
			}
			if k.whole && guess != 5*blocks*min(16, blocks) {
				t.Errorf("%d blocks by %s: %d rows are expected to be needed, not all", blocks, k.by, guess)
			}
		}
	}
}
