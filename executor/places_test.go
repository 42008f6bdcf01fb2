package executor_test

import (
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// places is a table with chunks, and with places in them, some outside and some NULL.
func places(t testing.TB, n int, loss string) *memdb.DB {
	rng, db := rand.New(rand.NewSource(5)), memdb.New()
	i, k := ints(n, func(int) int64 { return rng.Int63n(5) - 1 }), ints(n, func(int) int64 { return rng.Int63n(6) - 1 })
	y := reals(rng, n)
	for r := range n {
		if rng.Intn(5) == 0 {
			i.SetNull(r)
		}
		if rng.Intn(5) == 0 {
			y.SetNull(r)
		}
	}
	db.Create("t", 1, memdb.Column{Name: "id", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "i", Data: i}, memdb.Column{Name: "k", Data: k}, memdb.Column{Name: "y", Data: y},
		memdb.Column{Name: "z", Data: reals(rng, n)}, memdb.Column{Name: "m", Data: reals(rng, n, 2, 3)},
		memdb.Column{Name: "c", Data: reals(rng, n, 3)})
	views(t, db, "loss", loss)
	return db
}

// TestPlaces compares with the oracle: elements at computed places, in the chunk and outside, with their derivatives;
// sums of products by labels; values that differ, or are NULL; draws of a row's own key.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, loss := range map[string]string{
		"elements":       "sum(coalesce(m[i][k] * c[k], 0.5) ^ 2 * z)",
		"no element":     "count(c[i + 2]) + sum(z ^ 2)",
		"largest":        "sum(c[argmax(c - z) + 1] * c[argmin(c * y) + 1])",
		"first NaN":      "sum(c[argmax(sqrt(c)) + 1] * z)",
		"sums by labels": "sum(z * sqnorm(einsum('ij,j,k->kki', m, c, c)) + einsum('ij,ij,j->', m, m, c))",
		"traces":         "sum(z * einsum('ii->', einsum('ij,ik->jk', m, m)) + sqnorm(einsum('i->ii', c)))",
		"differ": "sum(CASE WHEN y IS DISTINCT FROM z / 2 AND i IS DISTINCT FROM nullif(i, k) THEN z ^ 2 " +
			"ELSE coalesce(y, 1) * z END)",
		"draws": "sum(sqnorm(c * random_normal(ARRAY[3], id, ARRAY[k])) + sum_elements(m * glorot_uniform(ARRAY[2,3], " +
			"current_step(), ARRAY[id, k], 2, 3)))",
		"random places": "sum(c[1 + random_int(3, id, ARRAY[k])] * " +
			"sum_elements(m * random_uniform(ARRAY[2,3], id, ARRAY[k])))",
		"epochs": "sum(z * (current_epoch() * 100 + current_step() + id))",
		"decimals": "sum(z * ((current_step() + id) / 7.0 * 1e-3) + " +
			"z ^ 2 * round((current_step() + k) * 1.1, 1) * 1e20)",
	} {
		t.Run(name, func(t *testing.T) {
			for _, opt := range []executor.Options{{Force64: true, Whole: true}, {Workers: 3, Whole: true}} {
				opt.Env = kernels.Env{Seed: 3, Step: 2, Epoch: 7}
				db := places(t, 60, "SELECT "+loss+" AS loss FROM t")
				besideOracle(t, name, db, []string{"t"}, opt, map[bool]float64{true: 1e-10, false: 1e-4}[opt.Force64])
			}
		})
	}
}
