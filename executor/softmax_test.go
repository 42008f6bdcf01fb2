package executor_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
)

// scores is matrices of 5 × 7 beside a positive number each, one of which is NULL, a parameter that multiplies them,
// and a loss.
func scores(t testing.TB, loss string) *memdb.DB {
	rng := rand.New(rand.NewSource(9))
	const n = 9
	scale := ints(n, func(i int) int64 { return int64(1 + i%4) })
	scale.SetNull(3)
	id := ints(n, func(i int) int64 { return int64(i) })
	db := memdb.New()
	db.Create(
		"item",
		1,
		memdb.Column{Name: "id", Data: id},
		memdb.Column{Name: "v", Data: reals(rng, n, 5, 7)},
		memdb.Column{Name: "h", Data: reals(rng, n, 5, 7)},
		memdb.Column{Name: "scale", Data: scale},
	)
	db.Create(
		"w",
		1,
		memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
		memdb.Column{Name: "m", Data: reals(rng, 1, 5, 7)},
	)
	views(t, db, "logits", "SELECT i.id, h, scale, v * m AS z, m FROM item i CROSS JOIN w", "loss", loss)
	return db
}

// TestSoftmaxOfQuotients: softmax and its gradient divide by one number for all rows in a loop of their own, and by
// others before it, beside the oracle.
func TestSoftmaxOfQuotients(t *testing.T) {
	t.Parallel()
	executor.Long(t)
	tune := tuning.Default()
	for _, byRows := range []bool{false, true} {
		if byRows {
			executor.SmallProducts(tune)
		}
		for _, by := range []string{"1", "2", "-2", "0.125", "3", "-0.7", "sqrt(9)", "1e30", "scale", "(1 + id)",
			"(2 + abs(z))", "max_elements(h)"} {
			for _, loss := range []string{
				"dot(softmax(z / B), h)",
				"sqnorm(softmax(z / B) - h)",
				"dot(softmax(z / B), softmax(h / B))",
				"dot(softmax(h / B), z)",
				"dot(softmax(m / B), h) + sqnorm(softmax(m / B))",
				"dot(softmax(z / B), h) + sqnorm(z / B)",
				"dot(exp(softmax(z / B) / B), h)",
				"sqnorm(matmul(softmax(matmul(z, transpose(m)) / B), h))",
				"dot(log_softmax(z / B), h)",
				"sqnorm(z * (h - dot(z, h)) / B)",
				"CASE WHEN id > 2 THEN dot(softmax(z / B), h) ELSE dot(softmax(h), z) END",
			} {
				if by == "(2 + abs(z))" && strings.Contains(loss, "matmul") {
					continue // of another shape
				}
				loss = "SELECT sum(" + strings.ReplaceAll(loss, "B", by) + ") AS loss FROM logits"
				t.Run(loss, func(t *testing.T) { testRuns(t, tune, scores(t, loss), []string{"w"}, func(string) {}) })
			}
		}
	}
}
