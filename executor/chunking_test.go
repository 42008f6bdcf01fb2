package executor_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// pass is the loss and the gradients of a model, as matrices.
type pass struct {
	loss    float64
	grads   [][]float64
	explain string
}

func passOf(
	t testing.TB,
	m *gradtest.Chunked,
	size gradtest.Size,
	kind kernels.Kind,
	shuffled bool,
	opt executor.Options,
) pass {
	t.Helper()
	db, err := m.Store(size, kind, shuffled)
	if err != nil {
		t.Fatal(err)
	}
	plan, p := compile(t, db, m.Params, opt)
	var out pass
	for range 2 { // the second run must not depend on the first
		if err := p.Run(context.Background(), opt.Env); err != nil {
			t.Fatalf("%s in %v: %v\n%s", m.Name, size, err, p.Explain())
		}
	}
	out.explain = p.Explain()
	if out.loss, _, err = p.Scalar(0); err != nil {
		t.Fatal(err)
	}
	for i, name := range m.Params {
		cols, err := p.Result(1 + i)
		if err != nil {
			t.Fatal(err)
		}
		g := m.Matrix(name, size, cols)
		if want, err := gradtest.Rows(context.Background(), db, &opt.Env, plan.Roots[1+i]); err != nil {
			t.Fatal(err)
		} else if err := gradtest.Compare(gradtest.VectorRows(cols), want,
			map[bool]float64{true: 1e-10, false: 2e-4}[opt.Force64 || kind == kernels.Float64]); err != nil {
			t.Fatalf("%s in %v, %s beside the oracle: %v\n%s", m.Name, size, name, err, out.explain)
		}
		out.grads = append(out.grads, g)
	}
	return out
}

// near compares two passes by the largest number of each matrix.
func near(a, b pass, tol float64) error {
	if math.Abs(a.loss-b.loss) > tol*math.Abs(b.loss) {
		return fmt.Errorf("the loss is %v, not %v", a.loss, b.loss)
	}
	for i := range a.grads {
		most := 0.0
		for _, x := range b.grads[i] {
			most = max(most, math.Abs(x))
		}
		for k, x := range a.grads[i] {
			if math.Abs(x-b.grads[i][k]) > tol*most || math.IsNaN(x) {
				return fmt.Errorf("number %d of gradient %d is %v, not %v", k, i, x, b.grads[i][k])
			}
		}
	}
	return nil
}

// chunkings are sizes for a model: scalars, rows, columns, blocks, everything in one, and random ones.
func chunkings(rng *rand.Rand, m *gradtest.Chunked) []gradtest.Size {
	all := func(n int) gradtest.Size {
		s := gradtest.Size{}
		for _, a := range []byte(m.Axes) {
			if s[a] = n; n > 1 && m.Sizes[a]%n != 0 || n > m.Sizes[a] {
				s[a] = 0
			}
		}
		return s
	}
	with := func(s gradtest.Size, a byte, n int) gradtest.Size { s[a] = n; return s }
	out := []gradtest.Size{all(0), all(1), with(all(0), m.Axes[0], 1), with(all(1), m.Axes[0], 0), all(2), all(4)}
	for range 6 {
		s := gradtest.Size{}
		for _, a := range []byte(m.Axes) {
			for s[a] = 1 + rng.Intn(m.Sizes[a]); m.Sizes[a]%s[a] != 0; {
				s[a] = 1 + rng.Intn(m.Sizes[a])
			}
		}
		out = append(out, s)
	}
	return out
}

