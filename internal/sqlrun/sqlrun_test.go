package sqlrun

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/internal/randquery"
)

// TestRandom compares generated SQL with the oracle on random queries.
func TestRandom(t *testing.T) {
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	n := int64(300)
	if testing.Short() {
		n = 60
	}
	c := &randquery.Checker{Engines: []randquery.Engine{{Name: "sqlite", Run: e.Run, Tol: 1e-9, TolReal: 1e-4}}}
	for seed := int64(1); seed <= n; seed++ {
		if err := c.Check(context.Background(), seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
