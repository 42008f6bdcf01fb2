package executor_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// running is a running sum of a parameter over rows that lie in another order.
func running(t testing.TB, n int) *memdb.DB {
	return walk(t, n, "SELECT avg(s * s) AS loss FROM (SELECT sum(v) OVER (ORDER BY at) AS s FROM x) AS q")
}

// peaks are extremes of a parameter, up to each row and around it.
func peaks(t testing.TB, n int) *memdb.DB {
	return walk(t, n, "SELECT avg(a * a + b) AS loss FROM (SELECT max(v) OVER (ORDER BY at) AS a, min(v) OVER (ORDER BY "+
		"at ROWS BETWEEN 500 PRECEDING AND 500 FOLLOWING) AS b FROM x) AS q")
}

// walk is a parameter whose rows lie in another order than theirs, with a loss.
func walk(t testing.TB, n int, loss string) *memdb.DB {
	rng, db := rand.New(rand.NewSource(1)), memdb.New()
	at := rng.Perm(n)
	db.Create("x", 1, memdb.Column{Name: "id", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "at", Data: ints(n, func(i int) int64 { return int64(at[i]) })},
		memdb.Column{Name: "v", Data: reals(rng, n)})
	views(t, db, "loss", loss)
	return db
}

// ordered is a table with ties, NULLs and partitions of several blocks of rows, and of few rows.
func ordered(t testing.TB, n int, loss string) *memdb.DB {
	rng, db := rand.New(rand.NewSource(3)), memdb.New()
	x, o := reals(rng, n), ints(n, func(int) int64 { return rng.Int63n(int64(n) / 3) })
	for i := range n {
		if rng.Intn(4) == 0 {
			x.SetNull(i)
		}
		if rng.Intn(9) == 0 {
			o.SetNull(i)
		}
	}
	db.Create("t", 1, memdb.Column{Name: "id", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "g", Data: ints(n, func(int) int64 { return int64(math.Sqrt(float64(rng.Intn(40)))) - 3 })},
		memdb.Column{Name: "o", Data: o},
		memdb.Column{Name: "x", Data: x}, memdb.Column{Name: "y", Data: reals(rng, n)},
		memdb.Column{Name: "c", Data: reals(rng, n, 3)})
	views(t, db, "loss", loss)
	return db
}

