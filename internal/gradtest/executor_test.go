package gradtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
)

// TestExecutor compares the executor with the oracle, optimized and not, and with several workers.
func TestExecutor(t *testing.T) {
	db, ctx, env := Graph(), context.Background(), kernels.Env{Seed: 1, Step: 2}
	for _, c := range slices.Concat(Losses, Recursions) {
		for _, opt := range []optimizer.Options{{}, {Disable: ruleNames()}} {
			res, err := Optimize(ctx, db, c.SQL, c.Params, opt)
			if err != nil {
				t.Fatalf("%s: %v", c.SQL, err)
			}
			p, err := executor.Compile(ctx, res.Plan, db, executor.Options{Workers: 2})
			if err != nil {
				t.Errorf("%s: %v", c.SQL, err)
				continue
			}
			if err := p.Run(ctx, env); err != nil {
				t.Errorf("%s: %v", c.SQL, err)
				continue
			}
			likeOracle(t, fmt.Sprintf("%s, disabled %v", c.SQL, opt.Disable), p, res.Plan, db, env)
			p.Close()
		}
	}
}

// likeOracle compares the results of a run with the oracle's.
func likeOracle(t *testing.T, what string, p *executor.Program, plan *ra.Plan, db *memdb.DB, env kernels.Env) {
	t.Helper()
	for i, root := range plan.Roots {
		want, err := Rows(t.Context(), db, &env, root)
		if err != nil {
			t.Fatal(err)
		}
		cols, err := p.Result(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := Compare(VectorRows(cols), want, 1e-12); err != nil {
			t.Errorf("%s: root %s: %v", what, root.Name, err)
		}
	}
}
