package physical

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/ra"
)

// product is a plan of X·Y, of the given blocks: what Table 1 makes of the query, rewritten by rules.
func (h *hand) product(plan string, of *ra.Plan) *Plan {
	h.t.Helper()
	lies := map[string][2]string{"BMM_x": {"i j", "j"}, "BMM_x_literal": {"i j", "j"}, "BMM_x_aligned": {"i j", "k"},
		"BMM_y_aligned": {"i", "j k"}, "CMM_placed": {"j", "j"}}
	at, ok := lies[plan]
	if !ok {
		at = [2]string{"i", "k"}
	}
	p, err := Compile(of, Sites{N: h.sites, Spread: h.spread,
		Stored: func(n *ra.Node) (Placement, bool) {
			switch n.Table.Name {
			case "x":
				return h.by(n, at[0]), true
			case "y":
				return h.by(n, at[1]), true
			}
			return Everywhere(), true
		}})
	must(h.t, err)
	for _, name := range map[string][]string{"BMM_x": {"R2-5"}, "BMM_x_aligned": {"R2-4"},
		"BMM_y_aligned": {"R2-6 first", "R2-4"}, "CMM_literal": {"R2-6 shuffle"}, "CMM": {"R2-6 shuffle", "R2-5"},
		"CMM_placed": {"R2-6 shuffle", "R2-1", "R2-5"}, "RMM": {"R2-7"}, "RMM3D": {"R2-6 shuffle", "R2-5"}}[plan] {
		p = h.apply(p, name)
	}
	return p
}

// apply applies a rule to the product, which must fire: of the joins to the last one, that of X and Y.
func (h *hand) apply(p *Plan, name string) *Plan {
	h.t.Helper()
	rules := Rules()
	r := rules[slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })]
	fired := false
	for i := len(p.Nodes()) - 1; i >= 0; i-- {
		out, ok := r.Apply(p, p.Nodes()[i])
		if p, fired = out, fired || ok; ok && name == "R2-1" { // the other side's, too
			i = len(p.Nodes())
		} else if ok {
			break
		}
	}
	if !fired {
		h.t.Fatalf("%s does not fire:\n%s", name, p.Format())
	}
	return p
}

// query is Σ over j of X[i,j]·Y[j,k]. For RMM and RMM3D the rows of X are copied for each k before, those of Y for
// each i: λ whose keys multiply are joins with the numbers of the blocks, which every site knows.
func (h *hand) query(plan string, size [3]int, x, y func(row int) []float64) *ra.Plan {
	left, right := h.table("x", "i j", []int{size[0], size[1]}, x), h.table("y", "j k", []int{size[1], size[2]}, y)
	if strings.HasPrefix(plan, "RMM") {
		left = h.joinRA("i j k", "", h.table("ks", "k", nil, nil), left)
		right = h.joinRA("i j k", "", h.table("is", "i", nil, nil), right)
	}
	z := h.sumRA(h.joinRA("i j k", "matmul", left, right), "i k", ra.Sum)
	return &ra.Plan{Roots: []ra.Root{{Name: "z", Node: z, Cols: h.cols(z, "i k v")}}}
}

// TestProducts: each way of multiplying matrices gives the product, exactly, over any number of sites.
func TestProducts(t *testing.T) {
	x := func(row int) []float64 { return integers(7, 3, 11, row) }
	y := func(row int) []float64 { return integers(5, 1, 13, row) }
	for _, plan := range []string{"BMM_x_literal", "BMM_x", "BMM_x_aligned", "BMM_y_aligned", "CMM_literal", "CMM",
		"CMM_placed", "RMM", "RMM3D"} {
		for _, sites := range counts {
			for _, blocks := range [][3]int64{{4, 4, 4}, {3, 2, 5}, {1, 7, 2}} {
				t.Run(fmt.Sprint(plan, sites, blocks), func(t *testing.T) {
					h := newHand(t, sites, map[string]int64{"i": blocks[0], "j": blocks[1], "k": blocks[2]})
					of := h.query(plan, [3]int{2, 2, 2}, x, y)
					p := h.product(plan, of)
					must(t, same(t.Context(), p, of, h, nil, 0))
					if name := product(p.Roots[0].Node.bare()); sites > 1 && name != plan[:3] {
						t.Errorf("it is called %q\n%s", name, p.Format())
					}
				})
			}
		}
	}
}

// TestProductByBatch: Σ over j of X[i,j]·Y[i,j] has i in both operands, so rows that lie by i meet and none is copied.
func TestProductByBatch(t *testing.T) {
	for by, want := range map[string]string{"i": "", "j": "CMM"} {
		h := newHand(t, 3, map[string]int64{"i": 4, "j": 5})
		z := h.join("i j", "matmul", h.scan("x", "i j", by, 2, 2), h.scan("y", "i j", by, 2, 2))
		if by == "j" {
			z = h.shuf(z, "i")
		}
		if name := product(h.sum(z, "i")); name != want {
			t.Errorf("by %s it is called %q, not %q", by, name, want)
		}
	}
}

// integers are four small numbers for a row.
func integers(a, b, m, row int) []float64 {
	out := make([]float64, 4)
	for i := range out {
		out[i] = float64((a*(4*row+i)+b)%m - m/2)
	}
	return out
}
