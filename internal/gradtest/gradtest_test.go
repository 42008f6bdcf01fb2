package gradtest

import (
	"context"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/rules"
)

func TestLosses(t *testing.T) {
	db := Graph()
	ctx := context.Background()
	for _, c := range slices.Concat(Losses, Recursions) {
		b, err := Bind(ctx, db, c.SQL, c.Params)
		if err != nil {
			t.Errorf("%s: %v", c.SQL, err)
			continue
		}
		if err := b.Check(ctx, db, &kernels.Env{Seed: 1, Step: 2}, 1e-6); err != nil {
			t.Errorf("%s: %v", c.SQL, err)
		}
	}
}

// TestRules runs every plan with all rules, with none, without each and in another order, and compares.
func TestRules(t *testing.T) {
	db, ctx, env := Graph(), context.Background(), &kernels.Env{Seed: 1, Step: 2}
	fired := map[string]int{}
	for _, c := range slices.Concat(Losses, Recursions) {
		var want []map[string][]float64
		var none []string
		for _, r := range rules.All() {
			none = append(none, r.Name)
		}
		variants := []optimizer.Options{{Disable: none, Verify: true}, {Verify: true},
			{Verify: true, Shuffle: rand.New(rand.NewSource(3)).Shuffle}}
		for i := 0; i < len(variants); i++ {
			opt := variants[i]
			res, err := Optimize(ctx, db, c.SQL, c.Params, opt)
			if err != nil {
				t.Errorf("%s: variant %d: %v", c.SQL, i, err)
				break
			}
			for _, r := range slices.Sorted(maps.Keys(res.Fired)) {
				fired[r] += res.Fired[r]
				if i == 1 && res.Fired[r] > 0 { // leaving out a rule that does not fire changes nothing
					variants = append(variants, optimizer.Options{Disable: []string{r}, Verify: true})
				}
			}
			for j, root := range res.Plan.Roots {
				got, err := Rows(ctx, db, env, root)
				if err != nil {
					t.Fatalf("%s: variant %d: %v", c.SQL, i, err)
				}
				if i == 0 {
					want = append(want, got)
				} else if err := Compare(got, want[j], 1e-12); err != nil {
					t.Errorf("%s: root %s, variant %d %v: %v", c.SQL, root.Name, i, opt.Disable, err)
				}
			}
		}
	}
	t.Log(fired)
	if fired["HoistFromLoop"] < 20 { // random queries are not recursive
		t.Errorf("HoistFromLoop fired %d times", fired["HoistFromLoop"])
	}
}

func ruleNames() []string {
	var out []string
	for _, r := range rules.All() {
		out = append(out, r.Name)
	}
	return out
}
