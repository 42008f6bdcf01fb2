package relgrad

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestPlanningIsCancelled: whoever cancels while a loss of very many sub-queries is planned and compiled does not wait
// for the end.
func TestPlanningIsCancelled(t *testing.T) {
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(context.Background(), `CREATE TABLE x (t int PRIMARY KEY,
    v double precision); INSERT INTO x VALUES (1, 0.5), (2, 0.25);
CREATE TABLE w (one int PRIMARY KEY, w double precision); INSERT INTO w VALUES (1, 0.5)`); err != nil {
		t.Fatal(err)
	}
	terms := make([]string, 300)
	for i := range terms {
		terms[i] = fmt.Sprintf("(SELECT sum(x.v * w.w) FROM x CROSS JOIN w WHERE x.t <> %d)", 3+i)
	}
	loss := "SELECT " + strings.Join(terms, " + ")
	begin := time.Now()
	if _, err := db.Backward(context.Background(), loss, []string{"w"}, nil, 0); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(begin)
	longest := time.Duration(0)
	for k := range 6 {
		after := whole * time.Duration(2*k+1) / 12
		ctx, cancel := context.WithCancel(context.Background())
		at := make(chan time.Time, 1)
		timer := time.AfterFunc(after, func() {
			at <- time.Now()
			cancel()
		})
		_, err := db.Backward(ctx, loss+" + "+fmt.Sprint(k), []string{"w"}, nil, 0) // a text that is not planned yet
		end := time.Now()
		if timer.Stop() {
			cancel()
			break // it had ended before
		}
		late := end.Sub(<-at)
		if err == nil && late > time.Second {
			t.Errorf("cancelled after %v of %v, it went on for %v to the end", after, whole, late)
		}
		longest = max(longest, late)
		cancel()
	}
	t.Logf("whole: %v; the longest wait after it was cancelled: %v", whole, longest)
	if longest > whole/4+time.Second { // a loaded machine may hold a program up for so long
		t.Errorf("the longest wait after it was cancelled was %v of %v", longest, whole)
	}
}
