// Package oracle checks random queries by central differences and plans by the oracle, with no other engine, so
// that it is quick to build: the faults run it over mutated sources.
package oracle

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/relgrad/relgrad/internal/randquery"
)

var (
	queries = flag.Int("queries", 0, "seeds to try; 0: skip")
	uses    = flag.String("uses", "", "only queries that draw this construct")
)

func TestOracle(t *testing.T) {
	if *queries == 0 {
		t.Skip("run by the faults")
	}
	c := &randquery.Checker{Elements: 2}
	for seed := int64(1); seed <= int64(*queries); seed++ {
		if *uses != "" && randquery.Generate(seed, randquery.Options{}).Uses[*uses] == 0 {
			continue
		}
		if err := check(c, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func check(c *randquery.Checker, seed int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.Check(context.Background(), seed)
}
