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
	random(t, New(t), "TestRandom", *nFlag)
}

// TestRandomPortable does so with the functions of the portable tier, which are slow: on two fifths of the queries.
func TestRandomPortable(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	random(t, NewPortable(t), "TestRandomPortable", (2**nFlag+4)/5)
}

func random(t *testing.T, e *Engine, name string, n int64) {
	c := &randquery.Checker{Engines: []randquery.Engine{{Name: "postgres", Run: e.Run, Tol: 1e-9, TolReal: 1e-4}}}
	for seed := *seedFlag; seed < *seedFlag+n; seed++ {
		if err := c.Check(context.Background(), seed); err != nil {
			err = fmt.Errorf("seed %d (go test ./internal/pgrun -run %s$ -seed=%d -queries=1): %w", seed, name, seed, err)
			if t.Error(err); !*allFlag {
				return
			}
		}
	}
	if n >= 100 && (c.Stats.Queries < int(n)/2 || c.Stats.Reals == 0) {
		t.Errorf("only %d of %d queries were compared, %d in real", c.Stats.Queries, n, c.Stats.Reals)
	}
	t.Logf("%d queries, %d in real", c.Stats.Queries, c.Stats.Reals)
}
