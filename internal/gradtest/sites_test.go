package gradtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// TestSites compares the executor at several sites with the oracle, by the plans of TRA's Table 1.
func TestSites(t *testing.T) {
	db, ctx, env := Graph(), context.Background(), kernels.Env{Seed: 1, Step: 2}
	for _, sites := range []int{1, 2, 3, 7} {
		t.Run(fmt.Sprint(sites), func(t *testing.T) {
			t.Parallel()
			for _, c := range Losses {
				res, err := Optimize(ctx, db, c.SQL, c.Params, optimizer.Options{})
				if err != nil {
					t.Fatalf("%s: %v", c.SQL, err)
				}
				plan, err := physical.Compile(res.Plan, physical.Sites{N: sites})
				if err != nil {
					t.Fatalf("%s: %v", c.SQL, err)
				}
				p, err := executor.CompileSites(ctx, plan, db, executor.Options{Workers: 2})
				if err != nil {
					t.Errorf("%s: %v", c.SQL, err)
					continue
				}
				if err := p.Run(ctx, env); err != nil {
					t.Errorf("%s: %v", c.SQL, err)
					continue
				}
				for i, root := range res.Plan.Roots {
					want, err := Rows(ctx, db, &env, root)
					if err != nil {
						t.Fatal(err)
					}
					cols, err := p.Result(i)
					if err != nil {
						t.Fatal(err)
					}
					if err := Compare(VectorRows(cols), want, 1e-12); err != nil {
						t.Errorf("%s: root %s: %v", c.SQL, root.Name, err)
					}
				}
				p.Close()
			}
		})
	}
}
