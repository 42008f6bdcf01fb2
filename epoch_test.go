package relgrad

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// epochs is a loss that tells epoch and step, each read in three ways: in an expression, by the rows of a join, and in
// a sub-query that only the database runs. A validation by the executor tells them, too, and one by the database.
const epochs = `
CREATE TABLE d (id int PRIMARY KEY, y double precision);
INSERT INTO d SELECT i, i FROM generate_series(1, 5) AS g(i);
CREATE TABLE days (n int PRIMARY KEY, y double precision);
INSERT INTO days SELECT i, 100 * i FROM generate_series(1, 40) AS g(i);
CREATE TABLE w (id int PRIMARY KEY, a double precision);
INSERT INTO w VALUES (1, 0);
CREATE TABLE seen (step bigint PRIMARY KEY, epoch bigint);
CREATE VIEW told AS SELECT 10000 * current_epoch() + current_step() + 0 * (SELECT sum(d.y * w.a) FROM d, w)
  + (SELECT sum(y) FROM days WHERE n = current_epoch())
  + (SELECT max(current_epoch()) * 1000000.0::double precision FROM (SELECT DISTINCT n FROM days LIMIT 3) AS z) AS loss;
CREATE VIEW tells AS SELECT sum(w.a) + current_epoch() AS epoch, sum(w.a) + current_step() AS step FROM w;
CREATE VIEW tells_stored AS SELECT current_epoch() + 0 * count(*) AS epoch, current_step() AS step FROM w;`

// toldSteps are the epoch and the step by loss, validation and before_step, for each step.
const toldSteps = `SELECT l.epoch, l.step, (l.loss - 1010100 * l.epoch)::bigint, e.value::bigint, s.value::bigint,
  seen.epoch FROM relgrad.loss l
  LEFT JOIN relgrad.validation e ON e.run = l.run AND e.step = l.step AND e.name = 'epoch'
  LEFT JOIN relgrad.validation s ON s.run = l.run AND s.step = l.step AND s.name = 'step'
  JOIN seen ON seen.step = l.step WHERE l.run = %d ORDER BY l.step`

// toldWell checks what toldSteps gives of epochs of so many steps each.
func toldWell(t *testing.T, rows [][]any, each, n int64) {
	t.Helper()
	if int64(len(rows)) != n {
		t.Fatalf("%d steps, not %d", len(rows), n)
	}
	for i, row := range rows {
		step := int64(i + 1)
		epoch := (step-1)/each + 1
		want := []any{epoch, step, step, any(nil), any(nil), epoch}
		if step%each == 0 {
			want[3], want[4] = epoch, step
		}
		if !reflect.DeepEqual(row, want) {
			t.Errorf("step %d: %v, not %v", step, row, want)
		}
	}
}

const (
	trainTold = "CALL train('told', ARRAY['w'], optimizer => 'sgd', lr => 0, epochs => %d, validate => '%s', " +
		"before_step => 'INSERT INTO seen VALUES (current_step(), current_epoch())'%s)"
	inBatches = ", batch => 'd', batch_size => 2"
)

// TestCurrentEpoch: current_epoch() in a loss, in before_step and in a validation is the pass over the batch, without
// one the step, also of a run in parts and at several sites.
func TestCurrentEpoch(t *testing.T) {
	for _, c := range []struct {
		validate, more string
		each           int64
		parts          bool
		sites          int
	}{{"tells", "", 1, false, 1}, {"tells", inBatches, 3, false, 1}, {"tells_stored", inBatches, 3, false, 1},
		{"tells", inBatches, 3, true, 1}, {"tells_stored", "", 1, true, 1}, {"tells", "", 1, false, 2},
		{"tells", inBatches, 3, false, 3}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			db := open(t, "")
			mustRun(t, db, epochs+fmt.Sprintf("SET relgrad.sites = %d;", c.sites))
			more := c.more
			if c.parts {
				more += ", max_seconds => 1e-9"
			}
			mustRun(t, db, fmt.Sprintf(trainTold, 4, c.validate, more))
			for c.parts && mustRun(t, db, "SELECT step FROM relgrad.run").Rows[0][0] != 4*c.each {
				mustRun(t, db, "CALL train(resume => 1)")
			}
			toldWell(t, mustRun(t, db, fmt.Sprintf(toldSteps, 1)).Rows, c.each, 4*c.each)
			if got := mustRun(t, db, "SELECT current_epoch(), current_step()").Rows[0]; !reflect.DeepEqual(got,
				[]any{int64(0), int64(0)}) {
				t.Errorf("outside: %v", got)
			}
		})
	}
}

// TestEpochOfAGradient: without a batch the epoch of a gradient is its step; of a check with one it is that of the run.
func TestEpochOfAGradient(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, epochs+"UPDATE w SET a = 5; CREATE VIEW slope AS SELECT sum(y) * 0 + sum(a) * current_epoch() AS loss "+
		"FROM w, d")
	if got := mustRun(t, db, "SELECT a FROM gradient('slope', NULL::w, step => 4)").Rows[0][0]; got != 20.0 {
		t.Errorf("the slope at step 4 of 5 rows is %v", got)
	}
	got := mustRun(t, db, "SELECT analytic, ok FROM check_gradient('slope', 'w', step => 5, batch => 'd', "+
		"batch_size => 2)").Rows[0]
	if !reflect.DeepEqual(got, []any{4.0, true}) { // 2 rows, epoch 2
		t.Errorf("the slope at step 5 of 2 rows is %v", got)
	}
	_, err := db.Run(context.Background(), "SELECT * FROM gradient('slope', NULL::w)")
	if sqlerr.Code(err) != sqlerr.InvalidParameter || !strings.Contains(err.Error(), "so it needs a step") {
		t.Error(err)
	}
}

// TestServerEpoch: on a server, whichever engine computes, epochs are those of the store.
func TestServerEpoch(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	run := 0
	for _, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		for _, c := range []struct {
			validate, more string
			each           int64
		}{{"tells", "", 1}, {"tells_stored", inBatches, 3}} {
			s.Mode = mode
			if err := s.remote.Script(ctx, "DROP TABLE IF EXISTS d, w, days, seen CASCADE;"+epochs); err != nil {
				t.Fatal(err)
			}
			run++
			callTrain(t, s, fmt.Sprintf(trainTold, 4, c.validate, c.more))
			res, err := s.RunSQL(ctx, fmt.Sprintf(toldSteps, run))
			if err != nil {
				t.Fatal(err)
			}
			toldWell(t, res.Rows, c.each, 4*c.each)
			if res, err = s.RunSQL(ctx, "SELECT current_epoch(), current_step()"); err != nil || !reflect.DeepEqual(res.Rows[0],
				[]any{int64(0), int64(0)}) {
				t.Errorf("%s: outside: %v, %v", mode, res, err)
			}
		}
	}
}
