package physical

import (
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
)

// TestNamed: a plan that is asked for by its name has it, gives the same, and costs no less than the cheapest of all
// plans; what cannot be had is refused.
func TestNamed(t *testing.T) {
	db, env, found, refused := gradtest.Graph(), &kernels.Env{Seed: 1, Step: 2}, map[string]int{}, map[string]int{}
	for k, c := range gradtest.Losses {
		res, err := gradtest.Optimize(t.Context(), db, c.SQL, c.Params, optimizer.Options{})
		must(t, err)
		on, costs := Sites{N: 2 + k%3}, Costs{Cluster: InProcess, Cells: cells}
		free, err := Choose(t.Context(), res.Plan, on, costs)
		must(t, err)
		for _, name := range Names {
			costs.Only = name
			p, err := Choose(t.Context(), res.Plan, on, costs)
			if err != nil {
				if refused[name]++; sqlerr.Code(err) != sqlerr.FeatureNotSupported {
					t.Errorf("%s as %s: %v", c.SQL, name, err)
				}
				continue
			}
			if found[name]++; !named(p.Plan, name) {
				t.Errorf("%s: not all of it is %s\n%s", c.SQL, name, p.Plan.Format())
			}
			if p.Cost < free.Cost && free.By == ByElimination && p.By == ByElimination {
				t.Errorf("%s as %s costs %d, the cheapest plan %d\n%s", c.SQL, name, p.Cost, free.Cost, p.Plan.Format())
			}
			if err := same(t.Context(), p.Plan, res.Plan, db, env, 1e-12); err != nil {
				t.Errorf("%s as %s: %v\n%s", c.SQL, name, err, p.Plan.Format())
			}
		}
	}
	t.Log(found, refused)
	for _, name := range Names {
		if found[name] < 2 || refused[name] == 0 && name != "data parallel" {
			t.Errorf("%s is found %d times, refused %d times", name, found[name], refused[name])
		}
	}
}

// TestNamesAreTrue: a plan has a name only if all of it that could have the name has it.
func TestNamesAreTrue(t *testing.T) {
	is := func(what string, p *Plan, names ...string) {
		for _, name := range Names {
			if named(p, name) != slices.Contains(names, name) {
				t.Errorf("%s: whether it is %s is told wrongly\n%s", what, name, p.Format())
			}
		}
	}
	h := newHand(t, 4, map[string]int64{"i": 4, "j": 4, "k": 4})
	var roots []Root
	for _, way := range []string{"BMM_x_aligned", "CMM", "RMM"} {
		p := h.product(way, h.query(way, [3]int{2, 2, 2}, nil, nil))
		is(way, p, way[:3])
		roots = append(roots, p.Roots...)
		clear(h.data) // the next has tables of these names
	}
	for _, two := range [][]Root{{roots[0], roots[1]}, {roots[1], roots[0]}, {roots[2], roots[1]}} {
		is("two products", &Plan{Sites: 4, Spread: h.spread, Roots: two})
	}
	w, x, y := h.scan("w", "j", "j", 2), h.scan("u", "i j", "j", 2), h.scan("v", "i j", "i", 2)
	w.RA.Cols[1].Dep = true
	model, data := h.join("i j", "mul", x, w), h.join("i j", "mul", y, h.bcast(w))
	is("rows that come to parameters", h.plan(model), "model parallel")
	is("parameters that go to rows", h.plan(data), "data parallel")
	is("both", h.plan(model, data))
	is("no parameters", h.plan(x))
}

// TestNamedExist: products and networks have plans of the names, in which rows lie as the names say.
func TestNamedExist(t *testing.T) {
	c := newPaper()
	c.matrix("a", "i", "j", 4000, 4000, 8, 8)
	c.matrix("b", "j", "k", 4000, 4000, 8, 8)
	res, err := gradtest.Optimize(t.Context(), c.db, "SELECT sum(sqnorm(v)) FROM (SELECT i, k, sum(matmul(a.v, b.v)) "+
		"AS v FROM a JOIN b USING (j) GROUP BY i, k) c", nil, optimizer.Options{})
	must(t, err)
	on := r5d
	on.Tables = c.sizes
	for name, kinds := range map[string][]Kind{"BMM": {Replicated, Needed}, "CMM": {By}} {
		found, err := Choose(t.Context(), res.Plan, Sites{N: 4}, Costs{Cluster: on, Only: name})
		must(t, err)
		found.Plan.Walk(func(n *Node) {
			if n.Op != Local || n.RA.Op != ra.Join || len(n.Inputs) < 2 {
				return
			}
			of := func(in *Node) bool {
				return slices.Contains(kinds, in.Place.Kind) && (name == "BMM" || called(in, in.Place.By[0]) == "j")
			}
			if l, r := of(n.Inputs[0]), of(n.Inputs[1]); name == "BMM" && l == r || name == "CMM" && !(l && r) {
				t.Errorf("this is no %s:\n%s", name, found.Plan.Format())
			}
		})
	}
	for _, name := range []string{"data parallel", "model parallel"} {
		costs := layers{1000, 4000, 2000, 400}.costs(t, 4, r5d, Seconds)
		if _, ok := costs[name]; !ok {
			t.Errorf("no plan of a network is found that is %s: %v", name, costs)
		}
	}
}
