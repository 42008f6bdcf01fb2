package executor_test

import (
	"context"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// TestMapsByRowsBroadcast: chunks of several ranks beside each other. Those with fewer axes have their rows along
// another axis.
func TestMapsByRowsBroadcast(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	for _, c := range []struct {
		score  string
		e, f   []int
		byRows bool
	}{
		{score: "e.v * f.x", e: []int{5, 5, 3}, f: []int{5, 3}, byRows: false},
		{score: "e.v * f.x", e: []int{5, 4, 3}, f: []int{5, 1, 3}, byRows: true},
		{score: "e.v * f.x", e: []int{5, 4, 3}, f: []int{5, 4, 1}, byRows: true},
		{score: "e.v * f.x", e: []int{5, 4, 3}, f: []int{5, 1, 1}, byRows: true},
		{score: "e.v * f.x", e: []int{5, 4, 3}, f: []int{1, 4, 3}, byRows: false},
		{score: "e.v * f.x", e: []int{5, 6}, f: []int{5, 1}, byRows: true},
		{score: "e.v * f.x", e: []int{5, 6}, f: []int{1, 6}, byRows: false},
		{score: "e.v * f.x", e: []int{6, 6}, f: []int{6}, byRows: false},
		{score: "e.v * f.x", e: []int{6, 6}, f: nil, byRows: false},
		{score: "softmax(e.v * f.x)", e: []int{5, 4, 3}, f: []int{5, 4, 1}, byRows: true},
		{score: "log_softmax(e.v * f.x)", e: []int{5, 5, 3}, f: []int{5, 3}, byRows: false},
	} {
		for _, n := range []int{1, 4} {
			for _, wide := range []bool{true, false} {
				rng, db := rand.New(rand.NewSource(9)), memdb.New()
				id := ints(n, func(r int) int64 { return int64(r) })
				db.Create("e", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, n, c.e...)})
				db.Create("f", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "x", Data: reals(rng, n, c.f...)})
				// the gradient of exp reads its result, not the score
				views(t, db, "loss", "SELECT ln(3 + sum(sqnorm(exp("+c.score+")))) AS loss FROM e JOIN f USING (id)")
				tol := 1e-10
				if !wide {
					tol = 1e-4
				}
				opt := executor.Options{Tuning: tune, Force64: wide, Workers: 3}
				besideOracle(t, c.score, db, []string{"e"}, opt, tol)
				_, p := compile(t, db, []string{"e"}, opt)
				if got := strings.Contains(p.Explain(), "map by rows"); got != (c.byRows || c.f == nil && n == 1) {
					t.Errorf("%s of %v and %v, %d rows: a map by rows %v in\n%s", c.score, c.e, c.f, n, got, p.Explain())
				}
			}
		}
	}
}

// TestProductsOfRows: products of a map's rows with narrow matrices that are there before it are made with the map,
// others after it.
func TestProductsOfRows(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	for _, with := range []struct {
		views   []string
		besides [2]int // of one head, of five; some of them are products of gradients
	}{
		{views: []string{"loss", "SELECT sum(sqnorm(matmul(p, tanh(v)))) AS loss FROM scores"}, besides: [2]int{2, 1}},
		{views: []string{"loss",
			"SELECT sum(dot(matmul(p, q), tanh(matmul(p, m))) + sqnorm(matmul(p, v))) AS loss FROM scores"},
			besides: [2]int{4, 4}},
		{views: []string{"loss", "SELECT sum(sqnorm(matmul(p, transpose(u)))) AS loss FROM scores"}, besides: [2]int{2, 2}},
		{views: []string{"loss", "SELECT sum(sqnorm(matmul(transpose(p), v))) AS loss FROM scores"}, besides: [2]int{0, 0}},
		{views: []string{"loss", "SELECT sum(sqnorm(matmul(p, p))) AS loss FROM scores"}, besides: [2]int{1, 1}},
		{views: []string{"loss", "SELECT sum(sqnorm(matmul(p, matmul(transpose(p), v)))) AS loss FROM scores"},
			besides: [2]int{0, 0}},
		{views: []string{"loss", "SELECT sum(sqnorm(matmul(p, wide))) AS loss FROM scores"}, besides: [2]int{1, 1}},
		{views: []string{"loss", "SELECT sum(sqnorm(v)) + sum(sqnorm(matmul(p, w))) AS loss FROM scores CROSS JOIN wide"},
			besides: [2]int{1, 1}},
		{views: []string{"o", "SELECT s.head, matmul(s.p, r.v) AS o FROM scores s JOIN scores r ON r.head = s.head + 1",
			"loss", "SELECT sum(sqnorm(o)) AS loss FROM o"}, besides: [2]int{2, 2}},
		{views: []string{"o", "SELECT head, matmul(p, v) AS o FROM scores", "loss",
			"SELECT sum(dot(x.o, tanh(y.o)) + sqnorm(p)) AS loss FROM o x JOIN o y ON y.head = x.head + 1 JOIN scores s ON " +
				"s.head = x.head"}, besides: [2]int{2, 2}},
	} {
		for i, n := range []int{1, 5} {
			t.Run(strings.Join(with.views, " "), func(t *testing.T) {
				rng, db := rand.New(rand.NewSource(9)), memdb.New()
				id := ints(n, func(r int) int64 { return int64(r) })
				db.Create(
					"head",
					1,
					memdb.Column{Name: "head", Data: id},
					memdb.Column{Name: "q", Data: reals(rng, n, 9, 3)},
					memdb.Column{Name: "k", Data: reals(rng, n, 9, 3)},
					memdb.Column{
						Name: "v",
						Data: reals(rng, n, 9, 4),
					},
					memdb.Column{Name: "u", Data: reals(rng, n, 2, 9)},
					memdb.Column{Name: "wide", Data: reals(rng, n, 9, 5)},
				)
				db.Create(
					"wide",
					1,
					memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
					memdb.Column{Name: "w", Data: reals(rng, 1, 9, 7)},
					memdb.Column{Name: "m", Data: reals(rng, 1, 9, 3)},
				)
				views(
					t,
					db,
					append(
						[]string{
							"scores",
							"SELECT head, q, k, v, u, head.wide, m, softmax(matmul(q, transpose(k)) / 2) AS p FROM head CROSS JOIN wide",
						},
						with.views...)...)
				testRuns(t, tune, db, []string{"head"}, func(plan string) {
					if got := strings.Count(plan, " = of its rows"); got != with.besides[i] {
						t.Errorf("%d products of a map's rows, not %d\n%s", got, with.besides[i], plan)
					}
				})
			})
		}
	}
}

