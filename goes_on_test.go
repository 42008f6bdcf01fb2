package relgrad

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/train"
)

// steep makes a loss that training lowers while the validation, the distance of p.x to 1, falls and rises again.
const steep = `
CREATE TABLE p (id int PRIMARY KEY, x double precision, v double precision[]);
INSERT INTO p VALUES (1, 3, '{1,2}'), (2, 4, '{3,4}');
CREATE VIEW loss AS SELECT sum((x + 2) ^ 2) + sum(sqnorm(v)) AS loss FROM p;
CREATE VIEW validation AS SELECT sum(abs(x - 1)) AS far FROM p;`

const trainSteep = "CALL train('loss', ARRAY['p'], optimizer => 'momentum', lr => 0.02, momentum => 0.5, " +
	"validate => 'validation'"

func steepRow(t *testing.T, db *DB) []any {
	t.Helper()
	return mustRun(t, db, "SELECT x, v FROM p ORDER BY id").Rows[0]
}

// bestOf is the step of the lowest validation.
func bestOf(t *testing.T, db *DB) int64 {
	t.Helper()
	res := mustRun(t, db, "SELECT step FROM relgrad.loss WHERE run = 1 ORDER BY validation, step LIMIT 1")
	return res.Rows[0][0].(int64)
}

// TestRestoreBest: at the end the tables hold the parameters of the best validation, however the run ends, also in
// parts; it goes on from those of the last step.
func TestRestoreBest(t *testing.T) {
	plain := open(t, "")
	mustRun(t, plain, steep+trainSteep+", epochs => 30)")
	best := bestOf(t, plain)
	if best < 3 || best > 25 {
		t.Fatalf("the best step is %d", best)
	}
	upTo := open(t, "")
	mustRun(t, upTo, steep+trainSteep+fmt.Sprintf(", epochs => %d)", best))
	want := steepRow(t, upTo)
	whole := open(t, "")
	mustRun(t, whole, steep+trainSteep+", epochs => 30, restore_best => true)")
	if got := steepRow(t, whole); !reflect.DeepEqual(got, want) {
		t.Errorf("left are %v, not those of step %d, %v", got, best, want)
	}
	early := open(t, "")
	mustRun(t, early, steep+trainSteep+", epochs => 3000, patience => 4, restore_best => true)")
	if got := mustRun(t, early, "SELECT status, step FROM relgrad.run").Rows[0]; !reflect.DeepEqual(got,
		[]any{"stopped by patience", best + 4}) {
		t.Error(got)
	}
	if got := steepRow(t, early); !reflect.DeepEqual(got, want) {
		t.Errorf("after patience %v are left, not %v", got, want)
	}
	parts := open(t, "")
	mustRun(t, parts, steep+trainSteep+", epochs => 30, restore_best => true, max_seconds => 1e-9)")
	for n := int64(1); n < 30; n++ {
		if got := mustRun(t, parts, "SELECT step FROM relgrad.run").Rows[0][0]; got != n {
			t.Fatalf("at step %v, not %d", got, n)
		}
		if n > best && !reflect.DeepEqual(steepRow(t, parts), want) {
			t.Fatalf("stopped at step %d, %v are left, not %v", n, steepRow(t, parts), want)
		}
		mustRun(t, parts, "CALL train(resume => 1)")
	}
	if a, b := losses(t, plain), losses(t, parts); !reflect.DeepEqual(a, b) || len(a) != 30 {
		t.Errorf("losses differ:\n%v\n%v", a, b)
	}
	if got := steepRow(t, parts); !reflect.DeepEqual(got, want) {
		t.Errorf("in parts %v are left, not %v", got, want)
	}
	// a run that is over goes on as one that had more epochs from the beginning
	more := open(t, "")
	mustRun(t, more, steep+trainSteep+", epochs => 40)")
	mustRun(t, whole, "CALL train(resume => 1, epochs => 40)")
	if a, b := losses(t, more), losses(t, whole); !reflect.DeepEqual(a, b) || len(a) != 40 {
		t.Errorf("losses differ:\n%v\n%v", a, b)
	}
	if got := steepRow(t, whole); !reflect.DeepEqual(got, want) {
		t.Errorf("after more epochs %v are left, not %v", got, want)
	}
	mustRun(t, whole, "DELETE FROM relgrad.state WHERE name = 'best'")
	if _, err := whole.Run(context.Background(), "CALL train(resume => 1, epochs => 50)"); err == nil {
		t.Error("a run whose best parameters are gone went on")
	}
}

