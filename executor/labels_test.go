package executor_test

import (
	"context"
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// classified is n vectors with labels from 0 to most, some of which are NULL, a matrix that makes 5 logits of a vector,
// and a loss.
func classified(t testing.TB, n int, most int64, loss string) *memdb.DB {
	rng := rand.New(rand.NewSource(9))
	label := ints(n, func(int) int64 { return rng.Int63n(most + 1) })
	for i := range n {
		if rng.Intn(9) == 0 {
			label.SetNull(i)
		}
	}
	db := memdb.New()
	db.Create(
		"item",
		1,
		memdb.Column{Name: "id", Data: ints(n, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: reals(rng, n, 3)},
		memdb.Column{
			Name: "label",
			Data: label,
		},
		memdb.Column{Name: "whole", Data: ints(n, func(int) int64 { return rng.Int63n(5) })},
	)
	db.Create(
		"w",
		1,
		memdb.Column{Name: "id", Data: ints(1, func(int) int64 { return 1 })},
		memdb.Column{Name: "m", Data: reals(rng, 1, 3, 5)},
	)
	views(t, db, "logits", "SELECT i.id, label, whole, matmul(v, m) AS z FROM item i CROSS JOIN w", "loss", loss)
	return db
}

// TestMinusLabels subtracts one-hot vectors where they are made and where they need not be, in both precisions, with
// NULL and under guards, beside the oracle.
func TestMinusLabels(t *testing.T) {
	t.Parallel()
	for _, with := range []struct {
		loss string
		most int64
		made bool // the vectors are in memory
	}{
		{loss: "SELECT avg(cross_entropy(z, label)) AS loss FROM logits", most: 4, made: false},
		{loss: "SELECT avg(cross_entropy(z, whole)) AS loss FROM logits", most: 4, made: false},
		{loss: "SELECT sum(sqnorm(softmax(z) - one_hot(label, 5))) AS loss FROM logits", most: 4, made: false},
		{loss: "SELECT sum(sqnorm(0.5 * z - one_hot(whole, 5))) AS loss FROM logits", most: 4, made: false},
		{loss: "SELECT sum(sqnorm(z - one_hot(whole, 5)) + dot(exp(z), one_hot(whole, 5))) AS loss FROM logits", most: 4,
			made: true},
		{loss: "SELECT sum(sqnorm(one_hot(whole, 5) - z)) AS loss FROM logits", most: 4, made: true},
		{loss: "SELECT sum(sqnorm(dot(z, z) - one_hot(whole, 5))) AS loss FROM logits", most: 4, made: true},
		{loss: "SELECT sum(sqnorm(z - one_hot(2, 5))) AS loss FROM logits", most: 4, made: false},
		{loss: "SELECT sum(sqnorm(x.z - one_hot(y.whole, 5))) AS loss FROM logits x LEFT JOIN logits y ON y.id = x.id + 1",
			most: 4, made: false},
		{loss: "SELECT sum(CASE WHEN label < 5 THEN cross_entropy(z, label) END) AS loss FROM logits", most: 9, made: false},
		{loss: "SELECT sum(CASE WHEN label < 5 THEN sqnorm(z - one_hot(label, 5)) ELSE sqnorm(z) END) AS loss FROM logits",
			most: 9, made: false},
	} {
		t.Run(with.loss, func(t *testing.T) {
			testRuns(t, nil, classified(t, 300, with.most, with.loss), []string{"w"}, func(plan string) {
				if made := strings.Contains(plan, "map over 300 rows: one_hot") ||
					strings.Contains(plan, "map over 300 rows: cast(one_hot"); made != with.made {
					t.Errorf("one-hot vectors in memory: %t\n%s", made, plan)
				}
			})
		})
	}
}

// TestMinusWrongLabel: a label that is none is an error, also where no vector is made of it.
func TestMinusWrongLabel(t *testing.T) {
	t.Parallel()
	for label, text := range map[string]string{"label": "label 5 of one_hot is not in 0 to 4",
		"label - 1": "label -1 of one_hot is not in 0 to 4"} {
		loss := "SELECT sum(sqnorm(z - one_hot(" + label + ", 5))) AS loss FROM logits"
		_, p := compile(t, classified(t, 300, 5, loss), []string{"w"}, executor.Options{})
		if err := p.Run(context.Background(), kernels.Env{}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error is %v", loss, err)
		}
	}
}
