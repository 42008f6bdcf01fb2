package executor_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// fit is a matrix beside a product: down × across tiles of p × q numbers, of rank k.
type fit struct {
	down, across, p, q, k int
	kind                  kernels.Kind
	noise                 float64 // what the product lacks, relative to the product
	plain                 bool    // numbers between 0 and 1; else around 0
	turned                bool    // h's chunks are q × k
	holes                 int     // so many tiles are missing
	twice                 int     // so many tiles are there twice, under no key
	nulls                 int     // so many tiles are NULL
	special               float64 // stands for one number of a; 0: none does
	from                  string  // of the loss; "" for the join of the three tables
}

// db stores the matrices a, w and h in tiles, a's rows in any order.
func (f *fit) db(t testing.TB, rng *rand.Rand, loss string) *memdb.DB {
	t.Helper()
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			if x[i] = rng.NormFloat64(); f.plain {
				x[i] = rng.Float64()
			}
			x[i] = float64(float32(x[i]))
		}
		return x
	}
	m, n := f.down*f.p, f.across*f.q
	w, h := draw(m*f.k), draw(f.k*n)
	a := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for k := range f.k {
				a[i*n+j] += w[i*f.k+k] * h[k*n+j]
			}
		}
	}
	norm := 0.0
	for _, x := range a {
		norm += x * x
	}
	for i := range a {
		a[i] += f.noise * math.Sqrt(norm/float64(m*n)) * rng.NormFloat64()
	}
	if f.special != 0 {
		a[len(a)/2] = f.special
	}
	db := memdb.New()
	f.create(db, rng, "a", a, n, f.down, f.across, f.p, f.q)
	f.create(db, rng, "w", w, f.k, f.down, 1, f.p, f.k)
	f.create(db, rng, "h", h, n, 1, f.across, f.k, f.q)
	if f.from == "" {
		f.from = "a JOIN w ON a.i = w.i JOIN h ON a.j = h.j"
	}
	if f.turned {
		loss = strings.ReplaceAll(loss, "h.v", "transpose(h.v)")
	}
	views(t, db, "loss", "SELECT "+loss+" AS loss FROM "+f.from)
	return db
}

// create makes the table of a matrix, whose rows are so wide, in down × across tiles of p × q.
func (f *fit) create(db *memdb.DB, rng *rand.Rand, name string, x []float64, wide, down, across, p, q int) {
	order := rng.Perm(down * across)
	if name == "a" {
		order = order[f.holes:]
		order = append(order, order[:f.twice]...)
	}
	shape, turned := []int{p, q}, name == "h" && f.turned
	if turned {
		shape = []int{q, p}
	}
	v := column.New(kernels.Type{Kind: f.kind, Shape: shape}, len(order))
	i, j, weight := column.New(
		kernels.Type{Kind: kernels.Int},
		len(order),
	), column.New(
		kernels.Type{Kind: kernels.Int},
		len(order),
	), column.New(
		kernels.Type{Kind: kernels.Float64},
		len(order),
	)
	for r, at := range order {
		i.I64()[r], j.I64()[r], weight.F64()[r] = int64(at/across), int64(at%across), 1+float64(r)
		for e := range p * q {
			to := r*p*q + e
			if turned {
				to = r*p*q + e%q*p + e/q
			}
			y := x[(at/across*p+e/q)*wide+at%across*q+e%q]
			if v.Kind() == column.F32 {
				v.F32()[to] = float32(y)
			} else {
				v.F64()[to] = y
			}
		}
	}
	if name == "a" && f.nulls > 0 {
		for r := range f.nulls {
			v.SetNull(r)
		}
	}
	cols := []memdb.Column{
		{Name: "i", Data: i},
		{Name: "j", Data: j},
		{Name: "v", Data: v},
		{Name: "weight", Data: weight},
	}
	switch name {
	case "a":
		key := 2
		if f.twice > 0 {
			key = 0
		}
		db.Create(name, key, cols...)
	case "w":
		db.Create(name, 1, cols[0], cols[2])
	default:
		db.Create(name, 1, cols[1], cols[2])
	}
}

