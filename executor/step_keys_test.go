package executor_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// stepKeys are keys by number; nil: text.
var stepKeys = map[string]func(i int64) int64{
	"from 0":     func(i int64) int64 { return i },
	"below 0":    func(i int64) int64 { return -3*i - 1 },
	"greatest":   func(i int64) int64 { return math.MaxInt64 - 2*i },
	"least":      func(i int64) int64 { return math.MinInt64 + i },
	"both ends":  func(i int64) int64 { return []int64{math.MaxInt64 - i, math.MinInt64 + i}[i%2] },
	"descending": func(i int64) int64 { return 1000 - i },
	"gaps":       func(i int64) int64 { return i * i * 1000003 },
	"text":       nil,
}

// keyed is a column of the keys of numbers.
func keyed(key func(i int64) int64, n int, number func(i int) int64) *column.Column {
	if key != nil {
		return ints(n, func(i int) int64 { return key(number(i)) })
	}
	v := column.New(kernels.Type{Kind: kernels.Text}, n)
	for i := range v.Texts() {
		v.Texts()[i] = fmt.Sprintf("k%03d", number(i))
	}
	return v
}

// TestStepKeys: steps of no rows, of few and of more, whose keys may be any, looked up through each other and grouped,
// with rows that lack a key.
func TestStepKeys(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	const rows, entities = 99, 23
	for name, key := range stepKeys {
		t.Run(name, func(t *testing.T) {
			executor.SumInPasses(tune, 4, 4)
			rng := rand.New(rand.NewSource(2))
			some := func(int) int64 { return rng.Int63n(entities) }
			lacks := ints(rows, func(int) int64 { return rng.Int63n(3) })
			for i := range rows {
				if rng.Intn(6) == 0 {
					lacks.SetNull(i)
				}
			}
			db := memdb.New()
			db.Create(
				"x",
				1,
				memdb.Column{Name: "id", Data: keyed(key, rows, func(i int) int64 { return int64(i) })},
				memdb.Column{Name: "seq", Data: ints(rows, func(i int) int64 { return int64(i) })},
				memdb.Column{
					Name: "h",
					Data: keyed(key, rows, some),
				},
				memdb.Column{Name: "t", Data: keyed(key, rows, func(int) int64 { return 2 + rng.Int63n(entities) })},
				memdb.Column{Name: "r", Data: lacks},
			)
			db.Create(
				"e",
				1,
				memdb.Column{Name: "id", Data: keyed(key, entities, func(i int) int64 { return int64(i) })},
				memdb.Column{Name: "v", Data: reals(rng, entities, 4)},
			)
			db.Create(
				"rel",
				1,
				memdb.Column{Name: "id", Data: ints(3, func(i int) int64 { return int64(i) })},
				memdb.Column{Name: "v", Data: reals(rng, 3, 4)},
			)
			views(
				t,
				db,
				"draw",
				// none, 1, 98
				"SELECT x.* FROM x WHERE x.seq < current_step() - 1 + 48 * (current_step() - 1) * (current_step() - 2)",
				"negative",
				"SELECT d.id, k, d.h, d.t, d.r FROM draw d CROSS JOIN generate_series(1, 9) AS k",
				"positive",
				"SELECT d.id, a.v + rel.v AS q, norm(a.v + rel.v - b.v) AS s FROM draw d JOIN e a ON a.id = d.h JOIN rel ON "+
					"rel.id = d.r JOIN e b ON b.id = d.t",
				"per",
				"SELECT n.h, n.r, count(*) AS c, count(n.r) AS cr, count(p.s) AS cs, sum(p.q) AS q, avg(p.s) AS s FROM negative "+
					"n JOIN positive p USING (id) GROUP BY n.h, n.r",
				"tails",
				"SELECT d.h, count(o.v) AS c, count(*) AS n, sum(a.v) AS v FROM draw d JOIN e a ON a.id = d.h LEFT JOIN e o ON "+
					"o.id = d.t GROUP BY d.h",
				"rank",
				"SELECT coalesce(sum(relu(1 + p.s - norm(p.q - tanh(a.v)))), 0.0) AS l FROM negative n JOIN positive p USING "+
					"(id) JOIN e a ON a.id = n.t",
				"whole",
				"SELECT coalesce(sum(c * sqnorm(q) / (1 + cs) + s * s * (cr + 1)), 0.0) AS l FROM per",
				"counts",
				"SELECT coalesce(sum((c + 2 * n) * sqnorm(tanh(v))), 0.0) AS l FROM tails",
				"loss",
				"SELECT a.l + b.l + c.l AS loss FROM rank a CROSS JOIN whole b CROSS JOIN counts c",
			)
			testRuns(t, tune, db, []string{"e", "rel"}, func(string) {})
		})
	}
}

