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
)

// sparseBlocks is a table of some of n × n blocks.
func sparseBlocks(db *memdb.DB, rng *rand.Rand, name string, n int, shape ...int) {
	var i, j []int64
	for r := range n * n {
		if rng.Intn(5) > 0 && r/n != 2 { // a row of blocks is missing
			i, j = append(i, int64(r/n)), append(j, int64(r%n))
		}
	}
	at := func(keys []int64) func(int) int64 { return func(r int) int64 { return keys[r] } }
	db.Create(
		name,
		2,
		memdb.Column{Name: "i", Data: ints(len(i), at(i))},
		memdb.Column{Name: "j", Data: ints(len(j), at(j))},
		memdb.Column{Name: "v", Data: reals(rng, len(i), shape...)},
	)
}

// TestSumsOfProducts: products of matrices in blocks, some of them missing, also transposed; groups of many blocks, of
// few and of none.
func TestSumsOfProducts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	const n = 7
	for _, c := range []struct {
		a, b           string
		shapeA, shapeB []int
	}{
		{a: "a.v", b: "b.v", shapeA: []int{5, 3}, shapeB: []int{3, 4}},
		{a: "transpose(a.v)", b: "b.v", shapeA: []int{3, 5}, shapeB: []int{3, 4}},
		{a: "a.v", b: "transpose(b.v)", shapeA: []int{5, 3}, shapeB: []int{4, 3}},
		{a: "transpose(a.v)", b: "transpose(b.v)", shapeA: []int{3, 5}, shapeB: []int{4, 3}},
	} {
		for _, wide := range []bool{true, false} {
			rng := rand.New(rand.NewSource(3))
			db := memdb.New()
			sparseBlocks(db, rng, "a", n, c.shapeA...)
			sparseBlocks(db, rng, "b", n, c.shapeB...)
			views(t, db, "p", "SELECT a.i, b.j, sum(matmul("+c.a+", "+c.b+")) AS v FROM a JOIN b ON a.j = b.i GROUP BY a.i, b.j",
				"loss", "SELECT sum(sqnorm(tanh(v)) * (i + 1)) AS loss FROM p")
			tol := 1e-10
			if !wide {
				tol = 1e-4
			}
			opt := executor.Options{Tuning: tune, Force64: wide, Workers: 3}
			besideOracle(t, c.a+" "+c.b, db, []string{"a", "b"}, opt, tol)
			if _, p := compile(t, db, []string{"a", "b"}, opt); strings.Count(p.Explain(), "GEMM over") < 3 {
				t.Errorf("%s, %s: no sums of products in place in\n%s", c.a, c.b, p.Explain())
			}
		}
	}
}

