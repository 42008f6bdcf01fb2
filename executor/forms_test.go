package executor

import (
	"context"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestFormsInAnyOrder: which form computes a val depends on their costs, not on the order in which they are asked.
func TestFormsInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range 150 {
		g := &generator{rng: rand.New(rand.NewSource(int64(seed))), src: &memory{}, b: ra.NewBuilder(), ints: [2]int64{0, 1}}
		for i := range 3 {
			g.table("t" + string(rune('0'+i)))
		}
		for range 4 {
			n, err := g.step()
			if err != nil {
				t.Fatal(err)
			}
			if g.pairs(n) <= 30000 {
				g.nodes = append(g.nodes, n)
			}
		}
		plan := &ra.Plan{}
		for _, n := range g.nodes[len(g.nodes)-2:] {
			plan.Roots = append(plan.Roots, all(n, "root"))
		}
		tune := tuning.Default()
		if seed%2 > 0 {
			SmallLanes(tune)
			tune.GroupRows, tune.PassRun, tune.PassChunk = 2, 1<<30, 1<<30
		}
		want, _ := explained(t, plan, g.src, Options{Tuning: tune})
		for range 3 {
			mixed := slices.Clone(forms.Forms)
			g.rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			if got, _ := explained(t, plan, g.src, Options{Tuning: tune, forms: mixed}); got != want {
				t.Fatalf("plan %d in another order of forms:\n%s\nand\n%s", seed, want, got)
			}
		}
	}
}

// explained is the plan of a program; ok is false where it does not compile.
func explained(t *testing.T, plan *ra.Plan, src *memory, opt Options) (text string, ok bool) {
	t.Helper()
	opt.Env = kernels.Env{Seed: 5, Step: 2}
	p, err := CompileOn(context.Background(), plan, src, opt)
	if err != nil {
		return err.Error(), false
	}
	defer p.Close()
	return p.Explain(), true
}

// TestFormsAreTold: a form has a name of its own, and a val that has several is computed by the cheapest.
func TestFormsAreTold(t *testing.T) {
	t.Parallel()
	cheap := forms.Form{
		Name:  "a",
		Match: func(*forms.Lowerer, *values.Val) (any, error) { return 1, nil },
		Cost:  func(*forms.Lowerer, *values.Val, any) float64 { return 2 },
	}
	dear := forms.Form{Name: "b", Match: cheap.Match, Cost: func(*forms.Lowerer, *values.Val, any) float64 { return 3 }}
	same := forms.Form{Name: "c", Match: cheap.Match, Cost: cheap.Cost}
	none := forms.Form{Name: "d", Match: func(*forms.Lowerer, *values.Val) (any, error) { return nil, nil }}
	for _, list := range [][]*forms.Form{{&cheap, &dear, &same, &none}, {&none, &same, &dear, &cheap}} {
		all, err := (&forms.Lowerer{Lowering: forms.Lowering{Forms: list}}).FormsOf(nil)
		var names []string
		for _, c := range all {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != "a c b" {
			t.Errorf("%s, %v", got, err)
		}
	}
}
