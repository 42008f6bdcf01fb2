package executor_test

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// spaces is TransR over n triples of the step, some of them twice, some without a relation, and wrong tails of each,
// some of which are no entity: rows of one triple follow each other.
func spaces(b testing.TB, n int) *memdb.DB { return spacesOf(b, n, 5, 3) }

// spacesOf has entities with the ids first, first + apart, …
func spacesOf(b testing.TB, n, first, apart int) *memdb.DB {
	const entities, relations, wrong = 23, 3, 37
	rng := rand.New(rand.NewSource(int64(n)))
	all := 9 * n
	relation := ints(all, func(int) int64 { return 2 * rng.Int63n(relations) })
	for i := range all {
		if rng.Intn(8) == 0 {
			relation.SetNull(i)
		}
	}
	db := memdb.New()
	entity := func(int) int64 { return int64(first) + int64(apart)*rng.Int63n(entities) }
	db.Create(
		"triple",
		1,
		memdb.Column{Name: "id", Data: ints(all, func(i int) int64 { return int64(2 * i) })},
		memdb.Column{
			Name: "h",
			Data: ints(all, entity),
		},
		memdb.Column{Name: "r", Data: relation},
		memdb.Column{Name: "t", Data: ints(all, entity)},
	)
	db.Create(
		"entity",
		1,
		memdb.Column{Name: "id", Data: ints(entities, func(i int) int64 { return int64(first + apart*i) })},
		memdb.Column{Name: "v", Data: reals(rng, entities, 9)},
	)
	db.Create("relation", 1, memdb.Column{Name: "id", Data: ints(relations, func(i int) int64 { return int64(2 * i) })},
		memdb.Column{Name: "v", Data: reals(rng, relations, 4)}, memdb.Column{Name: "m", Data: reals(rng, relations, 9, 4)})
	views(
		b,
		db,
		"draw",
		"SELECT id, h, r, t FROM triple WHERE (id / 2 + 4 * current_step()) % 9 = 0",
		"negative",
		fmt.Sprintf(
			"SELECT d.id, k, %d + random_int(%d, current_seed(), ARRAY[current_step(), d.id, k]) AS other FROM draw d CROSS "+
				"JOIN generate_series(1, %d) AS k",
			first,
			apart*entities,
			wrong,
		),
		"positive",
		`SELECT x.id, x.r, matmul(h.v, r.m) + r.v AS q, norm(matmul(h.v, r.m) + r.v - matmul(t.v, r.m)) AS d
FROM draw x JOIN entity h ON h.id = x.h JOIN relation r ON r.id = x.r JOIN entity t ON t.id = x.t`,
		"loss",
		`SELECT avg(relu(1 + p.d - norm(p.q - matmul(e.v, r.m)))) AS loss
FROM negative n JOIN positive p USING (id) JOIN entity e ON e.id = n.other JOIN relation r ON r.id = p.r`,
	)
	return db
}

// planes is TransE over the same triples.
func planes(b testing.TB, n int) *memdb.DB { return planesOf(b, n, 5, 3) }

// numbered is planes whose entities have the ids 0, 1, …: the structure knows their rows.
func numbered(b testing.TB, n int) *memdb.DB { return planesOf(b, n, 0, 1) }

func planesOf(b testing.TB, n, first, apart int) *memdb.DB {
	db := spacesOf(b, n, first, apart)
	views(
		b,
		db,
		"positive",
		`SELECT x.id, h.v + t.v AS q, norm(h.v - t.v) AS d FROM draw x JOIN entity h ON h.id = x.h
    JOIN relation r ON r.id = x.r JOIN entity t ON t.id = x.t`,
		"loss",
		"SELECT avg(relu(1 + p.d - norm(p.q - e.v))) AS loss FROM negative n JOIN positive p USING (id) JOIN entity e ON "+
			"e.id = n.other",
	)
	return db
}