// TestRestoreBestKilled: a process that is killed leaves the parameters of its last commit, and the run ends with the
// best ones all the same.
func TestRestoreBestKilled(t *testing.T) {
	const call = ", epochs => %d, restore_best => true)"
	if path := os.Getenv("RELGRAD_TEST_BEST"); path != "" {
		db := open(t, path)
		mustRun(t, db, steep+trainSteep+fmt.Sprintf(call, 100000000))
		return
	}
	path := filepath.Join(t.TempDir(), "s.db")
	cmd := exec.Command(os.Args[0], "-test.run=^TestRestoreBestKilled$")
	cmd.Env = append(os.Environ(), "RELGRAD_TEST_BEST="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := int64(0)
	for start := time.Now(); done == 0; time.Sleep(100 * time.Millisecond) {
		if db, err := Open(path); err == nil {
			if res, err := db.Run(context.Background(), "SELECT step FROM relgrad.run"); err == nil && len(res.Rows) > 0 {
				done = res.Rows[0][0].(int64)
			}
			db.Close()
		}
		if time.Since(start) > time.Minute {
			cmd.Process.Kill()
			t.Fatal("no commit in a minute")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	db := open(t, path)
	done = mustRun(t, db, "SELECT step FROM relgrad.run").Rows[0][0].(int64)
	if x := steepRow(t, db)[0].(float64); x > 0.9 { // training goes to -2, the best validation is where x is near 1
		t.Errorf("after step %d x is %v: not what was committed", done, x)
	}
	mustRun(t, db, fmt.Sprintf("CALL train(resume => 1, epochs => %d)", done+5))
	upTo := open(t, "")
	mustRun(t, upTo, steep+trainSteep+fmt.Sprintf(", epochs => %d)", bestOf(t, db)))
	if got, want := steepRow(t, db), steepRow(t, upTo); !reflect.DeepEqual(got, want) {
		t.Errorf("left are %v, not %v", got, want)
	}
}

// TestGoesOnOtherwise: a run takes some options anew when it goes on, and keeps them; others are refused by name.
func TestGoesOnOtherwise(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, steep+trainSteep+", epochs => 5, name => 'first', tags => ARRAY['a', 'b\"c'])")
	row := func() []any {
		return mustRun(t, db, "SELECT status, step, name, note, tags::text FROM relgrad.run").Rows[0]
	}
	if got := row(); !reflect.DeepEqual(got, []any{"finished", int64(5), "first", nil, `{a,"b\"c"}`}) {
		t.Error(got)
	}
	for _, refused := range []string{"optimizer => 'adam'", "seed => 3", "validate => 'loss'", "batch_size => 3",
		"before_step => 'SELECT 1'", "restore_best => true", "momentum => 0.4", "loss => 'loss'"} {
		name, _, _ := strings.Cut(refused, " ")
		_, err := db.Run(context.Background(), "CALL train(resume => 1, "+refused+")")
		if err == nil || !strings.Contains(err.Error(), name+" cannot be changed when a run goes on") {
			t.Errorf("%s: %v", refused, err)
		}
	}
	for sql, want := range map[string]string{
		"CALL train(resume => 1)":                                       "run 1 is finished: 5 of 5 steps are done",
		"CALL train(resume => 1, lr => 0.1)":                            "run 1 is finished: 5 of 5 steps are done",
		"CALL train(resume => 1, epochs => 4)":                          "run 1 is finished: 5 of 4 steps are done",
		"CALL train(resume => 1, epochs => 9, lr => -1)":                "lr must be at least 0",
		"CALL train(resume => 1, epochs => 9, tags => ARRAY['x', 'x'])": "tags says 'x' twice",
	} {
		if _, err := db.Run(context.Background(), sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", sql, err, want)
		}
	}
	mustRun(t, db, "CALL train(resume => 1, epochs => 9, lr => 0.5, max_seconds => 1e-9, note => 'faster', tags => "+
		"ARRAY['c'])")
	if got := row(); !reflect.DeepEqual(got, []any{"stopped by max_seconds", int64(6), "first", "faster", "{c}"}) {
		t.Error(got)
	}
	before := steepRow(t, db)[0].(float64)
	mustRun(t, db, "CALL train(resume => 1)") // with lr 0.5 still
	if got := row(); got[1] != int64(7) {
		t.Error(got)
	}
	if after := steepRow(t, db)[0].(float64); after == before {
		t.Error("nothing is trained")
	}
	mustRun(t, db, "CALL train(resume => 1, max_seconds => 100)")
	if got := row(); got[0] != "finished" || got[1] != int64(9) {
		t.Error(got)
	}
	// by hand: five steps at 0.02, then four at 0.5
	x, v := 3.0, 0.0
	for n := 1; n <= 9; n++ {
		lr := 0.02
		if n > 5 {
			lr = 0.5
		}
		v = 0.5*v + 2*(x+2)
		x -= lr * v
	}
	if got := steepRow(t, db)[0].(float64); got-x > 1e-9 || x-got > 1e-9 {
		t.Errorf("x is %v, not %v", got, x)
	}
}

// TestGoesOnAfterPatience: a run that patience has stopped goes on with more of it, one that has settled with another
// tolerance.
func TestGoesOnAfterPatience(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, steep+trainSteep+", epochs => 60, patience => 3)")
	step := mustRun(t, db, "SELECT step FROM relgrad.run").Rows[0][0].(int64)
	if _, err := db.Run(context.Background(), "CALL train(resume => 1, epochs => 100)"); err == nil {
		t.Error("a run went on whose patience is at its end")
	}
	mustRun(t, db, "CALL train(resume => 1, patience => 5)")
	if got := mustRun(t, db, "SELECT status, step FROM relgrad.run").Rows[0]; !reflect.DeepEqual(got,
		[]any{"stopped by patience", step + 2}) {
		t.Error(got)
	}
	mustRun(t, db, "CALL train(resume => 1, patience => 0)")
	if got := mustRun(t, db, "SELECT status, step FROM relgrad.run").Rows[0]; !reflect.DeepEqual(got,
		[]any{"finished", int64(60)}) {
		t.Error(got)
	}
	settled := open(t, "")
	mustRun(t, settled, steep+"CALL train('loss', ARRAY['p'], optimizer => 'sgd', lr => 0.01, epochs => 100, "+
		"tolerance => 0.9)")
	if got := mustRun(t, settled, "SELECT status FROM relgrad.run").Rows[0][0]; got != "stopped by tolerance" {
		t.Fatal(got)
	}
	if _, err := settled.Run(context.Background(), "CALL train(resume => 1)"); err == nil {
		t.Error("a run that has settled went on")
	}
	mustRun(t, settled, "CALL train(resume => 1, tolerance => 0)")
	if got := mustRun(t, settled, "SELECT status, step FROM relgrad.run").Rows[0]; !reflect.DeepEqual(got,
		[]any{"finished", int64(100)}) {
		t.Error(got)
	}
}

// TestEpochLoss: the loss of an epoch, which the last notice prints, is the mean over its batches, also of a run in
// parts; progress tells how far it is.
func TestEpochLoss(t *testing.T) {
	const setup = "CREATE TABLE d (id int PRIMARY KEY, y double precision); INSERT INTO d SELECT i, i * i FROM " +
		"generate_series(1, 10) AS g(i); CREATE TABLE w (id int PRIMARY KEY, a double precision); " +
		"INSERT INTO w VALUES (1, 0); " +
		"CREATE VIEW fit AS SELECT avg((y - a) ^ 2) AS loss FROM d CROSS JOIN w;"
	const call = "CALL train('fit', ARRAY['w'], lr => 0.5, epochs => 3, batch => 'd', batch_size => 4"
	for _, parts := range []bool{false, true} {
		db := open(t, "")
		var notices []string
		db.Notice = func(_, text string) { notices = append(notices, text) }
		var means []float64
		db.OnStep = func(row train.LossRow, _ int64) { means = append(means, row.Mean) }
		if mustRun(t, db, setup); parts {
			mustRun(t, db, call+", max_seconds => 1e-9)")
			for range 8 {
				mustRun(t, db, "CALL train(resume => 1)")
			}
		} else {
			mustRun(t, db, call+", progress => '1 ms')")
		}
		mean := mustRun(t, db, "SELECT avg(loss) FROM relgrad.loss WHERE epoch = 3").Rows[0][0].(float64)
		if want := fmt.Sprintf("train: run 1 is finished after step 9, loss %.5g", mean); notices[len(notices)-1] != want {
			t.Errorf("the last notice is %q, not %q", notices[len(notices)-1], want)
		}
		if n := len(means); n != 9 || means[n-1] < mean*(1-1e-14) || means[n-1] > mean*(1+1e-14) {
			t.Errorf("means %v, the last epoch's is %v", means, mean)
		}
	}
}

// TestProgress: notices come at the pace that is asked for.
func TestProgress(t *testing.T) {
	for pace, want := range map[string]int{"'20 ms'": 4, "'1 h'": 0, "NULL": 0} {
		db := open(t, "")
		told := 0
		db.Notice = func(_, text string) {
			if strings.Contains(text, "train: run 1, step ") {
				told++
			}
		}
		db.OnStep = func(train.LossRow, int64) { time.Sleep(5 * time.Millisecond) }
		mustRun(t, db, steep+trainSteep+", epochs => 40, progress => "+pace+")")
		if told < want || want == 0 && told > 0 || told > 20 {
			t.Errorf("%s: %d notices", pace, told)
		}
	}
	for _, bad := range []string{"'x'", "'10'", "'10 years'", "'-1 s'", "'0 s'", "5", "'NaN s'"} {
		db := open(t, "")
		if _, err := db.Run(context.Background(), steep+trainSteep+", progress => "+bad+")"); err == nil ||
			!strings.Contains(err.Error(), "train option progress must be a time such as '10 s'") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestServerGoesOn: on a server, whichever engine computes, runs leave the best parameters and take options anew as in
// the store.
func TestServerGoesOn(t *testing.T) {
	ctx := context.Background()
	s := startServer(t)
	db := open(t, "")
	const call = trainSteep + ", epochs => 12, restore_best => true, name => 'n', note => 'o', tags => ARRAY['a', 'b c'])"
	const again = "CALL train(resume => 1, epochs => 30, lr => 0.03, tags => ARRAY['x'])"
	mustRun(t, db, steep+call)
	for run, mode := range []string{engine.ModeChunk, engine.ModeSQL} {
		s.Mode = mode
		if err := s.remote.Script(ctx, "DROP TABLE IF EXISTS p CASCADE;"+steep); err != nil {
			t.Fatal(err)
		}
		check := func(sql string) {
			t.Helper()
			callTrain(t, s, strings.Replace(sql, "resume => 1", fmt.Sprintf("resume => %d", run+1), 1))
			for _, q := range []string{"SELECT x FROM p ORDER BY id", "SELECT v[1] + 10 * v[2] FROM p ORDER BY id",
				"SELECT validation FROM relgrad.loss WHERE run = 1 ORDER BY step"} {
				res, err := s.RunSQL(ctx, strings.Replace(q, "run = 1", fmt.Sprintf("run = %d", run+1), 1))
				if err != nil {
					t.Fatal(err)
				}
				want := mustRun(t, db, q).Rows
				if len(res.Rows) != len(want) {
					t.Fatalf("%s: %d rows, not %d", q, len(res.Rows), len(want))
				}
				for i, row := range res.Rows {
					if a, b := row[0].(float64), want[i][0].(float64); a-b > 1e-9 || b-a > 1e-9 {
						t.Errorf("%s: %s: row %d is %v, not %v", mode, q, i, a, b)
					}
				}
			}
		}
		whole := open(t, "")
		mustRun(t, whole, steep+call)
		db = whole
		check(call)
		mustRun(t, db, again)
		check(again)
		res, err := s.RunSQL(ctx, fmt.Sprintf("SELECT name, note, tags::text, parameters::text, options ->> 'epochs' FROM "+
			"relgrad.run WHERE run = %d", run+1))
		if err != nil || !reflect.DeepEqual(res.Rows[0], []any{"n", "o", "{x}", "{p}", "12"}) {
			t.Errorf("%v, %v", res, err)
		}
	}
}

// callTrain runs CALL train(…) on a server's tables, as scripts do.
func callTrain(t *testing.T, s *Server, sql string) {
	t.Helper()
	text := &ast.Text{SQL: sql}
	stmts, err := parse.Parse(text)
	if err == nil {
		err = s.CallTrain(context.Background(), stmts[0].Stmt.(*ast.Call).Func, text)
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