// coarse rounds the numbers of a table that ordered made, so that many are equal.
func coarse(t testing.TB, db *memdb.DB) {
	table, err := db.Table(context.Background(), nil, "", "t")
	if err != nil {
		t.Fatal(err)
	}
	cols, err := db.Read(context.Background(), table, []int{3, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cols {
		seen := map[float32]bool{}
		for i, x := range c.F32() {
			c.F32()[i] = float32(math.Round(16*float64(x)) / 16)
			seen[c.F32()[i]] = true
		}
		if len(seen) < 3 || len(seen) > 20 {
			t.Fatalf("%d different numbers", len(seen))
		}
	}
}

// frames are windows: frames that begin or end with the partition, of peers, of few rows, of many, of none.
var frames = []string{"ORDER BY o, id DESC", "PARTITION BY g ORDER BY o DESC", "PARTITION BY id ORDER BY o",
	"PARTITION BY g % 3 ORDER BY o RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
	"PARTITION BY g ORDER BY o % 50 RANGE CURRENT ROW", "ORDER BY o ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
	"PARTITION BY g ORDER BY o ROWS BETWEEN 40 PRECEDING AND 7 PRECEDING",
	"ORDER BY o ROWS BETWEEN 5 FOLLOWING AND UNBOUNDED FOLLOWING",
	"PARTITION BY g ORDER BY o ROWS BETWEEN UNBOUNDED PRECEDING AND 3 FOLLOWING",
	"PARTITION BY g ORDER BY o ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
	"ORDER BY o ROWS BETWEEN 3 FOLLOWING AND 1 FOLLOWING"}

// TestWindows compares sums over frames with the oracle's, of numbers with NULLs, and of chunks.
func TestWindows(t *testing.T) {
	t.Parallel()
	for i, over := range frames {
		n := 300
		if i == 0 {
			n = 1200 // a device sums by levels, of which so many rows in one frame need a third
		}
		t.Run(over, func(t *testing.T) {
			db := ordered(t, n, fmt.Sprintf(`SELECT avg(coalesce(a, 1) * coalesce(a, 2) * id + coalesce(m, 1) * y +
				coalesce(sqnorm(s), 3)) AS loss FROM (SELECT id, y, sum(x) OVER w AS a, avg(y) OVER w AS m, sum(c) OVER w AS s
				FROM t WINDOW w AS (%s)) AS q WHERE id %% 3 <> 1`, over))
			framesBesideOracle(t, over, db, "sum over R")
		})
	}
}

// framesBesideOracle compares a loss over frames with the oracle, in small pieces; plans must hold an instruction.
func framesBesideOracle(t *testing.T, over string, db *memdb.DB, instruction string) {
	t.Helper()
	tune := tuning.Default()
	executor.SmallWindows(tune)
	for _, opt := range []executor.Options{{Force64: true, Tuning: tune}, {Workers: 3, Tuning: tune}} {
		tol := map[bool]float64{true: 1e-10, false: 1e-4}[opt.Force64]
		plan, p := compile(t, db, []string{"t"}, opt)
		if err := p.Run(context.Background(), opt.Env); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.Explain(), instruction) {
			t.Errorf("%q is no instruction:\n%s", instruction, p.Explain())
		}
		resultsBesideOracle(t, over, db, plan, p, opt.Env, tol)
	}
}

// TestExtremes compares the least and greatest of frames with the oracle's: of numbers with NULLs, of which many are
// equal, and of integers. All that attain an extreme have a share of its gradient.
func TestExtremes(t *testing.T) {
	t.Parallel()
	executor.Long(t)
	for _, over := range frames {
		t.Run(over, func(t *testing.T) {
			for _, few := range []bool{true, false} {
				db := ordered(t, 300, fmt.Sprintf(`SELECT avg(coalesce(a, 1) * coalesce(a, 2) * id + coalesce(m, 1) * y * y +
					coalesce(k, 3) * y + coalesce(s, 1) * b) AS loss FROM (SELECT id, y, max(x) OVER w AS a, min(y * y) OVER w AS m,
					sum(x) OVER w AS s, coalesce(min(x) OVER w, 2) AS b, max(o %% 7) OVER w AS k
					FROM t WINDOW w AS (%s)) AS q WHERE id %% 3 <> 1`, over))
				if few {
					coarse(t, db)
				}
				framesBesideOracle(t, over, db, "where it attains the max")
			}
		})
	}
}

// TestWindowsOfSteps: the rows of a window may be others at each step.
func TestWindowsOfSteps(t *testing.T) {
	t.Parallel()
	db := ordered(t, 300, `SELECT sum(s * s * y) AS loss FROM (SELECT y, sum(x) OVER (PARTITION BY g ORDER BY o) AS s
		FROM t WHERE (id + current_step()) % 3 <> 0) AS q`)
	plan, p := compile(t, db, []string{"t"}, executor.Options{Force64: true})
	for step := range int64(4) {
		env := kernels.Env{Step: step}
		if err := p.Run(context.Background(), env); err != nil {
			t.Fatal(err)
		}
		resultsBesideOracle(t, fmt.Sprintf("step %d", step), db, plan, p, env, 1e-10)
	}
}

// TestWindowsOfWorkers: results do not depend on the number of workers.
func TestWindowsOfWorkers(t *testing.T) {
	t.Parallel()
	for _, frame := range []string{"", " ROWS BETWEEN 30 PRECEDING AND 200 FOLLOWING",
		" RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"} {
		db := ordered(t, 20000, `SELECT sum(s * s * y) AS loss FROM (SELECT y, sum(x) OVER (PARTITION BY g % 2 ORDER BY o`+
			frame+`) AS s FROM t) AS q`)
		var want []byte
		for workers := 1; workers < 5; workers++ {
			_, p := compile(t, db, []string{"t"}, executor.Options{Workers: workers})
			if err := p.Run(context.Background(), kernels.Env{}); err != nil {
				t.Fatal(err)
			}
			cols, err := p.Result(1)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(tensor.AsBytes(cols[len(cols)-3].F32()))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("frame %q: other bits with %d workers", frame, workers)
			}
		}
	}
}

// TestNoSubtraction: what has left a frame leaves no trace, neither an infinity nor the digits beside a large number.
func TestNoSubtraction(t *testing.T) {
	t.Parallel()
	for _, large := range []float64{math.Inf(1), 1e300} {
		db := memdb.New()
		v := reals(rand.New(rand.NewSource(1)), 1000).As(kernels.Type{Kind: kernels.Float32})
		v.F32()[17] = float32(large)
		db.Create("x", 1, memdb.Column{Name: "id", Data: ints(1000, func(i int) int64 { return int64(i) })},
			memdb.Column{Name: "v", Data: v})
		views(t, db, "loss", `SELECT sum(s) AS loss FROM (SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN 40 PRECEDING AND
			CURRENT ROW) AS s FROM x) AS q WHERE id >= 58`)
		besideOracle(t, fmt.Sprint(large), db, []string{"x"}, executor.Options{Force64: true}, 1e-12)
	}
}