// outcome is what a program computes: the loss, and the gradients as rows.
type outcome struct {
	loss      float64
	grads     []map[string][]float64
	byParts   int
	residuals int
	explain   string
	work      executor.Work
}

func outcomeOf(t testing.TB, db *memdb.DB, params []string, opt executor.Options) outcome {
	t.Helper()
	_, p := compile(t, db, params, opt)
	defer p.Close()
	var out outcome
	for range 2 { // the second run must not depend on the first
		if err := p.Run(context.Background(), opt.Env); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if out.loss, _, err = p.Scalar(0); err != nil {
		t.Fatal(err)
	}
	for i := range params {
		cols, err := p.Result(1 + i)
		if err != nil {
			t.Fatal(err)
		}
		out.grads = append(out.grads, gradtest.VectorRows(cols))
	}
	out.byParts, out.residuals = executor.ByParts(p)
	out.explain, out.work = p.Explain(), p.Work()
	return out
}

// beside compares two outcomes: the loss, and each gradient by its largest number.
func (o outcome) beside(other outcome, tol float64) error {
	if !(math.Abs(o.loss-other.loss) <= tol*math.Abs(other.loss)) {
		return fmt.Errorf("the loss is %v, not %v", o.loss, other.loss)
	}
	for i, g := range o.grads {
		if e := furthest(g, other.grads[i]); !(e <= tol) {
			return fmt.Errorf("gradient %d is away by %v", i, e)
		}
	}
	return nil
}

// furthest is the largest difference of two gradients, relative to the largest number.
func furthest(a, b map[string][]float64) float64 {
	most, off := 0.0, 0.0
	for key, x := range b {
		y := a[key]
		if len(y) != len(x) {
			return math.NaN()
		}
		for i := range x {
			most, off = max(most, math.Abs(x[i])), max(off, math.Abs(x[i]-y[i]))
		}
	}
	if len(a) != len(b) {
		return math.NaN()
	}
	return off / most
}

var squareForms = []string{
	"sum(sqnorm(a.v - matmul(w.v, h.v)))", "sum(sqnorm(matmul(w.v, h.v) - a.v))", "avg(mse(matmul(w.v, h.v), a.v))",
	"-3 * avg(sqnorm(a.v - einsum('ik,kj->ij', w.v, h.v)))",
	"sum(mean_elements((a.v / 2 - matmul(w.v, h.v)) ^ 2)) / 7", "sum(sqnorm(a.v - matmul(relu(w.v), h.v)))",
}

// TestByParts: sums over a residual that are made by parts are those that are made with it, for tiles, panels and ranks
// of any size, and workers change no bit.
func TestByParts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	rng := rand.New(rand.NewSource(1))
	parts := 0
	for n := range 60 {
		f := &fit{
			down:   1 + rng.Intn(5),
			across: 2 + rng.Intn(4),
			p:      7 + rng.Intn(20),
			q:      7 + rng.Intn(20),
			k:      2 + rng.Intn(2),
			noise:  1,
			kind:   kernels.Float64,
			plain:  rng.Intn(2) == 0,
			turned: rng.Intn(3) == 0,
		}
		tol := 1e-11
		if rng.Intn(2) == 0 {
			f.kind, tol = kernels.Float32, 2e-5
		}
		params := [][]string{{"w", "h"}, {"h", "w"}, {"w"}, {"h"}}[rng.Intn(4)]
		form := squareForms[rng.Intn(len(squareForms))]
		executor.SmallParts(tune, 3+rng.Intn(12), 1+rng.Intn(20))
		db := f.db(t, rng, form)
		want := outcomeOf(t, db, params, executor.Options{Tuning: tune, Residuals: true})
		if want.byParts+want.residuals > 0 {
			t.Fatalf("sums are made by parts although that is off:\n%s", want.explain)
		}
		got := outcomeOf(t, db, params, executor.Options{Tuning: tune, Workers: 1})
		if err := got.beside(want, tol); err != nil {
			t.Errorf("case %d, %s of %+v: %v\n%s", n, form, *f, err, got.explain)
		}
		for _, opt := range []executor.Options{{Tuning: tune, Workers: 2}, {Tuning: tune, Workers: 7, Many: true}} {
			if again := outcomeOf(t, db, params, opt); again.beside(got, 0) != nil || again.byParts != got.byParts {
				t.Errorf("case %d, %s of %+v: %d workers: %v", n, form, *f, opt.Workers, again.beside(got, 0))
			}
		}
		parts += got.byParts
	}
	if parts < 40 {
		t.Errorf("%d of 60 sums were made by parts", parts)
	}
}