// TestNarrowProducts: a wide matrix and a narrow one, on either side, either of them transposed, one wide matrix for
// all rows or one for each, more columns and rows than a panel has.
func TestNarrowProducts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	const rows = 9
	for _, c := range []struct {
		product      string
		wide, narrow []int
		form         bool
	}{
		{product: "matmul(o.v, e.v)", wide: []int{5, 7}, narrow: []int{7, 2}, form: false},
		{product: "matmul(transpose(o.v), e.v)", wide: []int{7, 5}, narrow: []int{7, 2}, form: true},
		{product: "matmul(o.v, transpose(e.v))", wide: []int{5, 7}, narrow: []int{2, 7}, form: true},
		{product: "matmul(transpose(o.v), transpose(e.v))", wide: []int{7, 5}, narrow: []int{2, 7}, form: true},
		{product: "matmul(e.v, o.v)", wide: []int{7, 5}, narrow: []int{2, 7}, form: false},
		{product: "matmul(transpose(e.v), o.v)", wide: []int{7, 5}, narrow: []int{7, 2}, form: true},
		{product: "matmul(e.v, transpose(o.v))", wide: []int{5, 7}, narrow: []int{2, 7}, form: true},
		{product: "matmul(transpose(e.v), transpose(o.v))", wide: []int{5, 7}, narrow: []int{7, 2}, form: true},
		{product: "matmul(transpose(o.v), e.v)", wide: []int{7, 3}, narrow: []int{7, 2}, form: false},
		{product: "matmul(transpose(e.v), o.v)", wide: []int{7, 5}, narrow: []int{7, 3}, form: false},
		{product: "matmul(transpose(e.v), o.v)", wide: []int{1, 5}, narrow: []int{1, 2}, form: false},
	} {
		for _, one := range []bool{true, false} {
			want := c.form
			if one && c.product == "matmul(e.v, transpose(o.v))" {
				want = false // the rows' matrices one below the other are one matrix
			}
			for _, wide := range []bool{true, false} {
				rng, db, n, from := rand.New(rand.NewSource(5)), memdb.New(), rows, "e JOIN o USING (id)"
				if one {
					n, from = 1, "e CROSS JOIN (SELECT v FROM o) o"
				}
				id := func(r int) int64 { return int64(r) }
				db.Create(
					"o",
					1,
					memdb.Column{Name: "id", Data: ints(n, id)},
					memdb.Column{Name: "v", Data: reals(rng, n, c.wide...)},
				)
				db.Create(
					"e",
					1,
					memdb.Column{Name: "id", Data: ints(rows, id)},
					memdb.Column{Name: "v", Data: reals(rng, rows, c.narrow...)},
				)
				views(
					t,
					db,
					"p",
					"SELECT e.id, "+c.product+" AS v FROM "+from,
					"loss",
					"SELECT sum(sqnorm(tanh(v)) * (id + 1)) AS loss FROM p",
				)
				tol := 1e-10
				if !wide {
					tol = 1e-4
				}
				opt := executor.Options{Tuning: tune, Force64: wide, Workers: 3}
				besideOracle(t, c.product, db, []string{"o", "e"}, opt, tol)
				_, p := compile(t, db, []string{"o", "e"}, opt)
				if form := strings.Contains(p.Explain(), "narrow GEMM over 9 rows: "+c.product); form != want {
					t.Errorf(
						"%s of %v and %v, one %v: a narrow product, %v, in\n%s",
						c.product,
						c.wide,
						c.narrow,
						one,
						form,
						p.Explain(),
					)
				}
			}
		}
	}
}

