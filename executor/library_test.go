package executor_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// TestLibraryDevice runs tests of products on the graphics processor of the machine, and on a double of one, where
// cuBLASLt makes all of them, large or not: none may be left to the kernels unnoticed.
func TestLibraryDevice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs other tests once more")
	}
	args := []string{"-test.short", "-device=cuda", "-library", "-plans=6"}
	const tests = "^(TestRandomPlans|TestSumsOfProducts|TestLongProducts)$"
	cudamock.Card(t, func() error {
		if err := cuda.Absent(); err != nil {
			return err
		}
		return cuda.NoLibrary()
	}, tests, args...)
	cudamock.Rerun(t, tests, []string{"RELGRAD_MOCK_MEMORY=16000000000"}, args...)
}

// TestLongProducts: products whose sums are longer than what is added in single precision: of matrices of their own, and
// summed by group, where a sum has several products or a product several sums.
func TestLongProducts(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	for form := range 8 {
		at, bt, wide := form&1 > 0, form&2 > 0, form&4 > 0
		tol := 1e-10
		if !wide {
			tol = 1e-4
		}
		a, b, k := "a.v", "b.v", []int{2300, 600, 300}[form%3]
		shapeA, shapeB := []int{5, k}, []int{k, 4}
		if at {
			a, shapeA = "transpose(a.v)", []int{k, 5}
		}
		if bt {
			b, shapeB = "transpose(b.v)", []int{4, k}
		}
		rng, db := rand.New(rand.NewSource(int64(form))), memdb.New()
		query := "SELECT a.id AS i, matmul(" + a + ", " + b + ") AS v FROM a JOIN b USING (id)"
		if k > 1000 {
			id := ints(3, func(r int) int64 { return int64(r) })
			db.Create("a", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 3, shapeA...)})
			db.Create("b", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: reals(rng, 3, shapeB...)})
		} else {
			sparseBlocks(db, rng, "a", 4, shapeA...)
			sparseBlocks(db, rng, "b", 4, shapeB...)
			query = "SELECT a.i, b.j, sum(matmul(" + a + ", " + b + ")) AS v FROM a JOIN b ON a.j = b.i GROUP BY a.i, b.j"
		}
		views(t, db, "p", query, "loss", "SELECT sum(sqnorm(tanh(v / 100)) * (i + 1)) AS loss FROM p")
		opt, name := executor.Options{Tuning: tune, Force64: wide, Workers: 2}, fmt.Sprint(query, k)
		plan, p := compile(t, db, []string{"a", "b"}, opt)
		for range 3 { // the second time it is recorded
			if err := p.Run(t.Context(), opt.Env); err != nil {
				t.Fatal(err)
			}
		}
		resultsBesideOracle(t, name, db, plan, p, opt.Env, tol)
		if !strings.Contains(p.Explain(), "GEMM") {
			t.Errorf("%s: no product of matrices in\n%s", name, p.Explain())
		}
	}
}
