package executor_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
)

// TestCheapestForms: sums of weighted rows, and of weighted differences, read them where they lie, a group at a time.
func TestCheapestForms(t *testing.T) {
	t.Parallel()
	const nodes, edges = 60, 3000
	rng, db := rand.New(rand.NewSource(3)), memdb.New()
	any := func(int) int64 { return rng.Int63n(nodes) }
	db.Create("w", 1, memdb.Column{Name: "id", Data: ints(nodes, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, nodes, 16)})
	db.Create("adj", 1, memdb.Column{Name: "id", Data: ints(edges, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "src", Data: ints(edges, any)}, memdb.Column{Name: "dst", Data: ints(edges, any)},
		memdb.Column{Name: "weight", Data: reals(rng, edges)})
	for _, sum := range []string{"a.weight * x.v", "a.weight * (x.v - y.v)"} {
		views(t, db, "loss", "SELECT sum(sqnorm(v)) AS loss FROM (SELECT a.dst, sum("+sum+") AS v FROM adj a "+
			"JOIN w x ON x.id = a.src JOIN w y ON y.id = a.dst GROUP BY a.dst) h")
		for _, wide := range []bool{false, true} {
			_, p := compile(t, db, []string{"w"}, executor.Options{Force64: wide})
			if text := p.Explain(); !strings.Contains(text, "SpMM") || strings.Contains(text, "in place") {
				t.Errorf("sums of %s, in double precision %t:\n%s", sum, wide, text)
			}
		}
	}
}
