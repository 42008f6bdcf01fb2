package relgrad

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/train"
)

// falling fails where a run's loss rises.
func falling(t *testing.T, db *DB, run int) (losses []float64) {
	t.Helper()
	sql := fmt.Sprintf("SELECT loss FROM relgrad.loss WHERE run = %d ORDER BY step", run)
	for _, row := range mustRun(t, db, sql).Rows {
		x := row[0].(float64)
		if n := len(losses); n > 0 && x > losses[n-1] {
			t.Errorf("the loss rises at step %d from %v to %v", n+1, losses[n-1], x)
		}
		losses = append(losses, x)
	}
	return losses
}

// rosenbrock is Rosenbrock's function of chains of three numbers, whose minimum is 0 at 1: the numbers are a row, a
// column of a table with one row, and an element of a chunk.
const rosenbrock = `
CREATE TABLE p (id int PRIMARY KEY, x double precision);
INSERT INTO p VALUES (7, -1.2);
CREATE TABLE q (y double precision, z double precision[]);
INSERT INTO q VALUES (1, '{-0.5}');
CREATE VIEW rosenbrock AS SELECT 100 * (y - x ^ 2) ^ 2 + (1 - x) ^ 2 + 100 * (z[1] - y ^ 2) ^ 2 + (1 - y) ^ 2 AS loss
  FROM p, q WHERE p.id = 7;`

// TestLBFGSRosenbrock: the minimum is found to rounding, in few steps, and the run ends there; it goes on after a stop.
func TestLBFGSRosenbrock(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, rosenbrock+"CALL train('rosenbrock', ARRAY['q', 'p'], optimizer => 'lbfgs', epochs => 500)")
	losses := falling(t, db, 1)
	got := mustRun(t, db, "SELECT status, step, options::text FROM relgrad.run").Rows[0]
	if options := got[2].(string); got[0] != "stopped by line search" || got[1].(int64) > 80 ||
		!strings.Contains(options, `"lr": 1,`) || !strings.Contains(options, `"history": 10,`) {
		t.Errorf("the run: %v", got)
	}
	row := mustRun(t, db, "SELECT x, y, z[1] FROM p, q").Rows[0]
	for _, x := range row {
		if math.Abs(x.(float64)-1) > 1e-8 {
			t.Errorf("the minimum is at %v, loss %v", row, losses[len(losses)-1])
		}
	}
	settled := open(t, "")
	mustRun(t, settled, rosenbrock+"CALL train('rosenbrock', ARRAY['q', 'p'], optimizer => 'lbfgs', "+
		"tolerance => 0.999999)")
	if got := mustRun(t, settled, "SELECT status, step FROM relgrad.run").Rows[0]; !reflect.DeepEqual(got,
		[]any{"stopped by tolerance", int64(20)}) {
		t.Error(got)
	}
	// a run in parts forgets the history, and finds the minimum all the same
	parts := open(t, "")
	mustRun(t, parts, rosenbrock+"CALL train('rosenbrock', ARRAY['p', 'q'], optimizer => 'lbfgs', epochs => 500, "+
		"history => 3, max_seconds => 1e-9)")
	mustRun(t, parts, "CALL train(resume => 1, max_seconds => 1e-9)")
	mustRun(t, parts, "CALL train(resume => 1, max_seconds => 100, lr => 0.5)")
	falling(t, parts, 1)
	row = mustRun(t, parts, "SELECT x, y, z[1] FROM p, q").Rows[0]
	for _, x := range row {
		if math.Abs(x.(float64)-1) > 1e-8 {
			t.Errorf("in parts the minimum is at %v", row)
		}
	}
}

// logistic is a regression of 60 rows on 3 features with a penalty: convex, so that it has one minimum.
const logistic = `
CREATE TABLE d (id int PRIMARY KEY, v double precision[], y double precision);
INSERT INTO d SELECT i, ARRAY[sin(i), cos(i * 2), i % 7 / 7.0]::double precision[],
  CASE WHEN sin(i) + 0.5 * cos(i * 2) + sin(i * 37) > 0.2 THEN 1 ELSE 0 END FROM generate_series(1, 60) AS g(i);
CREATE TABLE w (k int PRIMARY KEY, v double precision[], b double precision);
INSERT INTO w VALUES (1, '{0,0,0}', 0);
CREATE VIEW fit AS SELECT avg(bce_with_logits(dot(d.v, w.v) + w.b, d.y)) + 0.005 * sum(sqnorm(w.v)) / 60 AS loss
  FROM d, w;
CREATE VIEW errors AS SELECT avg(bce_with_logits(dot(d.v, w.v) + w.b, d.y)) AS bce, sum(w.b) AS b FROM d, w;`