// TestRunsInPasses computes steps whose rows are in runs of one group in passes and in instructions of their own, with
// several numbers of workers, beside the oracle.
func TestRunsInPasses(t *testing.T) {
	t.Parallel()
	executor.Long(t)
	tune := tuning.Default()
	for name, m := range map[string]struct {
		make   func(testing.TB, int) *memdb.DB
		params []string
		shows  string // where sums share passes
	}{"spaces": {make: spaces, params: []string{"entity", "relation"}, shows: "sum GEMM: outer"},
		"planes":   {make: planes, params: []string{"entity"}, shows: "sum in place: "},
		"numbered": {make: numbered, params: []string{"entity"}, shows: "sum in place: "}} {
		for _, size := range []int{1, 3, 40} {
			for _, in := range []struct{ rows, numbers int }{{rows: 8, numbers: 8}, {rows: 1 << 30, numbers: 1 << 30}} {
				t.Run(fmt.Sprintf("%s of %d, from %d rows", name, size, in.rows), func(t *testing.T) {
					executor.SumInPasses(tune, in.rows, in.numbers)
					testRuns(t, tune, m.make(t, size), m.params, func(plan string) {
						if held := strings.Contains(plan, "less one row a group"); size == 40 && held != (name == "numbered") {
							t.Errorf("a row of each group in the plan: %t\n%s", held, plan)
						}
						if shared := in.rows == 8; size == 40 && strings.Contains(plan, m.shows) != shared {
							t.Errorf("%q in the plan: %t\n%s", m.shows, !shared, plan)
						}
					})
				})
			}
		}
	}
}

// TestLanesOfGroups: groups whose rows have one row of a column are summed in several lanes.
func TestLanesOfGroups(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.LanesOf(tune, 3200)
	testRuns(t, tune, numbered(t, 40), []string{"entity"}, func(plan string) {
		if !strings.Contains(plan, "less one row a group") {
			t.Errorf("no sum holds a row of each group:\n%s", plan)
		}
	})
}

// TestRowsAddedInPlace computes gradients of which a part concerns few of the rows.
func TestRowsAddedInPlace(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.AddRowsInPlace(tune)
	executor.SmallLanes(tune)
	for _, make := range []func(testing.TB, int) *memdb.DB{planes, numbered} {
		testRuns(t, tune, make(t, 40), []string{"entity"}, func(plan string) {
			if !strings.Contains(plan, "rows added in place") {
				t.Errorf("no rows are added in place:\n%s", plan)
			}
		})
	}
}

func testRuns(t *testing.T, tune *tuning.Sizes, db *memdb.DB, params []string, check func(plan string)) {
	var first [][]*column.Column
	for _, opt := range []executor.Options{{Tuning: tune, Workers: 1}, {Tuning: tune, Workers: 3},
		{Tuning: tune, Workers: 2, Force64: true}} {
		plan, p := compile(t, db, params, opt)
		var got [][]*column.Column
		for step := range int64(3) {
			env := kernels.Env{Seed: 1, Step: step + 1}
			if err := p.Run(context.Background(), env); err != nil {
				t.Fatal(err)
			}
			for i, root := range plan.Roots {
				want, err := gradtest.Rows(context.Background(), db, &env, root)
				if err != nil {
					t.Fatal(err)
				}
				cols, err := p.Result(i)
				if err != nil {
					t.Fatal(err)
				}
				if err := gradtest.Compare(gradtest.VectorRows(cols), want,
					map[bool]float64{true: 1e-10, false: 1e-4}[opt.Force64]); err != nil {
					t.Errorf("step %d, %+v, %s: %v\n%s", env.Step, opt, root.Name, err, p.Explain())
				}
				got = append(got, cols)
			}
		}
		switch {
		case opt.Force64:
		case first == nil:
			first = got
			check(p.Explain())
		case !reflect.DeepEqual(got, first):
			t.Error("several workers compute something else than one")
		}
	}
}

