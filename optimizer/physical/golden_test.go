package physical

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/ra"
)

// golden is a plan of the golden file, with what each exchange of it moves.
type golden struct {
	Kind, Plan string
	I, J, K    int64

	Features, Batch, Hidden, Labels, N, D int64

	Blocks any
	Sites  int64
	Steps  []goldenStep
	Model  int64 `json:"model_floats"`
	Exact  int64 `json:"exact_floats"`
}

type goldenStep struct {
	Op    string
	Model int64 `json:"model_floats"`
	Exact int64 `json:"exact_floats"`
}

// TestGolden: the exchanges of every plan of the golden file move the floats that stand there, as predicted and as
// counted. Products come out of Table 1 by the rules; the plans of the other queries are put together by hand, with
// chunks that are NULL: only their sizes count.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(need.Data(t), "eindecomp_golden", "ia_plans.json"))
	if err != nil {
		need.Absent(t, "data", err.Error())
	}
	var plans []golden
	must(t, json.Unmarshal(data, &plans))
	seen := map[string]int{}
	for i, g := range plans {
		seen[g.Kind]++
		t.Run(fmt.Sprintf("%s/%s/%d", g.Kind, g.Plan, i), func(t *testing.T) {
			h, p := g.build(t)
			r, err := run(t.Context(), p, h, nil)
			must(t, err)
			f := newForecast(t.Context(), p, h, nil, r)
			moves, err := p.Moves(f)
			must(t, err)
			if f.guessed > 0 {
				t.Errorf("the places of %d relations are taken from the run that is compared", f.guessed)
			}
			var got []goldenStep
			for _, m := range moves {
				if slices.ContainsFunc(p.Roots, func(r Root) bool { return r.Node == m.Node }) {
					continue // a result is gathered for its reader
				}
				if counted := r.moved[m.Node]; counted != m.Exact {
					t.Errorf("%v moves %d floats, %d are predicted", m.Node, counted, m.Exact)
				}
				got = append(got, goldenStep{m.Node.Op.String(), m.Model, m.Exact})
			}
			g.compare(t, p, got)
		})
	}
	for kind, n := range map[string]int{"matmul": 27, "nearest": 4, "ffnn": 3} {
		if seen[kind] < n {
			t.Errorf("%d plans of %s, at least %d are expected", seen[kind], kind, n)
		}
	}
}