// TestChunkings: the chunks in which matrices are stored, the order of rows and the number of workers do not change a
// result.
func TestChunkings(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	rng := rand.New(rand.NewSource(1))
	models := []*gradtest.Chunked{gradtest.Factors(8, 12, 4), gradtest.Logistic(12, 8), gradtest.Perceptron(12, 8, 4, 6)}
	models[0].Einsum = true
	for _, m := range models {
		grids := 0
		var first, real pass
		for i, size := range chunkings(rng, m) {
			shuffled := i%2 > 0
			double := passOf(t, m, size, kernels.Float64, shuffled, executor.Options{Tuning: tune, Workers: 1})
			if i == 0 {
				first = double
			} else if err := near(double, first, 1e-12); err != nil {
				t.Errorf("%s in %v, shuffled %v: %v\n%s", m.Name, size, shuffled, err, double.explain)
			}
			if two := passOf(t, m, size, kernels.Float64, shuffled, executor.Options{Tuning: tune, Workers: 2}); near(
				two,
				double,
				0,
			) != nil {
				t.Errorf("%s in %v: workers change the result: %v", m.Name, size, near(two, double, 0))
			}
			wide := passOf(t, m, size, kernels.Float32, shuffled, executor.Options{Tuning: tune, Workers: 2, Force64: true})
			if err := near(wide, first, 1e-12); err != nil {
				t.Errorf("%s in %v, of real as double precision: %v\n%s", m.Name, size, err, wide.explain)
			}
			single := passOf(t, m, size, kernels.Float32, shuffled, executor.Options{Tuning: tune, Workers: 1})
			if i == 0 {
				real = single
			}
			if err := near(single, first, 2e-5); err != nil {
				t.Errorf("%s in %v, of real: %v\n%s", m.Name, size, err, single.explain)
			}
			if two := passOf(t, m, size, kernels.Float32, shuffled, executor.Options{Tuning: tune, Workers: 2}); near(
				two,
				single,
				0,
			) != nil {
				t.Errorf("%s in %v, of real: workers change the result: %v", m.Name, size, near(two, single, 0))
			}
			if strings.Contains(double.explain, "grid product") || strings.Contains(double.explain, "re-chunked") {
				grids++
			}
		}
		if grids < 6 {
			t.Errorf("%s: %d chunkings became grid products", m.Name, grids)
		}
		_ = real
	}
}

// TestNoGrid: where some pairs are missing, or met twice, sums are as before, and right (passOf compares with the
// oracle).
func TestNoGrid(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	scalars := gradtest.Size{'i': 1, 'j': 1, 'k': 1}
	full := passOf(t, gradtest.Factors(8, 12, 4), scalars, kernels.Float64, true, executor.Options{Tuning: tune})
	if !strings.Contains(full.explain, ", not listed") {
		t.Errorf("a full product is no grid:\n%s", full.explain)
	}
	for name, change := range map[string]func(m *gradtest.Chunked){
		"a hole in w":        func(m *gradtest.Chunked) { m.Holes = map[string]int{"w": 1} },
		"holes in h":         func(m *gradtest.Chunked) { m.Holes = map[string]int{"h": 3} },
		"a filter":           func(m *gradtest.Chunked) { m.Filter = "w.i <> h.j" },
		"a row twice":        func(m *gradtest.Chunked) { m.Twice = map[string]int{"h": 2}; m.Params = []string{"w"} },
		"a NULL":             func(m *gradtest.Chunked) { m.Nulls = map[string]int{"h": 2} },
		"a condition of one": func(m *gradtest.Chunked) { m.Filter = "w.i > 2" },
	} {
		for _, size := range []gradtest.Size{scalars, {'i': 2, 'j': 2, 'k': 2}} {
			m := gradtest.Factors(8, 12, 4)
			change(m)
			if got := passOf(t, m, size, kernels.Float64, true, executor.Options{Tuning: tune}); strings.Contains(
				got.explain,
				", not listed",
			) {
				t.Errorf("%s: a grid all the same:\n%s", name, got.explain)
			}
		}
	}
	// Numbers that are infinite, or none, spread as they do through the pairs.
	for _, size := range []gradtest.Size{scalars, {'i': 2, 'j': 2, 'k': 2}} {
		m := gradtest.Factors(8, 12, 4)
		m.Special = true
		passOf(t, m, size, kernels.Float64, true, executor.Options{Tuning: tune})
	}
	// A hole in the data that the product is compared with leaves the product alone.
	m := gradtest.Factors(8, 12, 4)
	m.Holes = map[string]int{"a": 2}
	passOf(t, m, scalars, kernels.Float64, true, executor.Options{Tuning: tune})
}

