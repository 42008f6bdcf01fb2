package gradtest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/randquery/engines"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
)

// TestEndless refuses a recursive query that does not end, with its reason.
func TestEndless(t *testing.T) {
	db, ctx := Graph(), context.Background()
	res, err := Optimize(ctx, db, "WITH RECURSIVE r(n, x) AS (SELECT 1, sum(weight) FROM adj UNION ALL SELECT n + 1, "+
		"x / 2 FROM r) SELECT sum(x) FROM r", []string{"adj"}, optimizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	few := tuning.Default()
	few.Levels = 50
	p, err := executor.Compile(ctx, res.Plan, db, executor.Options{Workers: 2, Tuning: few})
	if sqlerr.Code(err) != sqlerr.TooComplex || !strings.Contains(err.Error(), "or 50 levels") {
		t.Errorf("refused with %v", err)
	}
	p.Close()
}

// TestRepeated refuses rows with the same key.
func TestRepeated(t *testing.T) {
	db, ctx := Graph(), context.Background()
	res, err := Optimize(ctx, db, "WITH RECURSIVE r(n, x) AS (SELECT src, weight FROM adj UNION ALL SELECT n + 10, x "+
		"FROM r WHERE n < 0) SELECT sum(x) FROM r", []string{"adj"}, optimizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := executor.Compile(ctx, res.Plan, db, executor.Options{Workers: 2})
	if sqlerr.Code(err) != sqlerr.Cardinality {
		t.Errorf("refused with %v", err)
	}
	p.Close()
}

// TestRecursionsAgain runs them with several seeds and numbers of workers: the structure is built anew, and results
// have the same bits.
func TestRecursionsAgain(t *testing.T) {
	db, ctx := Graph(), context.Background()
	for _, c := range Recursions {
		res, err := Optimize(ctx, db, c.SQL, c.Params, optimizer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var first []map[string][]float64
		for _, workers := range []int{1, 3} {
			p, err := executor.Compile(ctx, res.Plan, db, executor.Options{Workers: workers, Many: true})
			if err != nil {
				t.Fatal(err)
			}
			for step := range int64(3) {
				env := kernels.Env{Seed: 1 + step/2, Step: step}
				if err := p.Run(ctx, env); err != nil {
					t.Fatalf("%s: step %d: %v", c.SQL, step, err)
				}
			}
			for i := range res.Plan.Roots {
				cols, err := p.Result(i)
				if err != nil {
					t.Fatal(err)
				}
				if workers == 1 {
					first = append(first, VectorRows(cols))
				} else if err := Compare(VectorRows(cols), first[i], 0); err != nil {
					t.Errorf("%s: root %d with %d workers: %v", c.SQL, i, workers, err)
				}
			}
			p.Close()
		}
	}
}

// TestRecursionsAtSites runs them at several sites of this process, and at such that have nothing in common; how many
// and where tables lie is drawn from the plan.
func TestRecursionsAtSites(t *testing.T) {
	need.Time(t)
	db, ctx, env := Graph(), t.Context(), &kernels.Env{Seed: 1, Step: 2}
	// beside single precision, an exchange moves numbers with each run
	real := column.Of(kernels.Type{Kind: kernels.Float32}, []float32{1})
	db.Create("single", 1, memdb.Column{Name: "id", Data: ints(1)}, memdb.Column{Name: "x", Data: real})
	for _, c := range Recursions {
		for _, opt := range []optimizer.Options{{}, {Disable: []string{"HoistFromLoop"}}, {Disable: ruleNames()}} {
			res, err := Optimize(ctx, db, c.SQL, c.Params, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []randquery.Engine{engines.Sites(&atomic.Int64{}), engines.Apart()} {
				got, err := e.Run(ctx, db, res.Plan, env)
				if err != nil {
					t.Errorf("%s: %s: %v", e.Name, c.SQL, err)
					continue
				}
				for i, root := range res.Plan.Roots {
					want, err := Rows(ctx, db, env, root)
					if err != nil {
						t.Fatal(err)
					}
					if err := Compare(Keyed(got[i]), want, 1e-12); err != nil {
						t.Errorf("%s: %s: root %s: %v", e.Name, c.SQL, root.Name, err)
					}
				}
			}
		}
	}
}