// TestByPartsInAnyChunks: matrices stored as rows, columns, scalars or blocks.
func TestByPartsInAnyChunks(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	executor.SmallParts(tune, 7, 14)
	m := gradtest.Factors(40, 42, 3)
	for _, size := range []gradtest.Size{{'i': 1, 'j': 0, 'k': 0}, {'i': 0, 'j': 1, 'k': 0}, {'i': 1, 'j': 1, 'k': 1},
		{'i': 20, 'j': 14, 'k': 1}, {'i': 20, 'j': 0, 'k': 0}} {
		want := passOf(t, m, size, kernels.Float64, false, executor.Options{Tuning: tune, Workers: 1, Residuals: true})
		got := passOf(t, m, size, kernels.Float64, false, executor.Options{Tuning: tune, Workers: 1})
		if !strings.Contains(got.explain, "by parts") || strings.Contains(want.explain, "by parts") {
			t.Errorf("%v: not by parts:\n%s", size, got.explain)
		}
		if err := near(got, want, 1e-11); err != nil {
			t.Errorf("%v: %v\n%s", size, err, got.explain)
		}
		if two := passOf(t, m, size, kernels.Float64, false, executor.Options{Tuning: tune, Workers: 2}); near(
			two,
			got,
			0,
		) != nil {
			t.Errorf("%v: workers change the result: %v", size, near(two, got, 0))
		}
		single := passOf(t, m, size, kernels.Float32, false, executor.Options{Tuning: tune, Workers: 2})
		if err := near(single, want, 2e-5); err != nil {
			t.Errorf("%v, of real: %v\n%s", size, err, single.explain)
		}
	}
}

