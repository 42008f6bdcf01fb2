package executor_test

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// negatives is TransE over n triples of the step and 200 corruptions of each, drawn with random_int.
func negatives(b testing.TB, n int) *memdb.DB {
	const entities, relations = 2034, 42
	each := 200
	if n < 1000 { // for the oracle
		each = 5
	}
	rng := rand.New(rand.NewSource(1))
	all := 33 * n
	db := memdb.New()
	db.Create("triple", 1, memdb.Column{Name: "id", Data: ints(all, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "h", Data: ints(all, func(int) int64 { return rng.Int63n(entities) })},
		memdb.Column{Name: "r", Data: ints(all, func(int) int64 { return rng.Int63n(relations) })},
		memdb.Column{Name: "t", Data: ints(all, func(int) int64 { return rng.Int63n(entities) })})
	db.Create(
		"entity",
		1,
		memdb.Column{Name: "id", Data: ints(entities, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, entities, 8)},
	)
	db.Create(
		"relation",
		1,
		memdb.Column{Name: "id", Data: ints(relations, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, relations, 8)},
	)
	views(
		b,
		db,
		"draw",
		"SELECT id, h, r, t FROM triple WHERE (id + 7 * current_step()) % 33 = 0",
		"negative",
		"SELECT d.id, k, d.h, d.r, d.t, random_int(2034, current_seed(), ARRAY[5, current_step(), d.id, k]) AS other "+
			fmt.Sprintf("FROM draw d CROSS JOIN generate_series(1, %d) AS k", each),
		"loss",
		`SELECT avg(relu(1 + norm(h.v + r.v - t.v) - norm(h.v + r.v - o.v))) FROM negative n
JOIN entity h ON h.id = n.h JOIN relation r ON r.id = n.r JOIN entity t ON t.id = n.t JOIN entity o ON o.id = n.other`,
	)
	return db
}

// triples is the batch of surface/kge_transe_view: each triple is drawn with a probability.
func triples(b testing.TB, n int) *memdb.DB {
	db := negatives(b, n)
	views(b, db,
		"draw", `SELECT h, r, t, u[1] AS p, u[2] < 0.5 AS corrupt_head, floor(u[3] * 2034)::int AS other
FROM (SELECT h, r, t, random_uniform(ARRAY[3], current_seed(), ARRAY[3, current_step(), h, r, t]) AS u FROM triple) s`,
		"loss", `SELECT avg(relu(1 + norm(h.v + r.v - t.v) - norm(h2.v + r.v - t2.v)))
FROM (SELECT h, r, t, CASE WHEN corrupt_head THEN other ELSE h END AS h2, CASE WHEN corrupt_head THEN t ELSE other END
    AS t2 FROM draw WHERE p < 0.03) b
JOIN entity h ON h.id = b.h JOIN relation r ON r.id = b.r JOIN entity t ON t.id = b.t JOIN entity h2 ON h2.id = b.h2
    JOIN entity t2 ON t2.id = b.t2`)
	return db
}

// wrongs is examples/kge/transe.sql over n triples of the step and 200 wrong ones for each of them.
func wrongs(b testing.TB, n int) *memdb.DB {
	entities, relations, each := int64(2034), int64(42), 200
	if n < 1000 { // for the oracle
		entities, relations, each = 20, 4, 4
	}
	rng := rand.New(rand.NewSource(1))
	db := memdb.New()
	type triple struct{ h, r, t int64 }
	var all []triple
	for seen := map[triple]bool{}; len(all) < 33*n; {
		x := triple{h: rng.Int63n(entities), r: rng.Int63n(relations), t: rng.Int63n(entities)}
		if seen[x] && n >= 1000 || seen[x] && len(seen) < int(entities*relations*entities) {
			continue
		}
		if seen[x] {
			break
		}
		seen[x] = true
		all = append(all, x)
	}
	db.Create("triple", 3, memdb.Column{Name: "h", Data: ints(len(all), func(i int) int64 { return all[i].h })},
		memdb.Column{Name: "r", Data: ints(len(all), func(i int) int64 { return all[i].r })},
		memdb.Column{Name: "t", Data: ints(len(all), func(i int) int64 { return all[i].t })},
		memdb.Column{Name: "n", Data: ints(len(all), func(i int) int64 { return int64(i) })})
	db.Create(
		"entity",
		1,
		memdb.Column{Name: "id", Data: ints(int(entities), func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, int(entities), 8)},
	)
	db.Create(
		"relation",
		1,
		memdb.Column{Name: "id", Data: ints(int(relations), func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, int(relations), 8)},
	)
	views(
		b,
		db,
		"place",
		"SELECT r.id AS r, e.id, e.v FROM relation r CROSS JOIN entity e",
		"draw",
		"SELECT h, r, t FROM triple WHERE (n + 7 * current_step()) % 33 = 0",
		"wrong",
		fmt.Sprintf(
			`SELECT h, r, t, k, CASE WHEN current_step() %% 2 = 1 THEN other ELSE h END AS h2, CASE WHEN current_step() %% 2 = 1
    THEN t ELSE other END AS t2
FROM (SELECT h, r, t, k, random_int(%d, current_seed(), ARRAY[current_step(), h, r, t, k]) AS other FROM draw CROSS
    JOIN generate_series(1, %d) AS g(k)) d`,
			entities,
			each,
		),
		"true_distance",
		`SELECT b.h, b.r, b.t, norm(h.v + r.v - t.v) AS d
FROM draw b JOIN place h ON h.r = b.r AND h.id = b.h JOIN relation r ON r.id = b.r JOIN place t ON t.r = b.r
    AND t.id = b.t`,
		"wrong_distance",
		`SELECT b.h, b.r, b.t, b.k, norm(h.v + r.v - t.v) AS d
FROM wrong b JOIN place h ON h.r = b.r AND h.id = b.h2 JOIN relation r ON r.id = b.r JOIN place t ON t.r = b.r
    AND t.id = b.t2`,
		"loss",
		`SELECT avg(ln(1 + others)) AS loss
FROM (SELECT h, r, t, sum(exp(2 * (p.d - n.d))) AS others FROM true_distance p JOIN wrong_distance n USING (h, r, t)
    GROUP BY h, r, t) x`,
	)
	return db
}

// neighbours is a layered network over 10 neighbours of each of 1,024 nodes and 10 of each of those, drawn from the
// lists of neighbours of a graph with n nodes of degrees 1 to 29.
func neighbours(b testing.TB, n int) *memdb.DB {
	roots := 1024
	if n < 1000 { // for the oracle
		roots = 7
	}
	rng := rand.New(rand.NewSource(1))
	db := memdb.New()
	degree := ints(n, func(int) int64 { return 1 + rng.Int63n(29) })
	var src, k, dst []int64
	for i, d := range degree.I64() {
		for j := range d {
			src, k, dst = append(src, int64(i)), append(k, j), append(dst, rng.Int63n(int64(n)))
		}
	}
	column := func(x []int64) memdb.Column {
		return memdb.Column{Data: ints(len(x), func(i int) int64 { return x[i] })}
	}
	named := func(name string, c memdb.Column) memdb.Column { c.Name = name; return c }
	db.Create("edge", 2, named("src", column(src)), named("k", column(k)), named("dst", column(dst)))
	db.Create(
		"node",
		1,
		memdb.Column{Name: "node", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "degree", Data: degree},
		memdb.Column{
			Name: "label",
			Data: ints(n, func(int) int64 { return rng.Int63n(4) }),
		},
		memdb.Column{Name: "x", Data: reals(rng, n, 4)},
	)
	db.Create(
		"w",
		1,
		memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
		memdb.Column{Name: "v", Data: reals(rng, 1, 4, 4)},
	)
	const sample = "random_int(n.degree, current_seed(), ARRAY["
	views(
		b,
		db,
		"root",
		fmt.Sprintf(
			"SELECT i, random_int((SELECT count(*) FROM node), current_seed(), ARRAY[1, current_step(), i]) AS node FROM "+
				"generate_series(1, %d) AS i",
			roots,
		),
		"pick1",
		"SELECT r.i, r.node, j, "+sample+"2, current_step(), r.i, j]) AS k FROM root r JOIN node n ON n.node = r.node "+
			"CROSS JOIN generate_series(1, 10) AS j",
		"hop1",
		"SELECT p.i, p.j, e.dst FROM pick1 p JOIN edge e ON e.src = p.node AND e.k = p.k",
		"pick2",
		"SELECT h.i, h.j, l, h.dst AS node, "+sample+"3, current_step(), h.i, h.j, l]) AS k FROM hop1 h JOIN node n ON "+
			"n.node = h.dst CROSS JOIN generate_series(1, 10) AS l",
		"hop2",
		"SELECT p.i, p.j, p.l, e.dst FROM pick2 p JOIN edge e ON e.src = p.node AND e.k = p.k",
		"state",
		"SELECT h.i, h.j, relu(avg(matmul(n.x, w.v))) AS s FROM hop2 h JOIN node n ON n.node = h.dst CROSS JOIN w GROUP "+
			"BY h.i, h.j",
		"loss",
		"SELECT avg(cross_entropy(z, label)) FROM (SELECT i, avg(s) AS z FROM state GROUP BY i) a JOIN root r USING (i) "+
			"JOIN node n ON n.node = r.node",
	)
	return db
}

// stretches is examples/gcn/sampled.sql with 1,024 nodes in a step: two layers over the neighbours of each of them, and
// of those, that lie in a stretch of 10 of a random order, among n nodes of degrees 1 to 29.
func stretches(b testing.TB, n int) *memdb.DB {
	roots, width := 1024, 10
	if n < 1000 { // for the oracle
		roots, width = 7, 2
	}
	rng := rand.New(rand.NewSource(1))
	var dst, place, degree, src []int64
	for i := range int64(n) {
		d := 1 + rng.Int63n(29)
		for j := range d {
			dst, place, degree, src = append(dst, i), append(place, j), append(degree, d), append(src, rng.Int63n(int64(n)))
		}
	}
	column := func(name string, x []int64) memdb.Column {
		return memdb.Column{Name: name, Data: ints(len(x), func(i int) int64 { return x[i] })}
	}
	db := memdb.New()
	db.Create(
		"neighbour",
		2,
		column("dst", dst),
		column("n", place),
		column("degree", degree),
		column("src", src),
		memdb.Column{Name: "weight", Data: reals(rng, len(dst))},
	)
	db.Create(
		"node",
		1,
		memdb.Column{Name: "node", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{
			Name: "label",
			Data: ints(n, func(int) int64 { return rng.Int63n(4) }),
		},
		memdb.Column{Name: "x", Data: reals(rng, n, 4)},
	)
	db.Create(
		"w0",
		1,
		memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
		memdb.Column{Name: "v", Data: reals(rng, 1, 4, 4)},
	)
	db.Create(
		"w1",
		1,
		memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
		memdb.Column{Name: "v", Data: reals(rng, 1, 4, 4)},
	)
	sample := func(layer int) string {
		return fmt.Sprintf(
			`SELECT dst, n, src, CASE WHEN src = dst THEN weight ELSE weight * GREATEST(degree / %d.0, 1) END AS weight
FROM neighbour WHERE src = dst OR (n + random_int(degree, current_seed(), ARRAY[%d, current_step(),
    dst])) %% degree < %d`,
			width,
			layer,
			width,
		)
	}
	views(
		b,
		db,
		"sample1",
		sample(1),
		"sample2",
		sample(2),
		"step_node",
		fmt.Sprintf("SELECT node, label FROM node WHERE (node + 7 * current_step()) %% %d = 0", n/roots),
		"xw",
		"SELECT n.node, matmul(n.x, w0.v) AS v FROM node n CROSS JOIN w0",
		"hidden",
		"SELECT a.dst AS node, relu(sum(a.weight * xw.v)) AS h FROM sample1 a JOIN xw ON xw.node = a.src GROUP BY a.dst",
		"logits",
		"SELECT a.dst AS node, sum(a.weight * matmul(dropout(h.h, 0.5), w1.v)) AS z FROM sample2 a JOIN hidden h ON "+
			"h.node = a.src CROSS JOIN w1 GROUP BY a.dst",
		"loss",
		"SELECT avg(cross_entropy(z, label)) + 5e-4 * 0.5 * (SELECT sum(sqnorm(v)) FROM w0) AS loss FROM logits JOIN "+
			"step_node USING (node)",
	)
	return db
}

var samplings = map[string]model{
	"negatives":  {make: negatives, params: []string{"entity", "relation"}, bench: 1000},
	"wrongs":     {make: wrongs, params: []string{"entity", "relation"}, bench: 1000},
	"triples":    {make: triples, params: []string{"entity", "relation"}, bench: 1000},
	"stretches":  {make: stretches, params: []string{"w0", "w1"}, bench: 169343},
	"neighbours": {make: neighbours, params: []string{"w"}, bench: 169343},
}

func init() {
	for name, m := range samplings {
		models[name] = m
	}
}

// BenchmarkStructure rebuilds the structure of a step, and what its values are computed by.
func BenchmarkStructure(b *testing.B) {
	for name, m := range samplings {
		b.Run(name, func(b *testing.B) {
			_, p := compile(b, m.make(b, m.bench), m.params, executor.Options{})
			step := int64(1)
			run := func() {
				step++
				if err := executor.Restructure(p, context.Background(), kernels.Env{Step: step}); err != nil {
					b.Fatal(err)
				}
			}
			run()
			for b.Loop() {
				run()
			}
		})
	}
}

// TestSamplingWorkers: neither structure nor values of a step depend on the number of workers.
func TestSamplingWorkers(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"negatives": 1000, "triples": 300, "neighbours": 20000} {
		m := samplings[name]
		var want [][]*column.Column
		for _, workers := range []int{1, 2, 5} {
			plan, p := compile(t, m.make(t, size), m.params, executor.Options{Workers: workers})
			for step := range int64(2) {
				if err := p.Run(context.Background(), kernels.Env{Seed: 1, Step: step + 1}); err != nil {
					t.Fatal(err)
				}
			}
			var got [][]*column.Column
			for i := range plan.Roots {
				cols, err := p.Result(i)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, cols)
			}
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d workers compute something else than one", name, workers)
			}
		}
	}
}