// TestMapsOfProducts: products that only a map by rows reads are made by blocks of rows, which do not end where chunks
// do; others are made whole.
func TestMapsOfProducts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	for _, c := range []struct {
		v      string
		b      []int
		absent bool // the product is not made by itself
	}{
		{v: "softmax(matmul(a.v, b.v) / 3)", b: []int{4, 8}, absent: true},
		{v: "softmax(matmul(a.v, transpose(b.v)) / 3)", b: []int{8, 4}, absent: true},
		{v: "softmax(matmul(a.v, one.v) / 3)", b: []int{4, 8}, absent: true},
		{v: "softmax(matmul(a.v, b.v)) + matmul(a.v, transpose(d.v))", b: []int{4, 8}, absent: true},
		{v: "exp(matmul(a.v, b.v))", b: []int{4, 8}, absent: true},
		// its gradient reads it: 1 − tanh² has lost its digits
		{v: "tanh(matmul(a.v, b.v))", b: []int{4, 8}, absent: false},
		{v: "softmax(matmul(a.v, b.v)) * matmul(a.v, b.v)", b: []int{4, 8}, absent: false}, // its gradient reads it too
		{v: "softmax(matmul(transpose(at.v), b.v))", b: []int{4, 8}, absent: false},
		{v: "softmax(matmul(a.v, b.v))", b: []int{4, 7}, absent: false}, // not wide
		{v: "transpose(softmax(transpose(matmul(a.v, b.v))))", b: []int{4, 8}, absent: false},
	} {
		for _, wide := range []bool{true, false} {
			rng, db, id := rand.New(rand.NewSource(7)), memdb.New(), ints(7, func(r int) int64 { return int64(r) })
			width := 8
			if c.b[1] == 7 {
				width = 7
			}
			for name, shape := range map[string][]int{"a": {5, 4}, "at": {4, 5}, "b": c.b, "c": {width, 3}, "d": {8, 4}} {
				db.Create(name, 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 7, shape...)})
			}
			db.Create(
				"single",
				1,
				memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
				memdb.Column{Name: "v", Data: reals(rng, 1, c.b...)},
			)
			views(
				t,
				db,
				"p",
				"SELECT a.id, "+c.v+" AS v FROM a JOIN at USING (id) JOIN b USING (id) JOIN d USING (id) CROSS JOIN (SELECT v "+
					"FROM single) one",
				"loss",
				"SELECT sum(sqnorm(tanh(matmul(p.v, c.v))) * (id + 1)) AS loss FROM p JOIN c USING (id)",
			)
			tol := 1e-10
			if !wide {
				tol = 1e-4
			}
			opt := executor.Options{Tuning: tune, Force64: wide, Workers: 3}
			params := []string{"a", "b", "d", "at", "single"}
			params = slices.DeleteFunc(
				params,
				func(p string) bool { return !strings.Contains(c.v, strings.Replace(p, "single", "one", 1)+".v") },
			)
			besideOracle(t, c.v, db, params, opt, tol)
			_, p := compile(t, db, params, opt)
			text := p.Explain()
			if made := strings.Contains(text, "GEMM over 7 rows: matmul(a.v") ||
				strings.Contains(text, "GEMM over 7 rows: matmul(transpose(at.v"); made == c.absent {
				t.Errorf("%s: the product is made by itself, %v, in\n%s", c.v, made, text)
			}
			if !wide && c.v == "softmax(matmul(a.v, b.v) / 3)" && !strings.Contains(text, "sum_to(mul(matmul(") {
				t.Errorf("%s: a product that the map of the gradient reads twice is made by itself in\n%s", c.v, text)
			}
		}
	}
}

// TestProductsReadWhole: products that a map by rows reads row by row, and a product whole; only these are made by
// themselves.
func TestProductsReadWhole(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	shapes := map[string][]int{"a": {4, 4}, "c": {4, 4}, "d": {4, 8}, "e": {8, 3}, "f": {8, 2}, "g": {2, 4}}
	for _, v := range []string{
		"softmax(matmul(a.v, matmul(c.v, d.v)))", "softmax(matmul(a.v, tanh(matmul(c.v, d.v))))",
		"softmax(matmul(a.v, transpose(matmul(f.v, g.v))))",
		"softmax(matmul(matmul(a.v, c.v), d.v))", "softmax(matmul(a.v, matmul(c.v, d.v)) + matmul(c.v, d.v))",
		"softmax(matmul(a.v, softmax(matmul(c.v, d.v))))",
		"softmax(matmul(a.v, d.v) + matmul(c.v, d.v))",
	} {
		rng, db, id := rand.New(rand.NewSource(7)), memdb.New(), ints(7, func(r int) int64 { return int64(r) })
		from, params := "FROM e", []string(nil)
		for _, name := range []string{"a", "c", "d", "e", "f", "g"} {
			db.Create(name, 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 7, shapes[name]...)})
			if strings.Contains(v, name+".v") {
				from, params = from+" JOIN "+name+" USING (id)", append(params, name)
			}
		}
		views(t, db, "loss", "SELECT sum(sqnorm(tanh(matmul("+v+", e.v))) * (e.id + 1)) AS loss "+from)
		for _, wide := range []bool{true, false} {
			tol := 1e-10
			if !wide {
				tol = 1e-4
			}
			for _, of := range [][]string{params[:1], params} {
				besideOracle(t, v, db, of, executor.Options{Tuning: tune, Force64: wide, Workers: 3}, tol)
			}
		}
	}
}

