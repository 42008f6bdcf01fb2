package executor_test

import (
	"context"
	"errors"
	"math/rand"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// spilling are the models with sizes at which they need some tens of megabytes.
var spilling = map[string]int{"graph": 3000, "logistic": 20000, "factors": 60000, "transe": 20000, "dense": 1000}

// stepped are the results of three steps, bit by bit, and the program that made them.
func stepped(
	t *testing.T,
	plan *ra.Plan,
	db *memdb.DB,
	opt executor.Options,
) (out []*column.Column, s executor.Spilled, err error) {
	t.Helper()
	told := 0
	opt.Spills = func(executor.Spilled) { told++ }
	p, err := executor.CompileOn(context.Background(), plan, db, opt)
	if err != nil {
		return nil, s, err
	}
	defer p.Close()
	for step := range int64(3) {
		if err := p.Run(context.Background(), kernels.Env{Seed: 4, Step: step}); err != nil {
			return nil, s, err // of a plan whose rows change from step to step
		}
		for i := range plan.Roots {
			cols, err := p.Result(i)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, cols...)
		}
	}
	if s = p.Spilled(); (s.Columns > 0) != (told == 1) || told > 1 {
		t.Errorf("%d columns lie in files, which was said %d times", s.Columns, told)
	}
	return out, s, nil
}

func sameBits(a, b []*column.Column) bool { return slices.EqualFunc(a, b, column.Equal) }

var atLeast = regexp.MustCompile(`at least (\d+)MB`)

