package pgrun

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/train"
)

// stepQueries is the number of random queries that are trained.
const stepQueries = 60

// TestStepRandom trains random queries a few steps, the part of their parameters that the loss reads.
func TestStepRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	e := New(t)
	trained, n := 0, *nFlag
	if !*allFlag {
		n = min(n, stepQueries)
	}
	for seed := *seedFlag; seed < *seedFlag+n; seed++ {
		q := randquery.Generate(seed, randquery.Options{})
		ok, err := trainRandom(t, e, q)
		if err != nil {
			t.Errorf("seed %d (go test ./internal/pgrun -run StepRandom -seed=%d -queries=1): %v\n%s",
				seed, seed, err, q.Report())
			if !*allFlag {
				return
			}
		}
		if ok {
			trained++
		}
	}
	if n >= stepQueries && int64(trained) < n/4 {
		t.Errorf("only %d of %d queries were trained", trained, n)
	}
	t.Logf("%d of %d queries trained", trained, n)
}

// trainRandom tells whether the query could be trained.
func trainRandom(t *testing.T, e *Engine, q *randquery.Query) (bool, error) {
	db, err := q.Open(kernels.Float64)
	if err != nil {
		return false, err
	}
	c := config("momentum")
	c.Epochs, c.LR = 4, 1e-4
	var params []string
	for _, p := range q.Params { // those that the loss reaches
		tr, err := openTraining(db, q.Loss, []string{p})
		if err != nil || slices.Contains(tr.params[0].Table.Key, ra.RowID) {
			continue
		}
		params = append(params, p)
	}
	if params == nil {
		return false, nil
	}
	tr, err := openTraining(db, q.Loss, params)
	if err != nil {
		return false, fmt.Errorf("%v: %w", params, err)
	}
	prog, err := tr.compile(&c)
	if err != nil {
		return false, err
	}
	reached := true
	for i := range tr.params {
		p := &tr.params[i]
		var cols []int
		var slots []*train.Slot
		for j, col := range p.Cols {
			if b := prog.Param(p.Table, col); b != nil && b.Rows > 0 {
				cols, slots = append(cols, col), append(slots, p.Slots[j])
			}
		}
		p.Cols, p.Slots, reached = cols, slots, reached && cols != nil // not so for a table without rows
	}
	if err := prog.Run(t.Context(), kernels.Env{Seed: c.Seed, Step: 1}); err != nil {
		return false, err
	}
	x, null, err := prog.Scalar(0)
	prog.Close()
	if err != nil || null || !reached || !(math.Abs(x) < 1e6) { // steep ones only show differences of rounding
		return false, err
	}
	tol := 1e-8
	if q.Uses["cast to real"] > 0 {
		tol = 1e-5
	}
	return true, tr.compare(t, e, c, tol, nil)
}