// newton is the minimum of that loss by Newton's method on the rows of d.
func newton(t *testing.T, db *DB) []float64 {
	t.Helper()
	var rows [][]float64
	for _, row := range mustRun(t, db, "SELECT v[1], v[2], v[3], y FROM d ORDER BY id").Rows {
		rows = append(rows, []float64{row[0].(float64), row[1].(float64), row[2].(float64), 1, row[3].(float64)})
	}
	w, n := mat.NewVecDense(4, nil), float64(len(rows))
	for range 30 {
		g, h := mat.NewVecDense(4, nil), mat.NewDense(4, 4, nil)
		for _, r := range rows {
			x := mat.NewVecDense(4, r[:4])
			p := 1 / (1 + math.Exp(-mat.Dot(x, w)))
			g.AddScaledVec(g, (p-r[4])/n, x)
			var xx mat.Dense
			xx.Outer(p*(1-p)/n, x, x)
			h.Add(h, &xx)
		}
		for i := range 3 {
			g.SetVec(i, g.AtVec(i)+0.01*w.AtVec(i))
			h.Set(i, i, h.At(i, i)+0.01)
		}
		var step mat.VecDense
		if err := step.SolveVec(h, g); err != nil {
			t.Fatal(err)
		}
		w.SubVec(w, &step)
	}
	return w.RawVector().Data
}

// TestLBFGSLogistic: the minimum is Newton's, with one worker and with four the same bits, and with real parameters as
// near as they can be.
func TestLBFGSLogistic(t *testing.T) {
	const call = "CALL train('fit', ARRAY['w'], optimizer => 'lbfgs', epochs => 60, validate => 'errors', every => 5)"
	var results [][]any
	for _, workers := range []int{1, 4} {
		db := open(t, "")
		db.Workers = workers
		mustRun(t, db, logistic+call)
		want := newton(t, db)
		losses := falling(t, db, 1)
		row := mustRun(t, db, "SELECT v[1], v[2], v[3], b FROM w").Rows[0]
		for i, x := range row {
			if math.Abs(x.(float64)-want[i]) > 1e-6 {
				t.Errorf("the minimum is at %v, not %v", row, want)
			}
		}
		if len(losses) > 40 {
			t.Errorf("%d steps", len(losses))
		}
		results = append(results, append(row, losses))
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("with one worker %v, with four %v", results[0], results[1])
	}
	real := open(t, "")
	mustRun(t, real, strings.Replace(logistic, "v double precision[], b double precision", "v real[], b real", 1)+call)
	falling(t, real, 1)
	for i, x := range mustRun(t, real, "SELECT v[1]::float8, v[2]::float8, v[3]::float8, b::float8 FROM w").Rows[0] {
		if want := newton(t, real); math.Abs(x.(float64)-want[i]) > 2e-3 {
			t.Errorf("real: number %d is %v, not %v", i, x, want[i])
		}
	}
}