// TestConstantProducts: what a map by rows reads and does not change is made once, not in each step's map.
func TestConstantProducts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	rng, db, id := rand.New(rand.NewSource(7)), memdb.New(), ints(7, func(r int) int64 { return int64(r) })
	for name, shape := range map[string][]int{"a": {4, 4}, "b": {4, 8}, "c": {4, 8}} {
		db.Create(name, 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 7, shape...)})
	}
	term := "matmul(a.v, b.v) + c.v"
	views(
		t,
		db,
		"v0",
		"SELECT c.id, "+term+" AS v FROM a JOIN b USING (id) JOIN c USING (id)",
		"loss",
		"SELECT sum(sqnorm(softmax(v))) AS loss FROM v0",
	)
	_, p := compile(t, db, []string{"c"}, executor.Options{Tuning: tune, Workers: 2})
	once, step, _ := strings.Cut(p.Explain(), "each step:")
	if !strings.Contains(once, "matmul(a.v, b.v)") || strings.Contains(step, "matmul") {
		t.Errorf("the product is not made once in\n%s", p.Explain())
	}
}

// TestManyPathsToAProduct: a map by rows is planned once for what it reads on many paths; 2^50 are too many to follow.
func TestManyPathsToAProduct(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	rng, db, id := rand.New(rand.NewSource(7)), memdb.New(), ints(2, func(r int) int64 { return int64(r) })
	for name, shape := range map[string][]int{"a": {5, 4}, "b": {4, 8}, "e": {8, 3}} {
		db.Create(name, 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 2, shape...)})
	}
	const depth = 50
	views(t, db, "v0", "SELECT a.id, matmul(a.v, b.v) AS v FROM a JOIN b USING (id)")
	for i := range depth {
		views(t, db, fmt.Sprint("v", i+1), fmt.Sprintf("SELECT id, v * tanh(v) AS v FROM v%d", i))
	}
	views(
		t,
		db,
		"loss",
		fmt.Sprintf("SELECT sum(sqnorm(tanh(matmul(p.v, e.v)))) AS loss FROM v%d p JOIN e USING (id)", depth),
	)
	if _, p := compile(t, db, []string{"e", "a"}, executor.Options{Tuning: tune, Workers: 2}); !strings.Contains(
		p.Explain(),
		"map by rows",
	) {
		t.Errorf("no map by rows in\n%s", p.Explain())
	}
}

// TestMapsByRows: softmax over the rows of large chunks, its derivative, sums by rows, and kernels that mix rows beside
// them.
func TestMapsByRows(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	n := func(p *executor.Program) int { return strings.Count(p.Explain(), "map by rows") }
	for name, c := range map[string]struct {
		score  string
		byRows int
	}{
		"softmax": {score: "softmax(e.v / 3)", byRows: 1}, "log": {score: "log_softmax(e.v) * e.v", byRows: 1},
		"columns": {score: "transpose(softmax(transpose(e.v)))", byRows: 0},
	} {
		for _, wide := range []bool{true, false} {
			rng := rand.New(rand.NewSource(6))
			db := memdb.New()
			db.Create(
				"e",
				1,
				memdb.Column{Name: "id", Data: ints(7, func(r int) int64 { return int64(r) })},
				memdb.Column{Name: "v", Data: reals(rng, 7, 5, 6)},
			)
			db.Create(
				"f",
				1,
				memdb.Column{Name: "id", Data: ints(7, func(r int) int64 { return int64(r) })},
				memdb.Column{Name: "x", Data: reals(rng, 7, 5, 6)},
			)
			views(t, db, "p", "SELECT e.id, f.x, "+c.score+" AS v FROM e JOIN f USING (id)",
				"loss", "SELECT sum(sqnorm(matmul(transpose(x), v)) * (id + 1)) AS loss FROM p")
			tol := 1e-10
			if !wide {
				tol = 1e-4
			}
			opt := executor.Options{Tuning: tune, Force64: wide, Workers: 3}
			besideOracle(t, name, db, []string{"e"}, opt, tol)
			if _, p := compile(t, db, []string{"e"}, opt); n(p) < c.byRows || c.byRows == 0 && n(p) > 0 {
				t.Errorf("%s: not %d maps by rows in\n%s", name, c.byRows, p.Explain())
			}
		}
	}
}