// TestListedPairs: rows that name two others are a grid if they name each pair once. The query says by which keys they
// are read, the data whether all pairs are there.
func TestListedPairs(t *testing.T) {
	t.Parallel()
	const n, m = 6, 5
	tune := tuning.Default()
	executor.SmallGrids(tune)
	for _, twice := range []bool{false, true} {
		rng, db := rand.New(rand.NewSource(3)), memdb.New()
		pairs := rng.Perm(n * m)
		if twice {
			pairs[4] = pairs[9]
		}
		db.Create("e", 1, memdb.Column{Name: "id", Data: ints(n*m, func(r int) int64 { return int64(r) })},
			memdb.Column{Name: "i", Data: ints(n*m, func(r int) int64 { return int64(pairs[r] / m) })},
			memdb.Column{Name: "j", Data: ints(n*m, func(r int) int64 { return int64(pairs[r] % m) })},
			memdb.Column{Name: "x", Data: reals(rng, n*m)})
		db.Create("w", 1, memdb.Column{Name: "i", Data: ints(n, func(r int) int64 { return int64(r) })},
			memdb.Column{Name: "f", Data: reals(rng, n, 3)})
		db.Create("h", 1, memdb.Column{Name: "j", Data: ints(m, func(r int) int64 { return int64(r) })},
			memdb.Column{Name: "f", Data: reals(rng, m, 3)})
		views(t, db, "loss", "SELECT sum((x - dot(w.f, h.f)) ^ 2) AS loss FROM e JOIN w USING (i) JOIN h USING (j)")
		opt := executor.Options{Tuning: tune, Force64: true}
		besideOracle(t, fmt.Sprintf("twice %v", twice), db, []string{"w", "h"}, opt, 1e-10)
		_, p := compile(t, db, []string{"w", "h"}, opt)
		if text := p.Explain(); strings.Contains(text, "grid product") == twice {
			t.Errorf("a pair is there twice: %v\n%s", twice, text)
		}
	}
}

// TestBatchOfProducts: keys that both relations and the result have make a product for each of them.
func TestBatchOfProducts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	rng := rand.New(rand.NewSource(1))
	const heads, words, other, size = 3, 4, 5, 6
	for name, text := range map[string]string{
		"scalars": "SELECT q.h, q.i, k.j, sum(q.v * k.v) AS v FROM q JOIN k ON q.h = k.h AND q.d = k.d GROUP BY q.h, q.i, " +
			"k.j",
		"vectors": "SELECT q.h, q.i, k.j, dot(q.v, k.v) AS v FROM q JOIN k ON q.h = k.h",
		"turned": "SELECT q.i, k.j, q.h, sum(q.v * k.v) AS v FROM k JOIN q ON q.h = k.h AND q.d = k.d GROUP BY q.i, k.j, " +
			"q.h",
		"weights": "SELECT q.h, q.d, sum(q.v * k.v) AS v FROM q JOIN k ON q.h = k.h AND q.d = k.d GROUP BY q.h, q.d",
	} {
		db := memdb.New()
		for _, side := range []struct {
			name, key string
			n         int
		}{{name: "q", key: "i", n: words}, {name: "k", key: "j", n: other}} {
			rows, shape := heads*side.n*size, []int(nil)
			if name == "vectors" {
				rows, shape = heads*side.n, []int{size}
			}
			each := rows / (heads * side.n)
			cols := []memdb.Column{
				{Name: "h", Data: ints(rows, func(r int) int64 { return int64(r / each / side.n) })},
				{Name: side.key, Data: ints(rows, func(r int) int64 { return int64(r / each % side.n) })},
			}
			if shape == nil {
				cols = append(cols, memdb.Column{Name: "d", Data: ints(rows, func(r int) int64 { return int64(r % each) })})
			}
			db.Create(side.name, len(cols), append(cols, memdb.Column{Name: "v", Data: reals(rng, rows, shape...)})...)
		}
		views(t, db, "score", text, "loss", "SELECT sum(exp(v) * v) AS loss FROM score")
		for _, opt := range []executor.Options{{Tuning: tune, Force64: true}, {Tuning: tune, Workers: 2}} {
			plan, p := compile(t, db, []string{"q", "k"}, opt)
			if err := p.Run(context.Background(), opt.Env); err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(p.Explain(), "grid products"); has == (name == "weights" || name == "vectors") &&
				opt.Force64 {
				t.Errorf("%s: products are %v:\n%s", name, has, p.Explain())
			}
			resultsBesideOracle(t, name, db, plan, p, opt.Env, map[bool]float64{true: 1e-10, false: 1e-4}[opt.Force64])
		}
	}
}

