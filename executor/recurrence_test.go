package executor_test

import (
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// TestRecurrenceWork: the gradient of a recurrence reads the products of its steps and those that it has made itself,
// though it reads them in another order.
func TestRecurrenceWork(t *testing.T) {
	t.Parallel()
	const seqs, steps, units = 8, 100, 64
	rng, db := rand.New(rand.NewSource(5)), memdb.New()
	seq := func(r int) int64 { return int64(r / steps) }
	db.Create("token", 2, memdb.Column{Name: "seq", Data: ints(seqs*steps, seq)},
		memdb.Column{Name: "t", Data: ints(seqs*steps, func(r int) int64 { return int64(r%steps + 1) })},
		memdb.Column{Name: "x", Data: reals(rng, seqs*steps, units)})
	db.Create("goal", 1, memdb.Column{Name: "seq", Data: ints(seqs, func(r int) int64 { return int64(r) })},
		memdb.Column{Name: "y", Data: reals(rng, seqs, units)})
	db.Create("cell", 1, memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
		memdb.Column{Name: "w", Data: reals(rng, 1, units, units)},
		memdb.Column{Name: "u", Data: reals(rng, 1, units, units)},
		memdb.Column{Name: "b", Data: reals(rng, 1, units)})
	views(t, db, "loss", `WITH RECURSIVE s(seq, t, h) AS (SELECT seq, 0, 0 * y FROM goal UNION ALL
SELECT x.seq, x.t, sigmoid(matmul(x.x, w) + b + matmul(tanh(s.h), u))
FROM s JOIN token x ON x.seq = s.seq AND x.t = s.t + 1 CROSS JOIN cell)
SELECT sum(sqnorm(h - y)) AS loss FROM s JOIN goal USING (seq) WHERE t = 100`)
	plan, p := compile(t, db, []string{"cell"}, executor.Options{Force64: true})
	env := kernels.Env{}
	if err := p.Run(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	resultsBesideOracle(t, "loss and gradients", db, plan, p, env, 1e-10)
	const product = 2 * units * units
	if got := p.Work().Flops / (seqs * steps * product); got > 8.6 {
		t.Errorf("%.2f products for each step, more than 8.6", got)
	}
}
