package executor_test

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
)

func ints(n int, f func(i int) int64) *column.Column {
	v := column.New(kernels.Type{Kind: kernels.Int}, n)
	for i := range v.I64() {
		v.I64()[i] = f(i)
	}
	return v
}

func reals(rng *rand.Rand, n int, shape ...int) *column.Column {
	if len(shape) == 0 {
		shape = nil
	}
	v := column.New(kernels.Type{Kind: kernels.Float32, Shape: shape}, n)
	for i := range v.F32() {
		v.F32()[i] = float32(rng.NormFloat64()) * 0.1
	}
	return v
}

// view adds views in order: name, text, name, text, …
func views(t testing.TB, db *memdb.DB, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if err := db.AddView(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
}

// model is a database with a loss, of any size.
type model struct {
	make   func(t testing.TB, size int) *memdb.DB
	params []string
	bench  int // size for the benchmark
}

var models = map[string]model{
	"graph":      {make: Graph, params: []string{"w0", "w1"}, bench: 16934},
	"logistic":   {make: logistic, params: []string{"model"}, bench: 100000},
	"factors":    {make: factors, params: []string{"taste", "trait"}, bench: 80000},
	"transe":     {make: transE, params: []string{"entity", "relation"}, bench: 30000},
	"perceptron": {make: perceptron, params: []string{"l1", "l2"}, bench: 4000},
	"chain":      {make: chain, params: []string{"a", "d"}, bench: 1024},
	"dense":      {make: dense, params: []string{"w", "h"}, bench: 2000},
	"running":    {make: running, params: []string{"x"}, bench: 1_000_000},
	"peaks":      {make: peaks, params: []string{"x"}, bench: 1_000_000},
}

func compile(t testing.TB, db *memdb.DB, params []string, opt executor.Options) (*ra.Plan, *executor.Program) {
	ctx := context.Background()
	res, err := gradtest.Optimize(ctx, db, "loss", params, optimizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := executor.CompileOn(ctx, res.Plan, db, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return res.Plan, p
}

// TestModels compares small models with the oracle, over several steps.
func TestModels(t *testing.T) {
	t.Parallel()
	executor.Long(t)
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			db := m.make(t, 60)
			for _, opt := range []executor.Options{{Force64: true}, {Workers: 3}} {
				tol := 1e-10
				if !opt.Force64 {
					tol = 2e-4
				}
				plan, p := compile(t, db, m.params, opt)
				for step := range int64(3) {
					env := kernels.Env{Seed: 4, Step: step}
					if err := p.Run(context.Background(), env); err != nil {
						t.Fatal(err)
					}
					resultsBesideOracle(t, fmt.Sprintf("step %d, %+v", step, opt), db, plan, p, env, tol)
				}
			}
		})
	}
}

// BenchmarkModel is one training step: the loss and all gradients.
func BenchmarkModel(b *testing.B) {
	for name, m := range models {
		b.Run(name, func(b *testing.B) {
			_, p := compile(b, m.make(b, m.bench), m.params, executor.Options{})
			step := int64(1)
			run := func() {
				step++
				if err := p.Run(context.Background(), kernels.Env{Step: step}); err != nil {
					b.Fatal(err)
				}
			}
			run()
			for b.Loop() {
				run()
			}
			if testing.Verbose() {
				b.Log("\n" + p.Explain())
			}
		})
	}
}