// squares makes the matrices a and b of n × n numbers, whose keys are ik and kj.
func squares(n int) *memdb.DB {
	rng, db := rand.New(rand.NewSource(1)), memdb.New()
	for _, m := range [][3]string{{"a", "i", "k"}, {"b", "k", "j"}} {
		db.Create(
			m[0],
			2,
			memdb.Column{Name: m[1], Data: ints(n*n, func(r int) int64 { return int64(r / n) })},
			memdb.Column{
				Name: m[2],
				Data: ints(n*n, func(r int) int64 { return int64(r % n) }),
			},
			memdb.Column{Name: "v", Data: reals(rng, n*n)},
		)
	}
	return db
}

// besideOracle compares the loss and the gradients with the oracle's.
func besideOracle(t *testing.T, name string, db *memdb.DB, params []string, opt executor.Options, tol float64) {
	t.Helper()
	plan, p := compile(t, db, params, opt)
	if err := p.Run(context.Background(), opt.Env); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	resultsBesideOracle(t, name, db, plan, p, opt.Env, tol)
}

// resultsBesideOracle compares the results of a program that has run with the oracle's.
func resultsBesideOracle(
	t *testing.T,
	name string,
	db *memdb.DB,
	plan *ra.Plan,
	p *executor.Program,
	env kernels.Env,
	tol float64,
) {
	t.Helper()
	for i, root := range plan.Roots {
		want, err := gradtest.Rows(context.Background(), db, &env, root)
		if err != nil {
			t.Fatal(err)
		}
		cols, err := p.Result(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := gradtest.Compare(gradtest.VectorRows(cols), want, tol); err != nil {
			t.Errorf("%s, %s: %v\n%s", name, root.Name, err, p.Explain())
		}
	}
}

// TestGridBesideItself: the rows of a grid that is joined with itself, its keys in another order.
func TestGridBesideItself(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	for _, on := range []string{"x.i = y.i AND x.k = y.k AND x.j = y.j", "x.i = y.j AND x.k = y.k AND x.j = y.i",
		"x.i = y.k AND x.k = y.j AND x.j = y.i"} {
		db := squares(6)
		views(t, db, "p", "SELECT a.i, a.k, b.j, a.v * b.v AS v FROM a JOIN b ON a.k = b.k",
			"loss", "SELECT sum(x.v * y.v * y.v) AS loss FROM p x JOIN p y ON "+on)
		besideOracle(t, on, db, []string{"a", "b"}, executor.Options{Tuning: tune, Force64: true}, 1e-10)
	}
}

// TestSumsByOtherKeys: sums over an axis of a product that are read along it or across, with their keys as they are or
// permuted.
func TestSumsByOtherKeys(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	const n = 6
	for _, by := range []string{"i", "j"} {
		for _, read := range []string{"i", "j"} {
			for _, factor := range []int{1, 5} {
				db := squares(n)
				db.Create("other", 1, memdb.Column{Name: "key", Data: ints(n, func(r int) int64 { return int64(r) })},
					memdb.Column{Name: "as_key", Data: ints(n, func(r int) int64 { return int64((factor*r + factor/2) % n) })})
				views(t, db, "m", "SELECT a.i, b.j, sum(a.v * b.v) AS v FROM a JOIN b ON a.k = b.k GROUP BY a.i, b.j",
					"s", "SELECT "+by+" AS key, sum(tanh(v)) AS s FROM m GROUP BY "+by,
					"renamed", "SELECT other.as_key AS key, s.s FROM s JOIN other ON other.key = s.key",
					"loss", "SELECT sum(tanh(m.v - r.s) * m.i) AS loss FROM m JOIN renamed r ON m."+read+" = r.key")
				besideOracle(
					t,
					fmt.Sprintf("by %s, read by %s, keys times %d", by, read, factor),
					db,
					[]string{"a", "b"},
					executor.Options{Tuning: tune, Force64: true},
					1e-10,
				)
			}
		}
	}
}

// TestChunkedInOnePass: the mean of a loss over chunks is a sum over the matrix, and its gradient waits for no check
// that it is not NULL: the data are read once, however they are stored.
func TestChunkedInOnePass(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	for _, n := range []int{1, 4, 8} {
		m := gradtest.Logistic(64, 16)
		size := gradtest.Size{'i': n, 'j': n, 'o': 1}
		for _, wide := range []bool{false, true} {
			p := passOf(t, m, size, kernels.Float32, false, executor.Options{Tuning: tune, Force64: wide})
			_, step, _ := strings.Cut(p.explain, "each step:")
			if strings.Contains(step, "is_not_null") || strings.Count(step, "over 64 rows") != 1 ||
				!strings.Contains(step, "one pass over 64 rows") {
				t.Errorf("in chunks of %d, double precision %v: not one pass over 64 rows in\n%s", n, wide, p.explain)
			}
		}
	}
}

// TestRepeatedAxes: a chunk that is repeated along the first axes of another, or along an axis of length 1, in a sum
// over a grid: axes are counted from the right, whatever their lengths.
func TestRepeatedAxes(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	const n = 6
	square := "sum_elements(g * g)"
	for _, shapes := range [][2][]int{{{3}, {3, 3}}, {{3, 3}, {3}}, {{1, 3}, {3, 3}}, {{3, 1}, {3, 3}}, {{2, 3}, {3}},
		{{1, 3}, {2, 3}}} {
		for f, of := range map[string]string{"r.v * w.m": square, "w.m * r.v": square,
			"r.x * sum_elements(r.v * w.m)": "g * g"} {
			rng, db := rand.New(rand.NewSource(1)), memdb.New()
			db.Create("r", 2, memdb.Column{Name: "a", Data: ints(n*n, func(r int) int64 { return int64(r / n) })},
				memdb.Column{Name: "b", Data: ints(n*n, func(r int) int64 { return int64(r % n) })},
				memdb.Column{Name: "v", Data: reals(rng, n*n, shapes[0]...)}, memdb.Column{Name: "x", Data: reals(rng, n*n)})
			db.Create("w", 1, memdb.Column{Name: "b", Data: ints(n, func(r int) int64 { return int64(r) })},
				memdb.Column{Name: "m", Data: reals(rng, n, shapes[1]...)})
			views(t, db, "s", "SELECT r.a, sum("+f+") AS g FROM r JOIN w ON r.b = w.b GROUP BY r.a",
				"loss", "SELECT sum("+of+") AS loss FROM s")
			besideOracle(t, fmt.Sprintf("%v, %s", shapes, f), db, []string{"r", "w"},
				executor.Options{Tuning: tune, Force64: true}, 1e-10)
		}
	}
}
