package physical

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// of makes a selection: the keys, which may be shifted by 1, so many copies of v, and the rows whose key is not 1.
func (h *hand) of(in *Node, keys string, copies int, but string) *Node {
	h.t.Helper()
	one := kernels.Const(kernels.IntValue(1))
	var out []ra.OutCol
	for _, k := range strings.Fields(keys) {
		x := in.Relation().Var(0, h.col(in.Relation(), strings.TrimSuffix(k, "+1")))
		if strings.HasSuffix(k, "+1") {
			x = kernels.Add(x, one)
		}
		out = append(out, ra.OutCol{Name: strings.TrimSuffix(k, "+1"), X: x})
	}
	v := in.Relation().Var(0, h.col(in.Relation(), "v"))
	for i := range copies {
		out = append(out, ra.OutCol{Name: "v" + strings.Repeat("'", i), X: v})
		if i > 0 {
			out[len(out)-1].X = kernels.Add(v, v)
		}
	}
	var pred []*kernels.Expr
	if but != "" {
		x, err := kernels.Call(kernels.Lookup("ne"), kernels.Attr{}, in.Relation().Var(0, h.col(in.Relation(), but)), one)
		must(h.t, err)
		pred = append(pred, x)
	}
	n := h.b.Select(in.Relation(), pred, out)
	if strings.Contains(keys, "+1") { // the keys are mapped one to one: those of before need not be passed
		n.Cols, n.Out = n.Cols[:len(out)], n.Out[:len(out)]
		n.Key = h.cols(n, strings.ReplaceAll(keys, "+1", ""))
		n.Unique, n.Fixed, n.Least = n.Key, nil, nil
	}
	return h.placed(&Node{RA: n, Inputs: []*Node{in}})
}

func (h *hand) semi(op ra.Op, l, r *Node, on string) *Node {
	h.t.Helper()
	equi := []ra.Equi{{L: kernels.Col{ID: h.col(l.Relation(), on)}, R: kernels.Col{Input: 1, ID: h.col(r.Relation(), on)}}}
	return h.placed(&Node{RA: h.b.Semi(op, l.Relation(), r.Relation(), equi, nil), Inputs: []*Node{l, r}})
}

