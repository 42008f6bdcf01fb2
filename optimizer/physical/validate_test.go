package physical

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/ra"
)

// refusals are plans that read rows as what they are not, with a part of the error.
var refusals = []struct {
	what, err string
	plan      func(h *hand) *Plan
}{
	{"Σ counts replicas", "the rows of Aggregate are replicated, not partial(sum; anywhere)", func(h *hand) *Plan {
		z := h.sum(h.bcast(h.scan("x", "i", "i", 2)), "")
		z.Place = Placement{Kind: Anywhere, Partial: true, Sums: sums(z.RA)}
		return raw(h, h.sum(h.gather(z), ""))
	}},
	{"replicas are read as rows that lie once", "BCAST are replicated, not by(1; grid 5)", func(h *hand) *Plan {
		x := h.bcast(h.scan("x", "i", "i", 2))
		x.Place = x.Inputs[0].Place
		return raw(h, h.gather(x))
	}},
	{"a result is partial", "before its parts are added up", func(h *hand) *Plan {
		return raw(h, h.gather(h.sum(h.scan("x", "i j", "i", 2), "j")))
	}},
	{"a result is spread", "is read at single(0), but its rows are by(1; grid 5)", func(h *hand) *Plan {
		return raw(h, h.scan("x", "i", "i", 2))
	}},
	{"a result is replicated", "is read at single(0), but its rows are replicated", func(h *hand) *Plan {
		return raw(h, h.bcast(h.scan("x", "i", "i", 2)))
	}},
	{"parts at one site are read as sums", "as if they were sums: it computes with them", func(h *hand) *Plan {
		parts := h.gather(h.sum(h.scan("x", "i j", "i", 2), "j"))
		return raw(h, h.of(parts, "j", 2, ""))
	}},
	{"max of sums", "max is not the ⊕ of what it reads", func(h *hand) *Plan {
		parts := h.gather(h.sum(h.scan("x", "i j", "i", 2), "j"))
		return raw(h, h.agg(parts, "", ra.Max))
	}},
	{"parts are counted", "count is not the ⊕ of what it reads", func(h *hand) *Plan {
		parts := h.gather(h.sum(h.scan("x", "i j", "i", 2), "j"))
		return raw(h, h.agg(parts, "", ra.Count))
	}},
	{"parts are joined", "it is not linear in them", func(h *hand) *Plan {
		parts := h.sum(h.scan("x", "i j", "i", 2), "j")
		return raw(h, h.join("j", "mul", parts, h.scan("y", "j", "*", 2)))
	}},
	{"parts are partners", "it is not linear in them", func(h *hand) *Plan {
		parts := h.bcast(h.sum(h.scan("x", "i j", "i", 2), "j"))
		return raw(h, h.semi(ra.SemiJoin, h.scan("y", "j", "j", 2), parts, "j"))
	}},
	{"rows that meet lie apart", "as if rows that meet lay at one site", func(h *hand) *Plan {
		return raw(h, h.join("i j", "mul", h.scan("x", "i j", "i", 2), h.scan("y", "j", "j", 2)))
	}},
	{"rows are spread by other functions", "as if rows that meet lay at one site", func(h *hand) *Plan {
		x := h.scan("x", "i j", "j", 2)
		x.Place.Fn = Function{}
		y := h.scan("y", "j", "j", 2)
		return raw(h, h.join("i j", "mul", x, y))
	}},
	{"rows are spread alike by their first column", "as if rows that meet lay at one site", func(h *hand) *Plan {
		x := h.scan("x", "i j", "i j", 2)
		y := h.scan("y", "i j k", "i k", 2)
		return raw(h, h.join("i j k", "mul", x, y))
	}},
	{"two sites", "as if rows that meet lay at one site", func(h *hand) *Plan {
		x, y := h.scan("x", "i j", "", 2), h.scan("y", "j", "", 2)
		y.Place.Site = 1
		return raw(h, h.join("i j", "mul", x, y))
	}},
	{"a replica sees some partners", "as if rows that meet lay at one site", func(h *hand) *Plan {
		x := h.scan("x", "i j", "*", 2)
		return raw(h, h.semi(ra.SemiJoin, x, h.scan("y", "j", "j", 2), "j"))
	}},
	{"a row sees some partners", "as if rows that meet lay at one site", func(h *hand) *Plan {
		x := h.scan("x", "i j", "i", 2)
		return raw(h, h.semi(ra.AntiJoin, x, h.scan("y", "j", "j", 2), "j"))
	}},
	{"replicas are united with rows that lie once", "as if it lay as input 0", func(h *hand) *Plan {
		x := h.scan("x", "i", "*", 2)
		return raw(h, h.union(x, h.scan("y", "i", "i", 2)))
	}},
	{"replicas are added to rows that lie once", "as if it lay as input 0", func(h *hand) *Plan {
		x := h.scan("x", "i", "*", 2)
		return raw(h, h.add(x, h.scan("y", "i", "i", 2)))
	}},
	{"parts that have been moved are added", "the parts have been moved", func(h *hand) *Plan {
		parts := h.shuf(h.sum(h.scan("x", "i j", "i", 2), "j"), "j")
		return raw(h, h.add(parts, h.scan("y", "j", "j", 2)))
	}},
	{"replicas are added to parts", "another summand is replicated", func(h *hand) *Plan {
		parts := h.sum(h.scan("x", "i j", "i", 2), "j")
		return raw(h, h.add(parts, h.scan("y", "j", "*", 2)))
	}},
	{"greatest parts are added", "their ⊕ is no sum", func(h *hand) *Plan {
		parts := h.agg(h.scan("x", "i j", "i", 2), "j", ra.Max)
		return raw(h, h.add(parts, h.scan("y", "j", "j", 2)))
	}},
	{"parts are spread by themselves", "spread by column 5, which is none of their identity", func(h *hand) *Plan {
		parts := h.agg(h.scan("x", "i j", "i", 2), "j", ra.Count)
		return raw(h, h.agg(h.shuf(parts, "v"), "j", ra.Sum))
	}},
	{"an operator reads another relation", "holds another relation", func(h *hand) *Plan {
		z := h.sum(h.scan("x", "i", "", 2), "")
		z.Inputs[0] = h.scan("y", "i", "", 2)
		return raw(h, z)
	}},
	{"stored parts", "stored in parts", func(h *hand) *Plan {
		x := h.scan("x", "i", "", 2)
		x.Place.Partial = true
		return raw(h, x)
	}},
	{"no such site", "there is no site 3 of 3", func(h *hand) *Plan {
		x := h.gather(h.scan("x", "i", "i", 2))
		x.Site, x.Place.Site = 3, 3
		return raw(h, x)
	}},
	{"no such column", "cannot be spread by column 99", func(h *hand) *Plan {
		x := h.shuf(h.scan("x", "i", "", 2), "i")
		x.By[0] = 99
		return raw(h, h.gather(x))
	}},
	{"a grid of chunks", "a grid of [2] does not spread", func(h *hand) *Plan {
		x := h.scan("x", "i", "", 2)
		x.Place = Spread(Function{Kind: Grid, Lens: []int64{2}}, h.col(x.RA, "v"))
		return raw(h, h.gather(x))
	}},
	{"too few ranges", "ranges from [4] do not spread", func(h *hand) *Plan {
		x := h.scan("x", "i", "", 2)
		x.Place = Spread(Function{Kind: Ranges, From: []int64{4}}, h.col(x.RA, "i"))
		return raw(h, h.gather(x))
	}},
	{"spread by nothing", "spread by no column", func(h *hand) *Plan {
		x := h.scan("x", "i", "", 2)
		x.Place = Placement{Kind: By}
		return raw(h, h.gather(x))
	}},
}

