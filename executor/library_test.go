package executor_test

import (
	"flag"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// TestLibraryDevice runs tests of products on the graphics processor of the machine, and on a double of one, where
// cuBLASLt makes all of them, large or not: none may be left to the kernels unnoticed.
func TestLibraryDevice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs other tests once more")
	}
	args := []string{"-test.short", "-device=cuda", "-library"}
	const tests = "^(TestSumsOfProducts|TestDrawnProducts)$"
	if err := cuda.NoLibrary(); err != nil && cuda.Absent() == nil && !cudamock.Devices() {
		t.Run("card", func(t *testing.T) { need.Absent(t, "cublaslt", err.Error()) })
	} else {
		cudamock.Card(t, cuda.Absent, tests, args...)
	}
	cudamock.Rerun(t, tests, []string{"RELGRAD_MOCK_FLAGS=-O0"}, args...)
}

var drawnProducts = flag.Int("products", 12, "products to draw")

// TestDrawnProducts: products of matrices of drawn sizes, either of them transposed: of matrices of their own, summed
// by group (of which some have no product), and of a vector in each row, whose gradient is a sum of outer products.
// Some have longer sums than what is added in single precision, or several products in a sum that is.
func TestDrawnProducts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	executor.LargeMatricesFrom(tune, 2)
	lengths := [][]int{{2300, 1025, 3072, 9}, {600, 300, 1024, 9}, {3, 40, 7, 1}} // of sums, by kind of product
	for i := range *drawnProducts {
		rng, db := rand.New(rand.NewSource(int64(i))), memdb.New()
		m, n, k := 1+rng.Intn(8), 1+rng.Intn(8), lengths[i%3][i/3%4]
		a, b, shapeA, shapeB := "a.v", "b.v", []int{m, k}, []int{k, n}
		if rng.Intn(2) > 0 {
			a, shapeA = "transpose(a.v)", []int{k, m}
		}
		if rng.Intn(2) > 0 {
			b, shapeB = "transpose(b.v)", []int{n, k}
		}
		id := func(n int) memdb.Column {
			return memdb.Column{Name: "i", Data: ints(n, func(r int) int64 { return int64(r) })}
		}
		query := "SELECT a.i, matmul(" + a + ", " + b + ") AS v FROM a "
		switch i % 3 {
		case 0:
			rows := 1 + rng.Intn(4)
			db.Create("a", 1, id(rows), memdb.Column{Name: "v", Data: reals(rng, rows, shapeA...)})
			db.Create("b", 1, id(rows), memdb.Column{Name: "v", Data: reals(rng, rows, shapeB...)})
			query += "JOIN b USING (i)"
		case 1:
			sparseBlocks(db, rng, "a", 4, shapeA...)
			sparseBlocks(db, rng, "b", 4, shapeB...)
			query = "SELECT a.i, b.j, sum(matmul(" + a + ", " + b + ")) AS v FROM a JOIN b ON a.j = b.i GROUP BY a.i, b.j"
		case 2:
			rows := 1000 + rng.Intn(3000)
			db.Create("a", 1, id(rows), memdb.Column{Name: "v", Data: reals(rng, rows, k)})
			db.Create("b", 1, id(1), memdb.Column{Name: "v", Data: reals(rng, 1, k, n)})
			query = "SELECT a.i, matmul(a.v, b.v) AS v FROM a CROSS JOIN (SELECT v FROM b) b"
		}
		views(t, db, "p", query, "loss", "SELECT sum(sqnorm(tanh(v / 100)) * (i + 1)) AS loss FROM p")
		opt, tol := executor.Options{Tuning: tune, Force64: rng.Intn(2) > 0, Workers: 2}, 1e-10
		if !opt.Force64 {
			tol = 1e-4
		}
		plan, p := compile(t, db, []string{"a", "b"}, opt)
		for range 3 { // the second time it is recorded
			if err := p.Run(t.Context(), opt.Env); err != nil {
				t.Fatal(err)
			}
		}
		name := fmt.Sprintf("%d: %s, %d by %d by %d", i, query, m, k, n)
		resultsBesideOracle(t, name, db, plan, p, opt.Env, tol)
		if !strings.Contains(p.Explain(), "GEMM") {
			t.Errorf("%s: no product of matrices in\n%s", name, p.Explain())
		}
	}
}
