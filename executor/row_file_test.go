package executor_test

import (
	"context"
	"math/rand"
	"runtime"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/tensor"
)

// TestRowsFromFile: rows that are read through an index from a column in a file, one by one and by SpMM, some of whose
// groups are larger than a piece, give the bits that they give in memory.
func TestRowsFromFile(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	if runtime.GOOS != "linux" {
		t.Skip("spilling exists on Linux only")
	}
	executor.SpillFrom(tune, 1<<14)
	executor.SmallPieces(tune)
	const nodes, edges = 20000, 60000
	for name, c := range map[string]struct {
		form, sum, term string
		size            int
	}{
		"load": {form: "x.v[·]", sum: "", term: "sqnorm(tanh(x.v * l.w))", size: 33},
		"SpMM": {form: "SpMM from a file", sum: "a.w * x.v", term: "", size: 33},
		// a strip of the loops and a rest
		"SpMM without weights": {form: "SpMM from a file", sum: "x.v", term: "", size: 261},
		"SpMM of a difference": {form: "SpMM from a file", sum: "a.w * (x.v - y.v)", term: "", size: 33},
	} {
		rng := rand.New(rand.NewSource(6))
		db := memdb.New()
		id := func(r int) int64 { return int64(r) }
		db.Create(
			"x",
			1,
			memdb.Column{Name: "id", Data: ints(nodes, id)},
			memdb.Column{Name: "v", Data: reals(rng, nodes, c.size)},
		)
		db.Create(
			"y",
			1,
			memdb.Column{Name: "id", Data: ints(nodes, id)},
			memdb.Column{Name: "v", Data: reals(rng, nodes, c.size)},
		)
		db.Create("l", 1, memdb.Column{Name: "id", Data: ints(1, id)}, memdb.Column{Name: "w", Data: reals(rng, 1, c.size)})
		hub := func(int) int64 { return int64(rng.Intn(nodes) * min(rng.Intn(40), 1)) }
		db.Create("a", 1, memdb.Column{Name: "id", Data: ints(edges, id)}, memdb.Column{Name: "src", Data: ints(edges, hub)},
			memdb.Column{Name: "dst", Data: ints(edges, hub)}, memdb.Column{Name: "w", Data: reals(rng, edges)})
		if c.sum == "" {
			views(t, db, "loss", "SELECT sum(a.w * "+c.term+") AS loss FROM a JOIN x ON x.id = a.src CROSS JOIN l")
		} else {
			views(t, db, "s", "SELECT a.dst, sum("+c.sum+") AS v FROM a JOIN x ON x.id = a.src JOIN y ON y.id = a.dst GROUP "+
				"BY a.dst",
				"loss", "SELECT sum(sqnorm(tanh(s.v * l.w))) AS loss FROM s CROSS JOIN l")
		}
		res, err := gradtest.Optimize(context.Background(), db, "loss", []string{"l"}, optimizer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run := func(budget int64) ([]*column.Column, error) {
			got, _, err := stepped(
				t,
				res.Plan,
				db,
				executor.Options{Tuning: tune, Workers: 2, Memory: budget, SpillDir: t.TempDir()},
			)
			return got, err
		}
		want, err := run(1 << 40)
		if err != nil {
			t.Fatal(err)
		}
		_, err = run(1)
		least, reads := smallestBudget(t, err), tensor.RowReads()
		got, err := run(least)
		if err != nil || !sameBits(got, want) {
			t.Errorf("%s: with a budget of %d: %v, the same results %v", name, least, err, sameBits(got, want))
		}
		if tensor.RowReads() == reads {
			t.Errorf("%s: no rows were read from a file", name)
		}
		p, err := executor.CompileOn(
			context.Background(),
			res.Plan,
			db,
			executor.Options{Tuning: tune, Workers: 2, Memory: least, SpillDir: t.TempDir()},
		)
		if err != nil {
			t.Fatal(err)
		}
		if text := p.Explain(); !strings.Contains(text, c.form) {
			t.Errorf("%s: no %s in\n%s", name, c.form, text)
		}
		p.Close()
	}
}