// patient is a context that is cancelled once it has been asked so often.
type patient struct {
	context.Context
	left int
}

func (c *patient) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelledBeforeOnce: a step that is cancelled at any point, also before what is computed once has been, leaves a
// program whose next step is right although its rows are others.
func TestCancelledBeforeOnce(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	const rows = 5
	rng, db := rand.New(rand.NewSource(10)), memdb.New()
	db.Create(
		"d",
		1,
		memdb.Column{Name: "id", Data: ints(rows, func(r int) int64 { return int64(r) })},
		memdb.Column{Name: "x", Data: reals(rng, rows, 4, 6)},
	)
	db.Create(
		"w",
		1,
		memdb.Column{Name: "id", Data: ints(rows, func(r int) int64 { return int64(r) })},
		memdb.Column{Name: "v", Data: reals(rng, rows, 4, 6)},
	)
	db.Create("many", 1, memdb.Column{Name: "k", Data: ints(20, func(r int) int64 { return int64(r) })})
	views(
		t,
		db,
		"s",
		"SELECT id, softmax(tanh(x) * 30) AS v FROM d",
		"b",
		"SELECT k, (7 * k + current_step()) % 5 AS id FROM many",
		"loss",
		"SELECT sum(sqnorm(w.v * s.v) * (k + 1)) AS loss FROM b JOIN s USING (id) JOIN w USING (id)",
	)
	for done, left := false, 0; !done; left++ {
		plan, p := compile(t, db, []string{"w"}, executor.Options{Tuning: tune, Workers: 1})
		err := p.Run(&patient{Context: context.Background(), left: left}, kernels.Env{Step: 1})
		if done = err == nil; !done && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		env := kernels.Env{Step: 2}
		if err := p.Run(context.Background(), env); err != nil {
			t.Fatalf("after a step that was cancelled when it had asked %d times: %v", left, err)
		}
		if !strings.Contains(p.Explain(), "map by rows") {
			t.Fatal(p.Explain())
		}
		resultsBesideOracle(t, "loss and gradients", db, plan, p, env, 1e-4)
	}
}

// TestWorkByRows: a map does the same work over the rows of its chunks.
func TestWorkByRows(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	rng, db := rand.New(rand.NewSource(11)), memdb.New()
	db.Create(
		"e",
		1,
		memdb.Column{Name: "id", Data: ints(3, func(r int) int64 { return int64(r) })},
		memdb.Column{Name: "v", Data: reals(rng, 3, 5, 6)},
	)
	views(t, db, "loss", "SELECT ln(3 + sum(sqnorm(tanh(v)))) AS loss FROM e")
	_, p := compile(t, db, []string{"e"}, executor.Options{Tuning: tune})
	executor.SmallProducts(tune)
	_, q := compile(t, db, []string{"e"}, executor.Options{Tuning: tune})
	if got, want := q.Work(), p.Work(); !strings.Contains(q.Explain(), "map by rows") || got.Flops != want.Flops ||
		got.Bytes != want.Bytes {
		t.Errorf("%+v, not %+v, in\n%s", got, want, q.Explain())
	}
}
