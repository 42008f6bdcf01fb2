package executor_test

import (
	"context"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// TestSpMMInBlocks: sums of weighted rows of a column that is read a block at a time, some groups of no rows, some rows
// read never, with one weight, several and none; the same bits for any number of workers.
func TestSpMMInBlocks(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallBlocks(tune)
	const users, items, ratings = 13, 7, 400
	rng := rand.New(rand.NewSource(4))
	for name, term := range map[string]string{"weight": "r.w * u.v", "weights": "r.w * u.v / r.d", "none": "u.v"} {
		db := memdb.New()
		db.Create(
			"u",
			1,
			memdb.Column{Name: "id", Data: ints(users, func(r int) int64 { return int64(r) })},
			memdb.Column{Name: "v", Data: reals(rng, users, 6)},
		)
		db.Create(
			"i",
			1,
			memdb.Column{Name: "id", Data: ints(items, func(r int) int64 { return int64(r) })},
			memdb.Column{Name: "b", Data: reals(rng, items, 6)},
		)
		d := reals(rng, ratings)
		for k := range d.F32() {
			d.F32()[k] += 2
		}
		db.Create("r", 1, memdb.Column{Name: "id", Data: ints(ratings, func(r int) int64 { return int64(r) })},
			memdb.Column{Name: "usr", Data: ints(ratings, func(int) int64 { return int64(rng.Intn(users - 1)) })},
			memdb.Column{Name: "item", Data: ints(ratings, func(int) int64 { return int64(rng.Intn(items)*rng.Intn(2) + 1) })},
			memdb.Column{Name: "w", Data: reals(rng, ratings)}, memdb.Column{Name: "d", Data: d})
		views(t, db, "s", "SELECT r.item, sum("+term+") AS v FROM r JOIN u ON u.id = r.usr GROUP BY r.item",
			"loss", "SELECT sum(sqnorm(i.b - s.v)) AS loss FROM i LEFT JOIN s ON s.item = i.id")
		params := []string{"u", "i"}
		besideOracle(t, name, db, params, executor.Options{Tuning: tune, Force64: true, Workers: 3}, 1e-10)
		besideOracle(t, name, db, params, executor.Options{Tuning: tune, Workers: 3}, 1e-4)
		_, one := compile(t, db, params, executor.Options{Tuning: tune, Workers: 1})
		_, three := compile(t, db, params, executor.Options{Tuning: tune, Workers: 3})
		_, budget := compile(t, db, params, executor.Options{Tuning: tune, Workers: 3, Memory: 1 << 30})
		for _, p := range []*executor.Program{three, budget} { // there is always a budget
			if !strings.Contains(p.Explain(), "SpMM in blocks") {
				t.Errorf("%s: no SpMM in blocks in\n%s", name, p.Explain())
			}
		}
		t.Run(name+" of many groups", func(t *testing.T) {
			none := *tune
			executor.SmallSums(&none)
			if _, p := compile(t, db, params, executor.Options{Tuning: &none, Workers: 3}); strings.Contains(
				p.Explain(),
				"SpMM in blocks",
			) {
				t.Errorf("SpMM in blocks in\n%s", p.Explain())
			}
		})
		for _, p := range []*executor.Program{one, three, three, budget} { // once more, which must change nothing
			if err := p.Run(context.Background(), kernels.Env{}); err != nil {
				t.Fatal(err)
			}
		}
		numbers := 0
		for i := range params {
			a, err := one.Result(1 + i)
			b, err2 := three.Result(1 + i)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			for c := range a {
				numbers += len(a[c].F32())
				if !slices.Equal(a[c].F32(), b[c].F32()) {
					t.Errorf("%s, %s: %v with one worker, %v with three", name, params[i], a[c].F32(), b[c].F32())
				}
			}
		}
		if numbers == 0 {
			t.Errorf("%s: no numbers to compare", name)
		}
	}
}