// TestByPartsBesideDifferences compares gradients with central differences of the loss, both made by parts.
func TestByPartsBesideDifferences(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallParts(tune, 6, 12)
	for _, form := range squareForms[:5] {
		f := &fit{down: 2, across: 3, p: 13, q: 11, k: 2, noise: 1, kind: kernels.Float64}
		db := f.db(t, rand.New(rand.NewSource(1)), form)
		plan, p := compile(t, db, []string{"w", "h"}, executor.Options{Tuning: tune})
		run := func() float64 {
			if err := p.Run(context.Background(), kernels.Env{}); err != nil {
				t.Fatal(err)
			}
			if n, _ := executor.ByParts(p); n != 1 {
				t.Fatalf("%s: not by parts:\n%s", form, p.Explain())
			}
			x, _, err := p.Scalar(0)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		run()
		for i, name := range []string{"w", "h"} {
			table, err := db.Table(context.Background(), nil, "", name)
			if err != nil {
				t.Fatal(err)
			}
			param := p.Param(table, 1)
			x, err := param.Values()
			if err != nil {
				t.Fatal(err)
			}
			slope, err := p.Grad(1+i, len(plan.Roots[1+i].Cols)-1)
			if err != nil {
				t.Fatal(err)
			}
			grad := slices.Clone(slope.F64())
			rows, err := p.Match(1+i, table, []int{0})
			if err != nil {
				t.Fatal(err)
			}
			with := func(at int, v float64) float64 {
				if err := param.Set(at, v); err != nil {
					t.Fatal(err)
				}
				return run()
			}
			for at, old := range slices.Clone(x.F64()) {
				const step = 1e-4
				g := (with(at, old+step) - with(at, old-step)) / (2 * step)
				with(at, old)
				size := param.Size
				for r, to := range rows {
					if int(to) == at/size && math.Abs(grad[r*size+at%size]-g) > 1e-6*max(1, math.Abs(g)) {
						t.Errorf("%s: %s[%d] has the gradient %v, differences say %v", form, name, at, grad[r*size+at%size], g)
					}
				}
			}
			run()
		}
	}
}

// TestPartsThatCancel: where the product is near, sums are made with the residual; where they are made by parts, they
// are exact. With -v it prints the errors, which docs/adr/0018-sums-by-parts.md lists.
func TestPartsThatCancel(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallParts(tune, 512, 512)
	for _, kind := range []kernels.Kind{kernels.Float32, kernels.Float64} {
		for _, plain := range []bool{true, false} {
			both := [2]int{}
			for _, noise := range []float64{1, 0.5, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8} {
				f := &fit{down: 2, across: 3, p: 256, q: 192, k: 12, noise: noise, kind: kind, plain: plain}
				db := f.db(t, rand.New(rand.NewSource(1)), "sum(sqnorm(a.v - matmul(w.v, h.v)))")
				norm := squaresOf(t, db)
				exact := outcomeOf(t, db, []string{"w", "h"}, executor.Options{Tuning: tune, Force64: true, Residuals: true})
				got := outcomeOf(t, db, []string{"w", "h"}, executor.Options{Tuning: tune})
				with := outcomeOf(t, db, []string{"w", "h"}, executor.Options{Tuning: tune, Residuals: true})
				off := func(o outcome) (loss, grad float64) {
					return math.Abs(
							o.loss/exact.loss - 1,
						), max(
							furthest(o.grads[0], exact.grads[0]),
							furthest(o.grads[1], exact.grads[1]),
						)
				}
				loose := *tune
				executor.AnyParts(&loose)
				any := outcomeOf(t, db, []string{"w", "h"}, executor.Options{Tuning: &loose})
				loss, grad := off(any)
				loss0, grad0 := off(with)
				t.Logf(
					"%v, plain %v, residual %7.0e, loss %.1e of the data: by parts %v: loss %.1e, gradient %.1e; with the residual "+
						"%.1e, %.1e",
					kind,
					plain,
					noise,
					exact.loss/norm,
					got.byParts == 1,
					loss,
					grad,
					loss0,
					grad0,
				)
				both[got.byParts]++
				if got.byParts+got.residuals != 1 {
					t.Fatalf("no sum by parts:\n%s", got.explain)
				}
				if most := map[kernels.Kind]float64{kernels.Float32: 1, kernels.Float64: 1e-5}[kind]; got.byParts == 1 &&
					(loss > 1e-6*most || grad > 1e-4*most) {
					t.Errorf("%v, residual %v: loss and gradients by parts are away by %.1e and %.1e", kind, noise, loss, grad)
				}
				if got.byParts == 0 && got.beside(with, 0) != nil {
					t.Errorf("%v, residual %v: %v", kind, noise, got.beside(with, 0))
				}
			}
			if both[0] < 4 || both[1] < 1 {
				t.Errorf("%v, plain %v: %d sums with the residual, %d by parts", kind, plain, both[0], both[1])
			}
		}
	}
}

// TestFactorsThatCancel: where columns and rows of the factors are large and opposed, so that their product is not, the
// errors of ⟨Aᵀ·A, B·Bᵀ⟩ count as well.
func TestFactorsThatCancel(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallParts(tune, 64, 64)
	both := [2]int{}
	for _, big := range []float64{1, 100, 1e3, 3e3, 1e4, 2e4, 1e5} {
		f := &fit{down: 3, across: 3, p: 16, q: 16, k: 4, noise: 1, kind: kernels.Float64}
		rng := rand.New(rand.NewSource(1))
		db := f.db(t, rng, "sum(sqnorm(a.v - matmul(w.v, h.v)))")
		w, h := NumbersOf(t, db, "w", 1).F64(), NumbersOf(t, db, "h", 1).F64()
		for i := 0; i < len(w); i += 2 {
			w[i] *= big
			w[i+1] = w[i] + rng.NormFloat64()
		}
		for i := range h {
			if i/f.q%2 == 1 {
				h[i] = -h[i-f.q] * (1 + rng.NormFloat64()/big)
			}
		}
		with := outcomeOf(t, db, []string{"w", "h"}, executor.Options{Tuning: tune, Residuals: true})
		got := outcomeOf(t, db, []string{"w", "h"}, executor.Options{Tuning: tune})
		if both[got.byParts]++; got.byParts+got.residuals != 1 {
			t.Fatalf("no sum by parts:\n%s", got.explain)
		}
		if off := math.Abs(got.loss/with.loss - 1); off > 0x1p-30 {
			t.Errorf("columns of %g times the product: the loss is away by %.1e", big, off)
		}
	}
	if both[0] == 0 || both[1] == 0 {
		t.Errorf("%d sums with the residual, %d by parts", both[0], both[1])
	}
}

// squaresOf is the sum of squares of a.
func squaresOf(t *testing.T, db *memdb.DB) float64 {
	v, sum := NumbersOf(t, db, "a", 2), 0.0
	for _, x := range v.F32() {
		sum += float64(x) * float64(x)
	}
	for _, x := range v.F64() {
		sum += x * x
	}
	return sum
}

// NumbersOf is a column of a table, as it is stored.
func NumbersOf(t *testing.T, db *memdb.DB, table string, col int) *column.Column {
	rows, err := db.Table(context.Background(), nil, "", table)
	if err != nil {
		t.Fatal(err)
	}
	cols, err := db.Read(context.Background(), rows, []int{col})
	if err != nil {
		t.Fatal(err)
	}
	return cols[0]
}

// TestNotByParts: where pairs are missing, rows are weighted or NULL, or the residual is read by others, sums are as
// they stand.
func TestNotByParts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallParts(tune, 8, 16)
	squares := "sum(sqnorm(a.v - matmul(w.v, h.v)))"
	for name, c := range map[string]struct {
		fit
		loss   string
		params []string
	}{
		"a gap":                  {fit: fit{holes: 1}, loss: squares},
		"a gap and a tile twice": {fit: fit{holes: 1, twice: 1}, loss: squares},
		"a NULL":                 {fit: fit{nulls: 1}, loss: squares},
		"weights":                {loss: "sum(a.weight * sqnorm(a.v - matmul(w.v, h.v)))"},
		"a filter": {fit: fit{from: "a JOIN w ON a.i = w.i JOIN h ON a.j = h.j WHERE a.i <> a.j"},
			loss: squares},
		"the residual elsewhere": {loss: squares + " + sum(sum_elements(tanh(a.v - matmul(w.v, h.v))))"},
		"the product elsewhere":  {loss: squares + " + sum(sum_elements(exp(matmul(w.v, h.v))))"},
		"the data change":        {loss: squares, params: []string{"a", "w", "h"}},
		"rounded squares": {loss: squares +
			" + sum(CAST(CAST(sqnorm(a.v - matmul(w.v, h.v)) AS bigint) AS double precision))"},
		"a scalar of the sum":     {loss: "sqrt(" + squares + ")"},
		"no gradient":             {loss: squares, params: []string{}},
		"a rank too high to save": {fit: fit{k: 12}, loss: squares},
	} {
		f := c.fit
		f.down, f.across, f.p, f.q, f.noise, f.kind, f.k = 3, 4, 9, 10, 1, kernels.Float64, max(f.k, 2)
		if c.params == nil {
			c.params = []string{"w", "h"}
		}
		db := f.db(t, rand.New(rand.NewSource(1)), c.loss)
		if got := outcomeOf(t, db, c.params, executor.Options{Tuning: tune}); strings.Contains(got.explain, "by parts") {
			t.Errorf("%s: by parts all the same:\n%s", name, got.explain)
		}
		besideOracle(t, name, db, c.params, executor.Options{Tuning: tune}, 1e-10)
	}
	// Numbers that are infinite, or none, are found at the step.
	for _, x := range []float64{math.Inf(1), math.NaN(), 1e30} {
		f := &fit{down: 3, across: 4, p: 9, q: 10, k: 2, noise: 1, kind: kernels.Float32, special: x}
		db := f.db(t, rand.New(rand.NewSource(1)), squares)
		if got := outcomeOf(t, db, []string{"w", "h"}, executor.Options{Tuning: tune}); got.residuals != 1 && x != 1e30 {
			t.Errorf("%v: by parts:\n%s", x, got.explain)
		}
		besideOracle(t, fmt.Sprint(x), db, []string{"w", "h"}, executor.Options{Tuning: tune}, 1e-5)
	}
}