// TestLBFGSOptions: rows that are not trained stay; the run stops by its options; what makes no sense is refused by
// name.
func TestLBFGSOptions(t *testing.T) {
	const setup = "CREATE TABLE w (id int PRIMARY KEY, x double precision); INSERT INTO w VALUES (3, 3), (1, 1), " +
		"(2, NULL), (4, 4); CREATE VIEW loss AS SELECT sum((x - 10) ^ 4 + id * x ^ 2) AS loss FROM w; " +
		"CREATE VIEW far AS SELECT abs(sum(x) - 4.5) AS far FROM w;"
	const call = "CALL train('loss', 'w', optimizer => 'lbfgs', "
	for options, want := range map[string]string{
		`epochs => 3, options => '{"w": {"where": "id <> 4"}}'`: "finished",
		"epochs => 0": "finished",
		"epochs => 400, validate => 'far', patience => 1":                    "stopped by patience",
		"epochs => 400, validate => 'far', restore_best => true, lr => 0.01": "stopped by line search",
		"epochs => 400, max_seconds => 1e-9":                                 "stopped by max_seconds",
	} {
		db := open(t, "")
		mustRun(t, db, setup+call+options+")")
		if got := mustRun(t, db, "SELECT status FROM relgrad.run").Rows[0][0]; got != want {
			t.Errorf("%s: %v, not %s", options, got, want)
		}
		rows := mustRun(t, db, "SELECT x FROM w ORDER BY id").Rows
		if where := strings.Contains(options, "where"); rows[1][0] != nil || where && rows[3][0] != 4.0 ||
			where && rows[0][0] == 1.0 {
			t.Errorf("%s: %v", options, rows)
		}
	}
	for option, why := range map[string]string{
		"batch => 'w', batch_size => 2": "batch", "before_step => 'SELECT 1'": "before_step",
		"schedule => 'cosine'": "schedule",
		"warmup => 2":          "warmup", "clip_norm => 1": "clip_norm", "weight_decay => 0.1": "weight_decay",
		"nonnegative => ARRAY['w']": "nonnegative", "project => ARRAY['w: unit_ball']": "project", "sparse => true": "sparse",
		`options => '{"w": {"lr": 0.1}}'`: "options",
	} {
		db := open(t, "")
		_, err := db.Run(context.Background(), setup+call+option+")")
		if sqlerr.Code(err) != sqlerr.InvalidParameter || !strings.Contains(err.Error(), why) ||
			!strings.Contains(err.Error(), `cannot be used with optimizer "lbfgs"`) {
			t.Errorf("%s: %v", option, err)
		}
	}
	db := open(t, "")
	_, err := db.Run(context.Background(), setup+"CALL train('SELECT sum(x * current_step()) FROM w', 'w', "+
		"optimizer => 'lbfgs')")
	if sqlerr.Code(err) != sqlerr.InvalidParameter || !strings.Contains(err.Error(), "the same at every step") {
		t.Error(err)
	}
	// a gradient that is no number, and one that becomes so on the way
	_, err = db.Run(context.Background(), "UPDATE w SET x = 0; CALL train('SELECT sum(power(x, 0.5)) FROM w', 'w', "+
		"optimizer => 'lbfgs')")
	if sqlerr.Code(err) != sqlerr.NumericOutOfRange || !strings.Contains(err.Error(), "parameter w.x, key (id = ") {
		t.Error(err)
	}
	mustRun(t, db, "UPDATE w SET x = 0.01; CALL train('SELECT sum(x - ln(x)) FROM w', 'w', optimizer => 'lbfgs', "+
		"epochs => 40)")
	if x := mustRun(t, db, "SELECT max(abs(x - 1)) FROM w").Rows[0][0].(float64); x > 1e-6 {
		t.Errorf("the minimum of x - ln(x) is %v away from 1", x)
	}
}

// TestServerLBFGS: on a server the executor gives what it gives on the store, also where rows are stored in another
// order; the database's engine refuses it.
func TestServerLBFGS(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	db := open(t, "")
	mustRun(t, db, rosenbrock+"CALL train('rosenbrock', ARRAY['p', 'q'], optimizer => 'lbfgs', epochs => 20)")
	want := mustRun(t, db, "SELECT loss FROM relgrad.loss ORDER BY step").Rows
	if err := s.remote.Script(ctx, rosenbrock); err != nil {
		t.Fatal(err)
	}
	callTrain(t, s, "CALL train('rosenbrock', ARRAY['p', 'q'], optimizer => 'lbfgs', epochs => 20)")
	res, err := s.RunSQL(ctx, "SELECT loss FROM relgrad.loss ORDER BY step")
	if err != nil || !reflect.DeepEqual(res.Rows, want) || len(want) != 20 {
		t.Errorf("%v: losses are\n%v, not\n%v", err, res, want)
	}
	s.Mode = engine.ModeSQL
	c := train.Default()
	c.Optimizer = "lbfgs"
	if _, err = s.Train(ctx, "rosenbrock", []string{"p"}, c); sqlerr.Code(err) != sqlerr.FeatureNotSupported ||
		!strings.Contains(err.Error(), `optimizer "lbfgs" has no form in SQL`) {
		t.Error(err)
	}
}

// TestLBFGSSites: at several sites the steps are those at one, but for rounding.
func TestLBFGSSites(t *testing.T) {
	run := func(sites int) []float64 {
		db := modelAt(t, sites)
		mustRun(t, db, "CALL train('loss', ARRAY['w', 'h', 'c.x'], optimizer => 'lbfgs', epochs => 4)")
		return figures(t, db)
	}
	if err := far(run(3), run(1), 1e-8); err != nil {
		t.Error(err)
	}
}
