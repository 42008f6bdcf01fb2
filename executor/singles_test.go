package executor_test

import (
	"context"
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// TestWeightsInSingles: a residual that weighs chunks of single precision alone is stored in that; one that a parameter
// of double precision receives is not.
func TestWeightsInSingles(t *testing.T) {
	t.Parallel()
	const users, items, each = 6, 7, 50
	for name, c := range map[string]struct {
		bias string
		as   bool
	}{"weights": {bias: "", as: true}, "weights and sums": {bias: " - i.b", as: false}} {
		rng := rand.New(rand.NewSource(8))
		db := memdb.New()
		id := func(r int) int64 { return int64(r) }
		doubles := func(n int) *column.Column {
			v := column.New(kernels.Type{Kind: kernels.Float64}, n)
			for k := range v.F64() {
				v.F64()[k] = rng.NormFloat64()
			}
			return v
		}
		db.Create(
			"u",
			1,
			memdb.Column{Name: "id", Data: ints(users, id)},
			memdb.Column{Name: "v", Data: reals(rng, users, 3)},
		)
		db.Create(
			"i",
			1,
			memdb.Column{Name: "id", Data: ints(items, id)},
			memdb.Column{Name: "v", Data: reals(rng, items, 3)},
			memdb.Column{Name: "b", Data: doubles(items)},
		)
		db.Create(
			"r",
			1,
			memdb.Column{Name: "id", Data: ints(users*each, id)},
			memdb.Column{Name: "usr", Data: ints(users*each, func(r int) int64 { return int64(r / each) })},
			memdb.Column{
				Name: "item",
				Data: ints(users*each, func(int) int64 { return int64(rng.Intn(items)) }),
			},
			memdb.Column{Name: "x", Data: doubles(users * each)},
		)
		views(
			t,
			db,
			"loss",
			"SELECT sum((r.x - dot(u.v, i.v)"+c.bias+") ^ 2) AS loss FROM r JOIN u ON u.id = r.usr JOIN i ON i.id = r.item",
		)
		plan, p := compile(t, db, []string{"u", "i"}, executor.Options{Workers: 2})
		if err := p.Run(context.Background(), kernels.Env{}); err != nil {
			t.Fatal(err)
		}
		if text := p.Explain(); strings.Contains(text, "double precision as real = map") != c.as {
			t.Errorf("%s: a column as real %v, in\n%s", name, !c.as, text)
		}
		resultsBesideOracle(t, name, db, plan, p, kernels.Env{}, 1e-4)
		exact, wide := compile(t, db, []string{"u", "i"}, executor.Options{Workers: 1, Force64: true})
		if err := wide.Run(context.Background(), kernels.Env{}); err != nil {
			t.Fatal(err)
		}
		for k, root := range exact.Roots {
			got, err := p.Result(k)
			want, err2 := wide.Result(k)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			for n, v := range got {
				for r := range v.F64() {
					if d := v.F64()[r] - want[n].F64()[r]; v.Type().Shape == nil && (d > 1e-11 || d < -1e-11) {
						t.Errorf("%s, %s: %v, not %v", name, root.Name, v.F64()[r], want[n].F64()[r])
					}
				}
			}
		}
	}
}