// TestByPartsInABudget: where columns and what is computed lie in files, sums by parts are the same.
func TestByPartsInABudget(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	if runtime.GOOS != "linux" {
		t.Skip("spilling exists on Linux only")
	}
	executor.SpillFrom(tune, 1<<14)
	executor.SmallParts(tune, 64, 64)
	f := &fit{down: 6, across: 8, p: 128, q: 160, k: 8, noise: 1, kind: kernels.Float32}
	db := f.db(t, rand.New(rand.NewSource(1)), squareForms[0])
	want := outcomeOf(t, db, []string{"w", "h"}, executor.Options{Tuning: tune, Workers: 1})
	for _, workers := range []int{1, 2} {
		got := outcomeOf(
			t,
			db,
			[]string{"w", "h"},
			executor.Options{Tuning: tune, Workers: workers, Memory: 13 << 20, SpillDir: t.TempDir()},
		)
		if got.byParts != 1 || !strings.Contains(got.explain, "spilled:") {
			t.Errorf("%d workers: not by parts, or not in files:\n%s", workers, got.explain)
		}
		if err := got.beside(want, 0); err != nil {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestByPartsExplained: plans name what is made by parts, and what is done where they cancel.
func TestByPartsExplained(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallParts(tune, 8, 16)
	f := &fit{down: 3, across: 4, p: 9, q: 10, k: 2, noise: 1, kind: kernels.Float32}
	got := outcomeOf(
		t,
		f.db(t, rand.New(rand.NewSource(1)), squareForms[0]),
		[]string{"w", "h"},
		executor.Options{Tuning: tune},
	)
	_, text, _ := strings.Cut(got.explain, "each step:\n")
	text = regexp.MustCompile(`v\d+`).ReplaceAllString(text, "v·")
	text = regexp.MustCompile(` {2,}\[.*|(?m)^memory.*`).ReplaceAllString(text, "")
	want := `  v·, v·, v· by parts over 12 rows, without sub(a.v, matmul(w.v[·], h.v[·]))
  or, where the parts cancel, one pass over 12 rows
    v·   double precision = sum: sqnorm(sub(a.v, matmul(w.v[·], h.v[·])))
    v·   12 × real[9,10] = map: neg(mul(v·, sub(a.v, matmul(w.v[·], h.v[·]))))
  or, where the parts cancel, v·   3 × real[9,2] = sum over 12 rows: matmul(v·, transpose(h.v[·]))
  or, where the parts cancel, v·   4 × real[2,10] = sum over 12 rows: matmul(transpose(w.v[·]), v·)
  total 1 instructions, 10.2 kflop, 5.27 kB moved
`
	if strings.TrimSpace(text) != strings.TrimSpace(want) {
		t.Errorf("the plan is\n%s\nnot\n%s", text, want)
	}
	if w := got.work.Flops; w < 10150 || w > 10250 { // not what did not run
		t.Errorf("%g operations", w)
	}
}