// TestTurnedPanels: transposed matrices before narrow ones, these as they are stored and turned.
func TestTurnedPanels(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	for _, c := range []struct {
		product string
		shape   []int
	}{{product: "matmul(transpose(e.v), f.x)", shape: []int{5, 1}},
		{product: "matmul(transpose(e.v), transpose(f.x))", shape: []int{1, 5}}} {
		for _, wide := range []bool{true, false} {
			rng := rand.New(rand.NewSource(8))
			db, id := memdb.New(), ints(7, func(r int) int64 { return int64(r) })
			db.Create("e", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 7, 5, 6)})
			db.Create("f", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "x", Data: reals(rng, 7, c.shape...)})
			views(t, db, "loss", "SELECT sum(sqnorm(tanh("+c.product+")) * (id + 1)) AS loss FROM e JOIN f USING (id)")
			tol := 1e-10
			if !wide {
				tol = 1e-4
			}
			besideOracle(t, c.product, db, []string{"e", "f"}, executor.Options{Tuning: tune, Force64: wide, Workers: 3}, tol)
		}
	}
}

// TestLongSumOfOuterProducts: the gradient of a large matrix over more rows than are added in single precision.
func TestLongSumOfOuterProducts(t *testing.T) {
	t.Parallel()
	const rows, n = 4200, 256
	rng, db := rand.New(rand.NewSource(13)), memdb.New()
	x, w := reals(rng, rows, n), reals(rng, 1, n, n)
	db.Create(
		"x",
		1,
		memdb.Column{Name: "id", Data: ints(rows, func(r int) int64 { return int64(r) })},
		memdb.Column{Name: "v", Data: x},
	)
	db.Create(
		"w",
		1,
		memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
		memdb.Column{Name: "m", Data: w},
	)
	views(t, db, "loss", "SELECT sum(sqnorm(tanh(matmul(x.v, w.m)))) AS loss FROM x CROSS JOIN (SELECT m FROM w) w")
	grad := make([]float64, 16*n) // the first rows
	for r := range rows {
		y := make([]float64, n)
		for i, a := range x.F32()[r*n : (r+1)*n] {
			for j, b := range w.F32()[i*n : (i+1)*n] {
				y[j] += float64(a) * float64(b)
			}
		}
		for j, z := range y {
			h := math.Tanh(z)
			y[j] = 2 * h * (1 - h*h)
		}
		for i, a := range x.F32()[r*n : r*n+16] {
			for j, b := range y {
				grad[i*n+j] += float64(a) * b
			}
		}
	}
	for _, wide := range []bool{true, false} {
		_, p := compile(t, db, []string{"w"}, executor.Options{Force64: wide, Workers: 2})
		if !strings.Contains(p.Explain(), "sum GEMM over 4200 rows") {
			t.Fatalf("no sum of outer products in\n%s", p.Explain())
		}
		for range 2 { // the second one finds the first one's scratch
			if err := p.Run(context.Background(), kernels.Env{}); err != nil {
				t.Fatal(err)
			}
		}
		cols, err := p.Result(1)
		if err != nil {
			t.Fatal(err)
		}
		got := cols[len(cols)-1]
		for i, want := range grad {
			g, tol := 0.0, 1e-4
			if wide {
				g, tol = got.F64()[i], 1e-11
			} else {
				g = float64(got.F32()[i])
			}
			if !(math.Abs(g-want) <= tol*math.Max(1, math.Abs(want))) {
				t.Fatalf("%v: element %d of the gradient is %v, not %v", wide, i, g, want)
			}
		}
	}
}