// TestSumsLeaveNothing: steps whose rows grow and shrink, and whose sums use the memory of those before, are those of a
// new program.
func TestSumsLeaveNothing(t *testing.T) {
	t.Parallel()
	const rows, entities, relations, d = 400, 50, 3, 64
	rng := rand.New(rand.NewSource(2))
	db := memdb.New()
	any := func(most int64) func(int) int64 { return func(int) int64 { return rng.Int63n(most) } }
	itself := func(i int) int64 { return int64(i) }
	db.Create(
		"x",
		1,
		memdb.Column{Name: "id", Data: ints(rows, itself)},
		memdb.Column{Name: "h", Data: ints(rows, any(entities))},
		memdb.Column{Name: "t", Data: ints(rows, any(entities))},
		memdb.Column{Name: "r", Data: ints(rows, any(relations))},
	)
	db.Create(
		"e",
		1,
		memdb.Column{Name: "id", Data: ints(entities, itself)},
		memdb.Column{Name: "v", Data: reals(rng, entities, d)},
	)
	db.Create(
		"rel",
		1,
		memdb.Column{Name: "id", Data: ints(relations, itself)},
		memdb.Column{Name: "v", Data: reals(rng, relations, d)},
		memdb.Column{Name: "m", Data: reals(rng, relations, d, d)},
	)
	views(
		t,
		db,
		"draw",
		"SELECT * FROM x WHERE (7 * x.id) % 11 < 5 * current_step() % 12 AND x.id < 100 * (1 + current_step() % 4)",
		"negative",
		"SELECT d.id, k, random_int(50, current_seed(), ARRAY[current_step(), d.id, k]) AS other FROM draw d CROSS JOIN "+
			"generate_series(1, 37) AS k",
		"positive",
		`SELECT x.id, x.r, matmul(h.v, r.m) + r.v AS q, norm(matmul(h.v, r.m) + r.v - matmul(t.v, r.m)) AS d
FROM draw x JOIN e h ON h.id = x.h JOIN rel r ON r.id = x.r JOIN e t ON t.id = x.t`,
		"loss",
		`SELECT coalesce(avg(relu(1 + p.d - norm(p.q - matmul(e.v, r.m)))), 0.0) AS loss
FROM negative n JOIN positive p USING (id) JOIN e e ON e.id = n.other JOIN rel r ON r.id = p.r`,
	)
	_, p := compile(t, db, []string{"e", "rel"}, executor.Options{Workers: 2})
	for _, step := range []int64{1, 2, 3, 7, 12, 6, 11, 2} {
		_, fresh := compile(t, db, []string{"e", "rel"}, executor.Options{Workers: 1})
		for _, p := range []*executor.Program{p, fresh} {
			if err := p.Run(context.Background(), kernels.Env{Seed: 1, Step: step}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 3 {
			got, err := p.Result(i)
			if err != nil {
				t.Fatal(err)
			}
			if want, err := fresh.Result(i); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("step %d: result %d is another one than a new program's (%v)", step, i, err)
			}
		}
	}
}