// ruleCases are plans at whose marked node a rule fires, or must not.
var ruleCases = []struct {
	rule, what string
	fires      bool
	plan       func(h *hand) (results []*Node, at *Node)
}{
	{"R2-1", "two shuffles", true, func(h *hand) ([]*Node, *Node) {
		x := h.shuf(h.shuf(h.scan("x", "i j", "", 2), "i"), "j")
		return []*Node{x}, x
	}},
	{"R2-1", "a shuffle of what lies so", true, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.shuf(h.scan("x", "i j", "i", 2), "i"), "i j")
		return []*Node{z}, z
	}},
	{"R2-1", "two exchanges of parts", false, func(h *hand) ([]*Node, *Node) {
		x := h.shuf(h.bcast(h.sum(h.scan("x", "i j", "i", 2), "j")), "j")
		return []*Node{h.sum(x, "j")}, x
	}},
	{"R2-2", "a selection of shuffled rows", true, func(h *hand) ([]*Node, *Node) {
		x := h.of(h.shuf(h.scan("x", "i j", "i", 2), "j"), "i j", 1, "i")
		return []*Node{x}, x
	}},
	{"R2-2", "a selection that computes", false, func(h *hand) ([]*Node, *Node) {
		x := h.of(h.shuf(h.scan("x", "i j", "i", 2), "j"), "i j", 2, "i")
		return []*Node{x}, x
	}},
	{"R2-2", "others read the moved rows", false, func(h *hand) ([]*Node, *Node) {
		moved := h.shuf(h.scan("x", "i j", "i", 2), "j")
		x := h.of(moved, "i j", 1, "i")
		return []*Node{x, h.sum(moved, "j")}, x
	}},
	{"R2-3 up", "an exchange by a key that stays", true, func(h *hand) ([]*Node, *Node) {
		x := h.of(h.shuf(h.scan("x", "i j", "i", 2), "j"), "i+1 j", 1, "")
		return []*Node{x}, x
	}},
	{"R2-3 up", "a broadcast, whatever becomes of the keys", true, func(h *hand) ([]*Node, *Node) {
		x := h.of(h.bcast(h.scan("x", "i j", "i", 2)), "i+1 j+1", 1, "")
		return []*Node{x}, x
	}},
	{"R2-3 up", "a shuffle by a key that is computed", false, func(h *hand) ([]*Node, *Node) {
		x := h.of(h.shuf(h.scan("x", "i j", "i", 2), "j"), "i j+1", 1, "")
		return []*Node{x}, x
	}},
	{"R2-3 up", "wider rows", false, func(h *hand) ([]*Node, *Node) {
		x := h.of(h.shuf(h.scan("x", "i j", "i", 2), "j"), "i j", 2, "")
		return []*Node{x}, x
	}},
	{"R2-3 down", "wider rows", true, func(h *hand) ([]*Node, *Node) {
		x := h.shuf(h.of(h.scan("x", "i j", "i", 2), "i j", 2, ""), "j")
		return []*Node{x}, x
	}},
	{"R2-3 down", "a shuffle by a key that is computed", false, func(h *hand) ([]*Node, *Node) {
		x := h.shuf(h.of(h.scan("x", "i j", "i", 2), "i j+1", 2, ""), "j")
		return []*Node{x}, x
	}},
	{"R2-4", "rows lie by a column of the group", true, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.shuf(h.scan("x", "i j", "i", 2), "i j"), "i j")
		return []*Node{z}, z
	}},
	// TRA 2020 asks only that the columns of the SHUF be among the group, which they are.
	{"R2-4", "rows lie by another column", false, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.shuf(h.scan("x", "i j", "j", 2), "i"), "i")
		return []*Node{z}, z
	}},
	{"R2-5", "rows lie by another column", true, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.shuf(h.scan("x", "i j", "j", 2), "i"), "i")
		return []*Node{z}, z
	}},
	{"R2-5", "a sum of all rows", true, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.gather(h.scan("x", "i j", "j", 2)), "")
		return []*Node{z}, z
	}},
	// TRA 2020 asks that the group be a part of the SHUF's columns, which it is: groups would stay in parts.
	{"R2-5", "rows are shuffled by more than the group", false, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.shuf(h.scan("x", "i j", "j", 2), "i j"), "i")
		return []*Node{h.sum(h.gather(z), "i")}, z
	}},
	{"R2-5", "groups are whole already", false, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.shuf(h.scan("x", "i j", "i", 2), "i"), "i")
		return []*Node{z}, z
	}},
	{"R2-5", "rows are parts already", false, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.shuf(h.sum(h.scan("x", "i j", "j", 2), "i"), "i"), "i")
		return []*Node{z}, z
	}},
	{"R2-5", "each site has all rows", false, func(h *hand) ([]*Node, *Node) {
		z := h.sum(h.shuf(h.scan("x", "i j", "*", 2), "i"), "i")
		return []*Node{z}, z
	}},
	{"R2-6 last", "shuffled inputs", true, func(h *hand) ([]*Node, *Node) {
		z := h.join("i j", "mul", h.shuf(h.scan("x", "i j", "i", 2), "j"), h.shuf(h.scan("y", "j", "", 2), "j"))
		return []*Node{z}, z
	}},
	{"R2-6 last", "the last input is replicated", false, func(h *hand) ([]*Node, *Node) {
		z := h.join("i j", "mul", h.scan("x", "i j", "i", 2), h.scan("y", "j", "*", 2))
		return []*Node{z}, z
	}},
	{"R2-6 last", "no equality", false, func(h *hand) ([]*Node, *Node) {
		z := h.join("i j", "mul", h.scan("x", "i", "i", 2), h.bcast(h.scan("y", "j", "j", 2)))
		return []*Node{z}, z
	}},
	{"R2-6 last", "a semi-join", false, func(h *hand) ([]*Node, *Node) {
		z := h.semi(ra.SemiJoin, h.scan("x", "i j", "j", 2), h.scan("y", "j", "j", 2), "j")
		return []*Node{z}, z
	}},
	{"R2-6 first", "shuffled inputs", true, func(h *hand) ([]*Node, *Node) {
		z := h.join("i j", "mul", h.shuf(h.scan("x", "i j", "i", 2), "j"), h.shuf(h.scan("y", "j", "", 2), "j"))
		return []*Node{z}, z
	}},
	{"R2-6 first", "an anti-join", true, func(h *hand) ([]*Node, *Node) {
		z := h.semi(ra.AntiJoin, h.shuf(h.scan("x", "i j", "i", 2), "j"), h.of(h.scan("y", "j", "j", 2), "j", 1, "j"), "j")
		return []*Node{z}, z
	}},
	{"R2-6 first", "the first input is replicated", false, func(h *hand) ([]*Node, *Node) {
		z := h.join("i j", "mul", h.scan("x", "i j", "*", 2), h.scan("y", "j", "j", 2))
		return []*Node{z}, z
	}},
	{"R2-6 shuffle", "a broadcast input", true, func(h *hand) ([]*Node, *Node) {
		z := h.join("i j", "mul", h.bcast(h.scan("x", "i j", "i", 2)), h.scan("y", "j", "", 2))
		return []*Node{z}, z
	}},
	{"R2-6 shuffle", "no equality", false, func(h *hand) ([]*Node, *Node) {
		z := h.join("i j", "mul", h.scan("x", "i", "i", 2), h.bcast(h.scan("y", "j", "j", 2)))
		return []*Node{z}, z
	}},
	{"R2-7", "the column is joined", true, func(h *hand) ([]*Node, *Node) {
		z := h.shuf(h.join("i j", "mul", h.bcast(h.scan("x", "i j", "i", 2)), h.scan("y", "j", "", 2)), "j")
		return []*Node{z}, z
	}},
	{"R2-7", "a column of one side", false, func(h *hand) ([]*Node, *Node) {
		z := h.shuf(h.join("i j", "mul", h.bcast(h.scan("x", "i j", "i", 2)), h.scan("y", "j", "", 2)), "i")
		return []*Node{z}, z
	}},
	{"R2-7", "others read the join", false, func(h *hand) ([]*Node, *Node) {
		z := h.join("i j", "mul", h.bcast(h.scan("x", "i j", "i", 2)), h.scan("y", "j", "j", 2))
		x := h.shuf(z, "j")
		return []*Node{x, h.sum(z, "j")}, x
	}},
}