// TestStructuralError: an error in a column that structure reads is told.
func TestStructuralError(t *testing.T) {
	t.Parallel()
	db := memdb.New()
	db.Create(
		"w",
		1,
		memdb.Column{Name: "id", Data: ints(3, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rand.New(rand.NewSource(1)), 3)},
	)
	views(
		t,
		db,
		"loss",
		"SELECT sum(w.v) FROM generate_series(0, 4) AS i JOIN w ON w.id = random_int(3 - i, 1, ARRAY[current_step(), i])",
	)
	_, p := compile(t, db, []string{"w"}, executor.Options{})
	if err := p.Run(context.Background(), kernels.Env{Step: 1}); sqlerr.Code(err) != sqlerr.InvalidParameter {
		t.Errorf("random_int(0, …) as a key: %v", err)
	}
}

// TestStepsLeaveNothing: what a step makes between relations that do not change goes with the step.
func TestStepsLeaveNothing(t *testing.T) {
	t.Parallel()
	db, rng := memdb.New(), rand.New(rand.NewSource(1))
	number := func(i int) int64 { return int64(i) }
	db.Create("w", 1, memdb.Column{Name: "id", Data: ints(300, number)}, memdb.Column{Name: "v", Data: reals(rng, 300)})
	db.Create("e", 1, memdb.Column{Name: "id", Data: ints(100, number)}, memdb.Column{Name: "x", Data: reals(rng, 100, 4)})
	views(
		t,
		db,
		"loss",
		"SELECT sum(w.v * sqnorm(e.x)) FROM w JOIN e ON e.id = random_int(100, 1, ARRAY[current_step(), w.id])",
	)
	_, p := compile(t, db, []string{"w"}, executor.Options{})
	kept := 0
	for step := range int64(5) {
		if err := p.Run(context.Background(), kernels.Env{Step: step}); err != nil {
			t.Fatal(err)
		}
		if n := executor.Kept(p); step == 0 {
			kept = n
		} else if n != kept {
			t.Errorf("step %d: %d columns are kept, after the first step it was %d", step, n, kept)
		}
	}
}
