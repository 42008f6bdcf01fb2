package executor_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
)

// TestTurnedOnce: a matrix that stays the same is turned once for the many narrow products of each step that read it
// so, and for no others.
func TestTurnedOnce(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallProducts(tune)
	for _, with := range []struct {
		loss    string
		heads   int
		columns int
		turned  bool
	}{
		{loss: "SELECT sum(sqnorm(tanh(matmul(x, w)))) AS loss FROM one CROSS JOIN head", heads: 8, columns: 4, turned: true},
		{loss: "SELECT sum(sqnorm(tanh(matmul(x, w)))) AS loss FROM one CROSS JOIN head", heads: 7, columns: 4,
			turned: false},
		{loss: "SELECT sum(sqnorm(tanh(matmul(x, w)))) AS loss FROM one CROSS JOIN head", heads: 8, columns: 5,
			turned: false},
		{loss: "SELECT sum(sqnorm(matmul(tanh(matmul(x, w)), transpose(w)))) AS loss FROM one CROSS JOIN head", heads: 9,
			columns: 3, turned: true},
		{loss: "SELECT sum(sqnorm(tanh(matmul(transpose(w), transpose(x))))) AS loss FROM one CROSS JOIN head", heads: 9,
			columns: 4, turned: false},
		{loss: "SELECT sum(sqnorm(tanh(matmul(transpose(y), w)))) AS loss FROM one CROSS JOIN head", heads: 8, columns: 4,
			turned: true},
		{loss: "SELECT sum(sqnorm(tanh(matmul(transpose(y), w)))) AS loss FROM (SELECT tanh(b * y) AS y FROM one, bias) " +
			"AS o CROSS JOIN head", heads: 8, columns: 4, turned: false},
	} {
		t.Run(with.loss, func(t *testing.T) {
			rng, db := rand.New(rand.NewSource(9)), memdb.New()
			db.Create(
				"one",
				1,
				memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
				memdb.Column{Name: "x", Data: reals(rng, 1, 5, 12)},
				memdb.Column{Name: "y", Data: reals(rng, 1, 12, 12)},
			)
			db.Create(
				"bias",
				1,
				memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
				memdb.Column{Name: "b", Data: reals(rng, 1, 12, 12)},
			)
			db.Create(
				"head",
				1,
				memdb.Column{Name: "id", Data: ints(with.heads, func(i int) int64 { return int64(i) })},
				memdb.Column{Name: "w", Data: reals(rng, with.heads, 12, with.columns)},
			)
			views(t, db, "loss", with.loss)
			params := []string{"head"}
			if strings.Contains(with.loss, "bias") {
				params = append(params, "bias")
			}
			testRuns(t, tune, db, params, func(plan string) {
				once, _, _ := strings.Cut(plan, "each step:")
				if got := strings.Contains(once, "map over 1 rows: transpose("); got != with.turned {
					t.Errorf("a matrix turned once: %t\n%s", got, plan)
				}
			})
		})
	}
}