// smallestBudget is what the error about a budget of one byte says.
func smallestBudget(t *testing.T, err error) int64 {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.OutOfMemory || !atLeast.MatchString(e.Hint) {
		t.Fatalf("a budget that is too small: %v", err)
	}
	n, err := strconv.ParseInt(atLeast.FindStringSubmatch(e.Hint)[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 20
}

// TestSpilledResults: results do not depend on the budget, down to the smallest that works, nor on the number of
// workers.
func TestSpilledResults(t *testing.T) {
	executor.Long(t)
	tune := tuning.Default()
	if runtime.GOOS != "linux" {
		t.Skip("spilling exists on Linux only")
	}
	executor.SpillFrom(tune, 1<<14)
	before, bytes := tensor.LiveBuffers()
	trims := tensor.Trims()
	for name, size := range spilling {
		db := models[name].make(t, size)
		res, err := gradtest.Optimize(context.Background(), db, "loss", models[name].params, optimizer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		want, s, err := stepped(t, res.Plan, db, executor.Options{Tuning: tune, Workers: 2, Memory: 1 << 40, SpillDir: dir})
		if err != nil || s.Columns > 0 {
			t.Fatalf("%s, without a bound: %+v %v", name, s, err)
		}
		for _, workers := range []int{1, 2} {
			_, _, err = stepped(t, res.Plan, db, executor.Options{Tuning: tune, Workers: workers, Memory: 1, SpillDir: dir})
			least := smallestBudget(t, err)
			for _, budget := range []int64{least, s.Needs / 2, s.Needs * 3 / 4} {
				if budget = max(budget, least); budget >= s.Needs {
					continue
				}
				got, spilled, err := stepped(
					t,
					res.Plan,
					db,
					executor.Options{Tuning: tune, Workers: workers, Memory: budget, SpillDir: dir},
				)
				switch {
				case err != nil:
					t.Errorf("%s needs %d bytes, with a budget of %d: %v", name, s.Needs, budget, err)
				case !sameBits(got, want):
					t.Errorf(
						"%s needs %d bytes: with a budget of %d and %d workers the results are others, spilled %+v",
						name,
						s.Needs,
						budget,
						workers,
						spilled,
					)
				case spilled.Columns == 0:
					t.Errorf("%s needs %d bytes, and nothing is spilled with a budget of %d", name, s.Needs, budget)
				}
			}
		}
	}
	if n, b := tensor.LiveBuffers(); n != before {
		t.Errorf("%d buffers, %d bytes are not freed", n-before, b-bytes)
	}
	if tensor.Trims() == trims {
		t.Error("no pages were ever released")
	}
}

// TestSmallestBudget: the budget that an error names works, the next smaller one does not, and each that is too small
// names it.
func TestSmallestBudget(t *testing.T) {
	t.Parallel()
	executor.Long(t)
	tune := tuning.Default()
	if runtime.GOOS != "linux" {
		t.Skip("spilling exists on Linux only")
	}
	executor.SpillFrom(tune, 1<<14)
	for name, size := range spilling {
		db := models[name].make(t, size)
		res, err := gradtest.Optimize(context.Background(), db, "loss", models[name].params, optimizer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 2} {
			try := func(budget int64) error {
				_, _, err := stepped(
					t,
					res.Plan,
					db,
					executor.Options{Tuning: tune, Workers: workers, Memory: budget, SpillDir: t.TempDir()},
				)
				return err
			}
			least := smallestBudget(t, try(1))
			for _, budget := range []int64{least / 4, least / 2, least * 7 / 8, least - 1<<20} {
				if budget = budget >> 20 << 20; budget == 0 {
					continue
				}
				if err := try(budget); err == nil {
					t.Errorf("%s, %d workers: the smallest budget is %d MB, and one of %d works", name, workers, least>>20, budget)
				} else if got := smallestBudget(t, err); got != least {
					t.Errorf("%s, %d workers: the smallest budget is %d MB with a budget of 1 byte, and %d MB with one of %d", name,
						workers, least>>20, got>>20, budget)
				}
			}
			if err := try(least); err != nil {
				t.Errorf("%s, %d workers: with the smallest budget: %v", name, workers, err)
			}
		}
	}
}

// TestFullDisk: a file that the disk has no room for is an error before anything is computed, and nothing is left.
func TestFullDisk(t *testing.T) {
	tune := tuning.Default()
	if runtime.GOOS != "linux" {
		t.Skip("spilling exists on Linux only")
	}
	executor.SpillFrom(tune, 1<<14)
	count, _ := tensor.LiveBuffers()
	db := models["logistic"].make(t, 20000)
	res, err := gradtest.Optimize(context.Background(), db, "loss", models["logistic"].params, optimizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir, full := t.TempDir(), limitFiles(t, 1<<20) // bytes
	_, _, err = stepped(t, res.Plan, db, executor.Options{Tuning: tune, Workers: 1, Memory: 4 << 20, SpillDir: dir})
	full()
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.DiskFull || !strings.Contains(e.Message, dir) {
		t.Errorf("files of at most 1 MB: %v", err)
	}
	_, _, err = stepped(
		t,
		res.Plan,
		db,
		executor.Options{Tuning: tune, Workers: 1, Memory: 4 << 20, SpillDir: filepath.Join(dir, "absent")},
	)
	if sqlerr.Code(err) != sqlerr.IO {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if n, _ := tensor.LiveBuffers(); n != count {
		t.Errorf("%d buffers are not freed", n-count)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if _, s, err := stepped(t, res.Plan, db, executor.Options{Tuning: tune, Workers: 1, Memory: 4 << 20,
		SpillDir: dir}); err != nil ||
		s.Columns == 0 {
		t.Errorf("after that: %+v, %v", s, err)
	}
}

// limitFiles bounds the size of files in bytes, as a full disk does, until the function that it returns is called.
func limitFiles(t *testing.T, bytes uint64) (back func()) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}

// TestSpilledProducts: large products, their sums by group and maps by rows whose columns lie in files give the same
// results, and rows of blocks that are read through an index are counted as such.
func TestSpilledProducts(t *testing.T) {
	t.Parallel()
	executor.Long(t)
	tune := tuning.Default()
	if runtime.GOOS != "linux" {
		t.Skip("spilling exists on Linux only")
	}
	executor.SpillFrom(tune, 1<<14)
	for name, c := range map[string]struct {
		params []string
		forms  []string
		make   func(rng *rand.Rand, db *memdb.DB)
	}{
		"one matrix": {params: []string{"o", "e"}, forms: []string{"map by rows", "narrow GEMM"},
			make: func(rng *rand.Rand, db *memdb.DB) {
				id := ints(12, func(r int) int64 { return int64(r) })
				db.Create("o", 1, memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
					memdb.Column{Name: "v", Data: reals(rng, 1, 512, 512)})
				db.Create("e", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 12, 512, 256)})
				views(t, db, "p", "SELECT e.id, softmax(matmul(o.v, e.v)) AS v FROM e CROSS JOIN (SELECT v FROM o) o", "loss",
					"SELECT ln(1 + sum(sqnorm(v))) AS loss FROM p")
			}},
		"scores": {params: []string{"q", "k"}, forms: []string{"map by rows over 6144 rows: softmax(matmul(", "map by rows",
			"narrow GEMM"}, make: func(rng *rand.Rand, db *memdb.DB) {
			id := ints(6, func(r int) int64 { return int64(r) })
			db.Create("q", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 6, 1024, 64)})
			db.Create("k", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 6, 1024, 64)})
			views(t, db, "p", "SELECT softmax(matmul(q.v, transpose(k.v))) AS v, k.v AS k FROM q JOIN k USING (id)", "loss",
				"SELECT ln(1 + sum(sqnorm(matmul(v, k)))) AS loss FROM p")
		}},
		"blocks": {params: []string{"a", "b"}, forms: []string{"sum GEMM over", "sum GEMM over", "sum GEMM over"},
			make: func(rng *rand.Rand, db *memdb.DB) {
				sparseBlocks(db, rng, "a", 7, 128, 128)
				sparseBlocks(db, rng, "b", 7, 128, 128)
				views(t, db, "p", "SELECT a.i, b.j, sum(matmul(a.v, b.v)) AS v FROM a JOIN b ON a.j = b.i GROUP BY a.i, b.j",
					"loss",
					"SELECT ln(1 + sum(sqnorm(tanh(v)))) AS loss FROM p")
			}},
	} {
		db := memdb.New()
		c.make(rand.New(rand.NewSource(12)), db)
		res, err := gradtest.Optimize(context.Background(), db, "loss", c.params, optimizer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, p := compile(t, db, c.params, executor.Options{Tuning: tune})
		text := p.Explain()
		for _, f := range c.forms {
			_, rest, found := strings.Cut(text, f)
			if text = rest; !found {
				t.Errorf("%s: too few %s in\n%s", name, f, p.Explain())
			}
		}
		dir := t.TempDir()
		want, s, err := stepped(t, res.Plan, db, executor.Options{Tuning: tune, Workers: 2, Memory: 1 << 40, SpillDir: dir})
		if err != nil || s.Columns > 0 {
			t.Fatalf("%s, without a bound: %+v %v", name, s, err)
		}
		least := int64(1)
		for range 2 { // what the structure needs, and what the values do
			if _, _, err = stepped(t, res.Plan, db, executor.Options{Tuning: tune, Workers: 2, Memory: least,
				SpillDir: dir}); err != nil {
				least = smallestBudget(t, err)
			}
		}
		for _, budget := range []int64{least, s.Needs * 3 / 4} {
			got, spilled, err := stepped(
				t,
				res.Plan,
				db,
				executor.Options{Tuning: tune, Workers: 2, Memory: budget, SpillDir: dir},
			)
			if err != nil || spilled.Columns == 0 || !sameBits(got, want) {
				t.Errorf(
					"%s needs %d bytes: with a budget of %d %+v, %v, the same results %v",
					name,
					s.Needs,
					budget,
					spilled,
					err,
					sameBits(got, want),
				)
			}
		}
	}
}