// raw is a plan that nobody has checked.
func raw(h *hand, root *Node) *Plan {
	return &Plan{Sites: h.sites, Spread: h.spread, Roots: []Root{{Name: "z", Node: root}}}
}

func (h *hand) agg(in *Node, keys string, fn ra.AggFn) *Node {
	h.t.Helper()
	return h.placed(&Node{RA: h.sumRA(in.Relation(), keys, fn), Inputs: []*Node{in}})
}

func (h *hand) add(inputs ...*Node) *Node {
	h.t.Helper()
	return h.placed(&Node{RA: h.b.Add(relations(inputs), 1), Inputs: inputs})
}

// union is a union whose branches are selections of the inputs.
func (h *hand) union(inputs ...*Node) *Node {
	h.t.Helper()
	n := &Node{RA: h.b.Union(relations(inputs), 2)}
	for i, in := range inputs {
		n.Inputs = append(n.Inputs, h.placed(&Node{RA: n.RA.Inputs[i], Inputs: []*Node{in}}))
	}
	return h.placed(n)
}

func relations(of []*Node) (out []*ra.Node) {
	for _, n := range of {
		out = append(out, n.Relation())
	}
	return out
}

// TestValidate: a plan that reads what is replicated or partial as if it were neither is refused, and so is one that
// hangs together no more.
func TestValidate(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.what, func(t *testing.T) {
			h := newHand(t, 3, map[string]int64{"i": 5, "j": 3, "k": 3, "v": 2})
			h.lax = true
			if err := Validate(c.plan(h)); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("the error is %v, not %s", err, c.err)
			}
		})
	}
}

// TestPartsPass: what is linear in parts may read them: selections that do not look at them, sums of gradients, and the
// same ⊕ by fewer columns. The parts are moved once, after it.
func TestPartsPass(t *testing.T) {
	for _, sites := range counts {
		h := newHand(t, sites, map[string]int64{"i": 5, "j": 3, "k": 2})
		h.draw = rand.New(rand.NewSource(int64(sites)))
		parts := h.sum(h.scan("x", "i j k", "i", 2), "j k")
		chosen := h.of(parts, "j k", 1, "j")
		added := h.add(h.sum(chosen, "j"), h.scan("y", "j", "j", 2), h.scan("u", "j", "", 2))
		for _, n := range []*Node{parts, chosen, added} {
			if !n.Place.Partial || n.Place.Kind != Anywhere {
				t.Errorf("%v is %v", n, n.Place)
			}
		}
		p := h.plan(h.sum(h.shuf(added, "j"), "j"), h.sum(h.gather(chosen), ""), h.sum(h.bcast(parts), "k"))
		must(t, same(t.Context(), p, p.Logical(), h, nil, 0))
	}
}
