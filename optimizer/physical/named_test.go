package physical

import (
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
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
