package pgrun

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/rules"
)

var (
	seedFlag = flag.Int64("seed", 1, "first seed of the random queries")
	nFlag    = flag.Int64("queries", 150, "number of random queries")
	allFlag  = flag.Bool("all", false, "report all findings of the random queries")
)

func TestPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := New(t)
	t.Run("Losses", func(t *testing.T) { losses(t, e) })
	t.Run("Random", func(t *testing.T) { random(t, e) })
}

// losses compares losses and gradients, as differentiated and optimized, with the oracle.
func losses(t *testing.T, e *Engine) {
	db, ctx, env := gradtest.Graph(), context.Background(), &kernels.Env{Seed: 1, Step: 2}
	var none []string
	for _, r := range rules.All() {
		none = append(none, r.Name)
	}
	for _, c := range gradtest.Losses {
		for _, opt := range []optimizer.Options{{Disable: none}, {}} {
			res, err := gradtest.Optimize(ctx, db, c.SQL, c.Params, opt)
			if err != nil {
				t.Errorf("%s: %v", c.SQL, err)
				continue
			}
			got, err := e.Run(ctx, db, res.Plan, env)
			if err != nil {
				t.Errorf("%s: %v", c.SQL, err)
				continue
			}
			for i, r := range res.Plan.Roots {
				want, err := gradtest.Rows(ctx, db, env, r)
				if err == nil {
					err = gradtest.Compare(gradtest.Keyed(got[i]), want, 1e-12)
				}
				if err != nil {
					t.Errorf("%s: root %s: %v", c.SQL, r.Name, err)
				}
			}
		}
	}
}

// random compares with the oracle on random queries, a share of them in real.
func random(t *testing.T, e *Engine) {
	c := &randquery.Checker{Engines: []randquery.Engine{{Name: "postgres", Run: e.Run, Tol: 1e-9, TolReal: 1e-4}}}
	for seed := *seedFlag; seed < *seedFlag+*nFlag; seed++ {
		if err := c.Check(context.Background(), seed); err != nil {
			err = fmt.Errorf("seed %d (go test ./internal/pgrun -seed=%d -queries=1): %w", seed, seed, err)
			if t.Error(err); !*allFlag {
				return
			}
		}
	}
	if *nFlag >= 100 && (c.Stats.Queries < int(*nFlag)/2 || c.Stats.Reals == 0) {
		t.Errorf("only %d of %d queries were compared, %d in real", c.Stats.Queries, *nFlag, c.Stats.Reals)
	}
	t.Logf("%d queries, %d in real", c.Stats.Queries, c.Stats.Reals)
}