// Graph is a GCN; with 169,343 nodes it is of the size of ogbn-arxiv.
func Graph(b testing.TB, nodes int) *memdb.DB {
	edges := 15 * nodes
	rng := rand.New(rand.NewSource(1))
	db := memdb.New()
	id := ints(nodes, func(i int) int64 { return int64(i) })
	db.Create(
		"node",
		1,
		memdb.Column{Name: "node", Data: id},
		memdb.Column{Name: "label", Data: ints(nodes, func(int) int64 { return rng.Int63n(40) })},
		memdb.Column{Name: "x", Data: reals(rng, nodes, 128)},
	)
	db.Create(
		"adj",
		1,
		memdb.Column{Name: "e", Data: ints(edges, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "src", Data: ints(edges, func(int) int64 { return rng.Int63n(int64(nodes)) })},
		memdb.Column{
			Name: "dst",
			Data: ints(edges, func(i int) int64 { return int64(i % nodes) }),
		},
		memdb.Column{Name: "weight", Data: reals(rng, edges)},
	)
	one := ints(1, func(int) int64 { return 1 })
	db.Create("w0", 1, memdb.Column{Name: "id", Data: one}, memdb.Column{Name: "v", Data: reals(rng, 1, 128, 256)})
	db.Create("w1", 1, memdb.Column{Name: "id", Data: one}, memdb.Column{Name: "v", Data: reals(rng, 1, 256, 40)})
	views(
		b,
		db,
		"hidden",
		"SELECT a.dst AS node, relu(sum(a.weight * matmul(n.x, w0.v))) AS h FROM adj a JOIN node n ON n.node = a.src "+
			"CROSS JOIN w0 GROUP BY a.dst",
		"logits",
		"SELECT a.dst AS node, sum(a.weight * matmul(dropout(h.h, 0.5), w1.v)) AS z FROM adj a JOIN hidden h ON h.node = "+
			"a.src CROSS JOIN w1 GROUP BY a.dst",
		"loss",
		"SELECT avg(cross_entropy(z, label)) FROM logits NATURAL JOIN node",
	)
	return db
}

// logistic is logistic regression with 100 features.
func logistic(b testing.TB, n int) *memdb.DB {
	rng := rand.New(rand.NewSource(1))
	db := memdb.New()
	db.Create(
		"point",
		1,
		memdb.Column{Name: "row", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{
			Name: "y",
			Data: ints(n, func(int) int64 { return rng.Int63n(2) }),
		},
		memdb.Column{Name: "x", Data: reals(rng, n, 100)},
	)
	db.Create(
		"model",
		1,
		memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
		memdb.Column{Name: "w", Data: reals(rng, 1, 100)},
		memdb.Column{Name: "b", Data: reals(rng, 1)},
	)
	views(
		b,
		db,
		"loss",
		"SELECT avg(softplus(z) - y * z) FROM (SELECT p.y, dot(p.x, m.w) + m.b AS z FROM point p CROSS JOIN model m) s",
	)
	return db
}

// factors is a factorisation of scalar ratings, rank 15.
func factors(b testing.TB, n int) *memdb.DB {
	users, items := n/130+3, n/9+3
	rng := rand.New(rand.NewSource(1))
	db := memdb.New()
	db.Create(
		"rating",
		1,
		memdb.Column{Name: "row", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "u", Data: ints(n, func(i int) int64 { return int64(i * users / n) })},
		memdb.Column{
			Name: "i",
			Data: ints(n, func(int) int64 { return rng.Int63n(int64(items)) }),
		},
		memdb.Column{Name: "rating", Data: reals(rng, n)},
	)
	db.Create(
		"taste",
		1,
		memdb.Column{Name: "u", Data: ints(users, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, users, 15)},
	)
	db.Create(
		"trait",
		1,
		memdb.Column{Name: "i", Data: ints(items, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, items, 15)},
	)
	views(
		b,
		db,
		"loss",
		"SELECT sum((r.rating - dot(taste.v, trait.v)) ^ 2 + 0.06 * (sqnorm(taste.v) + sqnorm(trait.v))) / count(*) "+
			"FROM rating r JOIN taste USING (u) JOIN trait USING (i)",
	)
	return db
}

// transE is TransE over a thirtieth of the triples and their corruptions, drawn per step.
func transE(b testing.TB, n int) *memdb.DB {
	const entities, relations = 2000, 40
	rng := rand.New(rand.NewSource(1))
	db := memdb.New()
	db.Create("triple", 1, memdb.Column{Name: "id", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "h", Data: ints(n, func(int) int64 { return rng.Int63n(entities) })},
		memdb.Column{Name: "r", Data: ints(n, func(int) int64 { return rng.Int63n(relations) })},
		memdb.Column{Name: "t", Data: ints(n, func(int) int64 { return rng.Int63n(entities) })})
	db.Create(
		"entity",
		1,
		memdb.Column{Name: "id", Data: ints(entities, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, entities, 50)},
	)
	db.Create(
		"relation",
		1,
		memdb.Column{Name: "id", Data: ints(relations, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, relations, 50)},
	)
	views(b, db, "loss", "SELECT avg(relu(1 + norm(h.v + r.v - t.v) - norm(h2.v + r.v - t.v))) FROM "+
		"(SELECT id, h, r, t, random_int(2000, current_seed(), ARRAY[3, current_step(), id]) AS h2 FROM triple WHERE (id "+
		"+ 7 * current_step()) % 30 = 0) b "+
		"JOIN entity h ON h.id = b.h JOIN relation r ON r.id = b.r JOIN entity t ON t.id = b.t JOIN entity h2 ON h2.id = "+
		"b.h2")
	return db
}

// perceptron has two layers with weights as chunks, and shifts.
func perceptron(b testing.TB, n int) *memdb.DB {
	rng := rand.New(rand.NewSource(1))
	db, one := memdb.New(), ints(1, func(int) int64 { return 1 })
	db.Create(
		"digit",
		1,
		memdb.Column{Name: "n", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{
			Name: "label",
			Data: ints(n, func(int) int64 { return rng.Int63n(10) }),
		},
		memdb.Column{Name: "x", Data: reals(rng, n, 64)},
	)
	db.Create(
		"l1",
		1,
		memdb.Column{Name: "id", Data: one},
		memdb.Column{Name: "w", Data: reals(rng, 1, 64, 32)},
		memdb.Column{Name: "b", Data: reals(rng, 1, 32)},
	)
	db.Create(
		"l2",
		1,
		memdb.Column{Name: "id", Data: one},
		memdb.Column{Name: "w", Data: reals(rng, 1, 32, 10)},
		memdb.Column{Name: "b", Data: reals(rng, 1, 10)},
	)
	views(
		b,
		db,
		"loss",
		"SELECT avg(cross_entropy(matmul(relu(matmul(d.x, l1.w) + l1.b), l2.w) + l2.b, label)) FROM digit d, l1, l2",
	)
	return db
}

// chain is (A·B)+(C·(D·E)) of whole matrices, large enough to be cut into panels.
func chain(b testing.TB, n int) *memdb.DB {
	n = max(n, 400)
	rng := rand.New(rand.NewSource(1))
	db := memdb.New()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		db.Create(
			name,
			1,
			memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
			memdb.Column{Name: "v", Data: reals(rng, 1, n, n)},
		)
	}
	views(b, db, "loss", "SELECT sum(sqnorm(matmul(a.v, b.v) + matmul(c.v, matmul(d.v, e.v)))) FROM a, b, c, d, e")
	return db
}

// dense is a dense factorisation in chunks, rank 16.
func dense(b testing.TB, n int) *memdb.DB {
	const chunks = 4
	side := max(n/chunks, 8)
	rng := rand.New(rand.NewSource(1))
	db := memdb.New()
	id := ints(chunks, func(i int) int64 { return int64(i) })
	db.Create("a", 2, memdb.Column{Name: "i", Data: ints(chunks*chunks, func(i int) int64 { return int64(i / chunks) })},
		memdb.Column{Name: "j", Data: ints(chunks*chunks, func(i int) int64 { return int64(i % chunks) })},
		memdb.Column{Name: "v", Data: reals(rng, chunks*chunks, side, side)})
	db.Create("w", 1, memdb.Column{Name: "i", Data: id}, memdb.Column{Name: "v", Data: reals(rng, chunks, side, 16)})
	db.Create("h", 1, memdb.Column{Name: "j", Data: id}, memdb.Column{Name: "v", Data: reals(rng, chunks, 16, side)})
	views(b, db, "loss", "SELECT sum(sqnorm(a.v - matmul(w.v, h.v))) FROM a JOIN w USING (i) JOIN h USING (j)")
	return db
}