// TestSumsOfProductsOf: such sums in queries of every form: one matrix beside many, a matrix beside itself, all rows,
// rows of a step, averages, outer joins, filters that leave groups nothing, guards. forms is how many of them are in
// place.
func TestSumsOfProductsOf(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	const join = " FROM a JOIN b ON a.j = b.i "
	for _, c := range []struct {
		query  string
		params []string
		forms  int
	}{
		{query: "SELECT a.i, sum(matmul(o.v, a.v)) AS v FROM a CROSS JOIN (SELECT v FROM o) o GROUP BY a.i",
			params: []string{"a", "o"}, forms: 0},
		{query: "SELECT a.i, sum(matmul(transpose(a.v), a.v)) AS v FROM a GROUP BY a.i", params: []string{"a"}, forms: 1},
		{query: "SELECT 0 AS i, sum(matmul(a.v, b.v)) AS v FROM a CROSS JOIN b", params: []string{"a", "b"}, forms: 0},
		{query: "SELECT a.i, sum(matmul(a.v, b.v)) AS v" + join + "WHERE (a.i + b.j + current_step()) % 3 > 0 GROUP BY a.i",
			params: []string{"a", "b"}, forms: 3},
		{query: "SELECT a.i, avg(matmul(a.v, b.v)) AS v" + join + "GROUP BY a.i", params: []string{"a", "b"}, forms: 2},
		{query: "SELECT a.i, sum(matmul(a.v, coalesce(b.v, a.v))) AS v FROM a LEFT JOIN b ON a.j = b.i GROUP BY a.i",
			params: []string{"a", "b"}, forms: 1},
		{query: "SELECT n.k AS i, sum(matmul(a.v, b.v)) AS v FROM n LEFT JOIN a ON a.i = n.k LEFT JOIN b ON a.j = b.i " +
			"GROUP BY n.k", params: []string{"a", "b"}, forms: 0},
		{query: "SELECT a.i, sum(matmul(a.v, b.v)) FILTER (WHERE b.j > 3) AS v" + join + "GROUP BY a.i",
			params: []string{"a", "b"}, forms: 0},
		{query: "SELECT a.i, sum(matmul(a.v, b.v)) FILTER (WHERE b.j > 100) AS v" + join + "GROUP BY a.i",
			params: []string{"a", "b"}, forms: 0},
		{query: "SELECT a.i, sum(CASE WHEN b.j > 3 THEN matmul(a.v, b.v) ELSE a.v END) AS v" + join + "GROUP BY a.i",
			params: []string{"a", "b"}, forms: 0},
	} {
		for _, wide := range []bool{true, false} {
			rng, db := rand.New(rand.NewSource(12)), memdb.New()
			sparseBlocks(db, rng, "a", 5, 3, 3)
			sparseBlocks(db, rng, "b", 5, 3, 3)
			db.Create(
				"o",
				1,
				memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
				memdb.Column{Name: "v", Data: reals(rng, 1, 3, 3)},
			)
			db.Create("n", 1, memdb.Column{Name: "k", Data: ints(6, func(i int) int64 { return int64(i) })})
			views(t, db, "p", c.query, "loss", "SELECT sum(sqnorm(tanh(v)) * (i + 1)) AS loss FROM p WHERE v IS NOT NULL")
			tol := 1e-10
			if !wide {
				tol = 1e-4
			}
			for step := range int64(2) {
				env := kernels.Env{Step: step}
				plan, p := compile(t, db, c.params, executor.Options{Tuning: tune, Force64: wide, Workers: 3})
				if err := p.Run(context.Background(), env); err != nil {
					t.Fatalf("%s: %v", c.query, err)
				}
				if n := strings.Count(p.Explain(), "sum GEMM over"); n < c.forms {
					t.Errorf("%s: %d sums in place, not %d, in\n%s", c.query, n, c.forms, p.Explain())
				}
				resultsBesideOracle(t, c.query, db, plan, p, env, tol)
			}
		}
	}
}
