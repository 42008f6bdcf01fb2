package sqlrun_test

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/randquery/engines"
)

// TestRandom compares generated SQL with the oracle on random queries.
func TestRandom(t *testing.T) {
	e, done, err := engines.SQLite()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	e.TolReal = 1e-4
	n := int64(300)
	if testing.Short() {
		n = 60
	}
	c := &randquery.Checker{Engines: []randquery.Engine{e}}
	for seed := int64(1); seed <= n; seed++ {
		if err := c.Check(context.Background(), seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if c.Stats.Limits > int(n)/10 {
		t.Errorf("%d of %d queries are beyond SQLite", c.Stats.Limits, n)
	}
}