// TestRules: each rule fires where it should and nowhere else, and the result stays the same over any number of sites.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range ruleCases {
		seen[fmt.Sprint(c.rule, c.fires)] = true
		for _, sites := range counts {
			t.Run(fmt.Sprintf("%s/%s/%d", c.rule, c.what, sites), func(t *testing.T) {
				h := newHand(t, sites, map[string]int64{"i": 5, "j": 3})
				h.draw = rand.New(rand.NewSource(int64(sites)))
				results, at := c.plan(h)
				p := h.plan(results...)
				must(t, same(t.Context(), p, p.Logical(), h, nil, 0))
				rule := Rules()[slices.IndexFunc(Rules(), func(r Rule) bool { return r.Name == c.rule })]
				before := p.Format()
				q, fired := rule.Apply(p, at)
				if p.Format() != before {
					t.Errorf("the plan has changed:\n%s\nwas\n%s", p.Format(), before)
				}
				if fired != c.fires {
					t.Fatalf("fires: %v\n%s", fired, q.Format())
				}
				must(t, same(t.Context(), q, p.Logical(), h, nil, 0))
				if fired && q.Format() == before {
					t.Errorf("nothing has changed:\n%s", before)
				}
			})
		}
	}
	for _, r := range Rules() {
		if !seen[fmt.Sprint(r.Name, true)] || !seen[fmt.Sprint(r.Name, false)] || r.Doc == "" {
			t.Errorf("%s has no case in which it fires, or none in which it must not, or no documentation", r.Name)
		}
	}
}
