package pgrun

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/relgrad/relgrad/internal/randquery"
)

var (
	seedFlag = flag.Int64("seed", 1, "first seed of the random queries")
	nFlag    = flag.Int64("queries", 150, "number of random queries")
	allFlag  = flag.Bool("all", false, "report all findings of the random queries")
)

// TestRandom compares generated SQL with the oracle on random queries, a share of them in real.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := New(t)
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