// compare compares the steps in any order: what does not depend on each other has none.
func (g *golden) compare(t *testing.T, p *Plan, got []goldenStep) {
	t.Helper()
	var want []goldenStep
	for _, s := range g.Steps {
		s.Op, _, _ = strings.Cut(strings.ReplaceAll(s.Op, "<", " "), " ")
		want = append(want, s)
	}
	order := func(a, b goldenStep) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	model, exact := int64(0), int64(0)
	for i := range got {
		model, exact = model+got[i].Model, exact+got[i].Exact
		got[i].Op = strings.Replace(got[i].Op, "Gather", "SHUF", 1) // the papers gather by a SHUF to one value
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if model != g.Model || exact != g.Exact {
		t.Errorf("%d floats (%d exactly) move, not %d (%d)", model, exact, g.Model, g.Exact)
	}
	if !slices.Equal(got, want) {
		t.Errorf("moved:\n%v\nwant:\n%v\n%s", got, want, p.Format())
	}
}

func (g *golden) build(t *testing.T) (*hand, *Plan) {
	switch g.Kind {
	case "matmul":
		var n []int64
		for _, x := range g.Blocks.([]any) {
			n = append(n, int64(x.(float64)))
		}
		h := newHand(t, int(g.Sites), map[string]int64{"i": n[0], "j": n[1], "k": n[2]})
		size := [3]int{int(g.I / n[0]), int(g.J / n[1]), int(g.K / n[2])}
		return h, h.product(g.Plan, h.query(g.Plan, size, nil, nil))
	case "nearest":
		return g.nearest(t)
	}
	return g.network(t)
}

// nearest puts together the plans of the nearest neighbour of q under the metric A. There is no ⊕ that keeps the index
// of the minimum; a chunk of two numbers stands for the pair.
func (g *golden) nearest(t *testing.T) (*hand, *Plan) {
	blocks := int64(g.Blocks.(float64))
	h := newHand(t, int(g.Sites), map[string]int64{"r": blocks, "j": blocks, "l": blocks, "one": 1})
	n, d := int(g.N), int(g.D)
	if g.Plan == "horizontal" {
		x, q, a := h.scan("x", "r", "r", n/int(blocks), d), h.scan("q", "one", "", d), h.scan("a", "one", "", d, d)
		return h, h.plan(h.sum(h.gather(h.sum(h.join("r", []int{2}, x, h.bcast(q), h.bcast(a)), "")), ""))
	}
	h.lens["r"] = 1
	q, x := h.scan("q", "j", "j", d/int(blocks)), h.scan("x", "r j", "j", n, d/int(blocks))
	a := h.scan("a", "j l", "j", d/int(blocks), d/int(blocks))
	diff := h.join("r j", []int{n, d / int(blocks)}, h.bcast(q), x)
	parts := h.sum(h.join("r l", []int{n, d / int(blocks)}, diff, a), "r l")
	product := h.sum(h.shuf(parts, "l"), "r l")
	renamed := h.rename(product, "l", "j")
	rows := h.sum(h.join("r j", []int{n}, renamed, diff), "r")
	return h, h.plan(h.sum(h.shuf(rows, "r"), "r"))
}

// rename gives a key another name.
func (h *hand) rename(n *Node, from, to string) *Node {
	var out []ra.OutCol
	for _, c := range n.Relation().Cols {
		out = append(out, ra.OutCol{Name: strings.Replace(c.Name, from, to, 1), X: n.Relation().Var(0, c.ID)})
	}
	return h.placed(&Node{RA: h.b.Select(n.Relation(), nil, out), Inputs: []*Node{n}})
}

// network puts together the plans of a network of two layers with its gradients: data parallel, or model parallel over
// the hidden units or the features.
func (g *golden) network(t *testing.T) (*hand, *Plan) {
	s := g.Sites
	h := newHand(t, int(s), map[string]int64{"n": s, "f": s, "h": s, "l": s})
	n, f, u, l := int(g.Batch/s), int(g.Features/s), int(g.Hidden/s), int(g.Labels/s)
	by := map[string][4]string{"DP": {"n", "", "", "n"}, "MP_hidden": {"n", "h", "h", "n"},
		"MP_features": {"f", "f", "h", ""}}[g.Plan]
	x, w1 := h.scan("x", "n f", by[0], n, f), h.scan("w1", "f h", by[1], f, u)
	w2, target := h.scan("w2", "h l", by[2], u, l), h.scan("t", "n l", by[3], n, l)
	whole := func(n *Node) *Node { return n }
	parts, ready := whole, whole // sums over the batch; what each site needs
	switch g.Plan {
	case "DP":
		w1, w2, parts = h.bcast(w1), h.bcast(w2), h.gather
	case "MP_hidden":
		x, target, ready = h.bcast(x), h.bcast(target), h.bcast
	case "MP_features":
		ready = h.bcast
	}
	z1 := h.sum(h.join("n h", []int{n, u}, x, w1), "n h")
	if g.Plan == "MP_features" {
		z1 = h.sum(h.shuf(z1, "h"), "n h")
	}
	z2 := h.sum(h.join("n l", []int{n, l}, z1, w2), "n l")
	if g.Plan != "DP" {
		z2 = h.sum(h.gather(z2), "n l")
	}
	dz2 := ready(h.join("n l", []int{n, l}, z2, target))
	dz1 := h.join("n h", []int{n, u}, h.sum(h.join("n h", []int{n, u}, dz2, w2), "n h"), z1)
	if g.Plan == "MP_features" {
		dz1 = h.bcast(dz1)
	}
	dw2 := parts(h.sum(h.join("h l", []int{u, l}, z1, dz2), "h l"))
	dw1 := parts(h.sum(h.join("f h", []int{f, u}, x, dz1), "f h"))
	if g.Plan == "DP" {
		dw1, dw2 = h.sum(dw1, "f h"), h.sum(dw2, "h l")
	}
	return h, h.plan(dw1, dw2)
}