// TestRunsOutOfOrder: rows of one group follow each other, but the groups are in no order, and where they are few come
// again. Their sums, which read chunks in place, share a pass in the order of the rows: large ones always, others where
// no group comes again.
func TestRunsOutOfOrder(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	const run, runs, many = 10, 12, 13
	for _, with := range []struct {
		groups, numbers int
		shares          bool
	}{{groups: 3, numbers: 8, shares: true}, {groups: 3, numbers: 1 << 30, shares: false},
		{groups: runs, numbers: 8, shares: true}, {groups: runs, numbers: 1 << 30, shares: true}} {
		executor.SumInPasses(tune, 8, with.numbers)
		for _, sum := range []string{"sum(a.weight * m.v)", "sum(a.weight * (m.v - o.v))"} {
			rng := rand.New(rand.NewSource(5))
			turn := rng.Perm(runs)
			groups := make([]int64, run*runs)
			for i := range groups {
				groups[i] = int64(turn[i/run] % with.groups)
			}
			testOutOfOrder(t, tune, rng, groups, many, sum, "sum(sqnorm(tanh(h.v)))", func(plan string) {
				if strings.Contains(plan, "= sum in place: ") != with.shares {
					t.Errorf("%+v: %s shares a pass: %t\n%s", with, sum, !with.shares, plan)
				}
			})
		}
	}
}

// TestRunsCut: lanes cut runs of one group, of which each is one; some groups have no rows, some rows no weight.
func TestRunsCut(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	const runs, groups, many = 12, 20, 13
	executor.SumInPasses(tune, 2, 8)
	executor.SmallLanes(tune)
	for _, sum := range []string{"sum(a.weight * m.v)", "sum(a.weight * (m.v - o.v))", "max(a.weight)", "count(a.weight)",
		"sum(a.weight)"} {
		rng := rand.New(rand.NewSource(5))
		turn := rng.Perm(groups)
		var of []int64
		for r := range runs {
			for range 1 + rng.Intn(40)*(r%3) {
				of = append(of, int64(turn[r]))
			}
		}
		value := "sum(sqnorm(tanh(h.v)))"
		if !strings.Contains(sum, "m.v") {
			value = "sum(h.v * sum_elements(gg.v))"
		}
		testOutOfOrder(t, tune, rng, of, many, sum, value, func(plan string) {
			if !strings.Contains(plan, "one pass over "+fmt.Sprint(len(of))) {
				t.Errorf("%s shares no pass:\n%s", sum, plan)
			}
		})
	}
}

// testOutOfOrder computes a loss of a sum by group, and of its rows; groups are those of the rows.
func testOutOfOrder(
	t *testing.T,
	tune *tuning.Sizes,
	rng *rand.Rand,
	groups []int64,
	many int,
	sum, of string,
	check func(plan string),
) {
	t.Helper()
	n, all := len(groups), int(slices.Max(groups))+3
	weight := reals(rng, n)
	if strings.Contains(of, "gg.v") { // NULL among them
		for i := range n {
			if rng.Intn(3) == 0 {
				weight.SetNull(i)
				weight.ZeroRow(i)
			}
		}
	}
	db := memdb.New()
	db.Create(
		"a",
		1,
		memdb.Column{Name: "id", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "g", Data: ints(n, func(i int) int64 { return groups[i] })},
		memdb.Column{
			Name: "at",
			Data: ints(n, func(int) int64 { return rng.Int63n(int64(many)) }),
		},
		memdb.Column{Name: "weight", Data: weight},
	)
	db.Create(
		"m",
		1,
		memdb.Column{Name: "id", Data: ints(many, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, many, 3, 4)},
	)
	db.Create(
		"gg",
		1,
		memdb.Column{Name: "id", Data: ints(all, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, all, 3, 4)},
	)
	from := fmt.Sprintf("a JOIN m ON m.id = a.at JOIN m o ON o.id = (7 * a.at + 3) %% %d", many)
	views(
		t,
		db,
		"h",
		"SELECT a.g, "+sum+" AS v FROM "+from+" GROUP BY a.g",
		"loss",
		"SELECT (SELECT "+of+" FROM h JOIN gg ON gg.id = h.g) + "+
			"(SELECT sum(sqnorm(tanh(a.weight * m.v + o.v * gg.v))) FROM "+from+" JOIN gg ON gg.id = a.g) AS loss",
	)
	testRuns(t, tune, db, []string{"m", "gg"}, check)
}
