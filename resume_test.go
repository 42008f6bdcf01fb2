package relgrad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/train"
)

// model makes a small factorisation with dropout, so that a step depends on its number and seed.
const model = `
CREATE TABLE a (i int, j int, v real[][], PRIMARY KEY (i, j));
CREATE TABLE w (i int PRIMARY KEY, v real[][]);
CREATE TABLE h (j int PRIMARY KEY, v real[][], b double precision);
INSERT INTO a SELECT i, j, random_uniform(ARRAY[8, 8], 1, ARRAY[10, i, j]) FROM generate_series(0, 3)
    AS gi(i), generate_series(0, 2) AS gj(j);
INSERT INTO w SELECT i, random_uniform(ARRAY[8, 3], 1, ARRAY[1, i]) FROM generate_series(0, 3) AS g(i);
INSERT INTO h SELECT j, random_uniform(ARRAY[3, 8], 1, ARRAY[2, j]), 0 FROM generate_series(0, 2) AS g(j);
CREATE VIEW loss AS SELECT sum(sqnorm(a.v - matmul(dropout(w.v, 0.1), h.v) - h.b)) FROM a JOIN w USING (i) JOIN h
    USING (j);
CREATE VIEW validation AS SELECT sum(sqnorm(a.v - matmul(w.v, h.v) - h.b)) FROM a JOIN w USING (i) JOIN h USING (j);`

const trainModel = `CALL train('loss', ARRAY['w', 'h'], lr => 0.01, epochs => %d, seed => 3, nonnegative => ARRAY['w'],
    validate => 'validation', every => 5);`

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func mustRun(t *testing.T, db *DB, sql string) *catalog.Result {
	t.Helper()
	res, err := db.Run(context.Background(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return res
}

// parameters reads all parameters, bit for bit.
func parameters(t *testing.T, db *DB) []any {
	t.Helper()
	var out []any
	for _, q := range []string{"SELECT v FROM w ORDER BY i", "SELECT v, b FROM h ORDER BY j"} {
		for _, row := range mustRun(t, db, q).Rows {
			out = append(out, row...)
		}
	}
	return out
}

func losses(t *testing.T, db *DB) [][]any {
	t.Helper()
	return mustRun(t, db, "SELECT step, loss, validation FROM relgrad.loss WHERE run = 1 ORDER BY step").Rows
}

// TestResumeAfterCancel: a run that is cancelled and resumed ends as an undisturbed one, bit for bit.
func TestResumeAfterCancel(t *testing.T) {
	whole := open(t, "")
	mustRun(t, whole, model+fmt.Sprintf(trainModel, 60))
	db := open(t, filepath.Join(t.TempDir(), "s.db"))
	mustRun(t, db, model)
	ctx, cancel := context.WithCancel(context.Background())
	db.OnStep = func(row train.LossRow, _ int64) {
		if row.Step == 23 {
			cancel()
		}
	}
	var e *sqlerr.Error
	if _, err := db.Run(ctx, fmt.Sprintf(trainModel, 60)); !errors.As(err, &e) {
		t.Fatalf("the cancelled run gave %v", err)
	}
	if e.Code != sqlerr.QueryCanceled ||
		e.Detail != "Run 1 is cancelled. The parameters as of step 23 of 60 are committed." ||
		e.Hint != "CALL train(resume => 1); goes on with it." {
		t.Errorf("the cancelled run says %s", sqlerr.Render(e))
	}
	if step := mustRun(t, db, "SELECT step FROM relgrad.run").Rows[0][0]; step != int64(23) {
		t.Fatalf("cancelled after step 23, but %v steps are committed", step)
	}
	mustRun(t, db, "CALL train(resume => 1)")
	if a, b := parameters(t, whole), parameters(t, db); !reflect.DeepEqual(a, b) {
		t.Errorf("parameters differ:\n%v\n%v", a, b)
	}
	if a, b := losses(t, whole), losses(t, db); !reflect.DeepEqual(a, b) {
		t.Errorf("losses differ:\n%v\n%v", a, b)
	}
}

// TestResumeOptimizers: every optimizer, with every schedule and the other options that a step depends on, goes on
// bit-equal after a cancel.
func TestResumeOptimizers(t *testing.T) {
	optimizers := map[string]string{"sgd": "", "momentum": "momentum => 0.8", "nesterov": "", "adagrad": "",
		"rmsprop": "alpha => 0.9", "adam": "beta2 => 0.99",
		"adamw": "weight_decay => 0.1"}
	schedules := []string{"schedule => 'step', step_size => 5, gamma => 0.5",
		"schedule => 'cosine', eta_min => 1e-4, warmup => 6", "warmup => 12"}
	others := []string{"clip_norm => 0.5", "sparse => true, project => ARRAY['w.v: unit_ball', 'h.v: simplex']",
		`tolerance => 0.001, options => '{"w": {"where": "i > 0", "lr": 0.02}, "h.b": {"weight_decay": 0.1}}'`}
	for name, own := range optimizers {
		for i, schedule := range schedules {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				call := fmt.Sprintf("CALL train('loss', ARRAY['w', 'h'], optimizer => '%s', lr => 0.001, epochs => 30, seed => "+
					"3, %s, %s", name, schedule, others[i])
				if own != "" {
					call += ", " + own
				}
				whole := open(t, "")
				mustRun(t, whole, model+call+")")
				db := open(t, "")
				mustRun(t, db, model)
				for _, at := range []int64{7, 18} {
					ctx, cancel := context.WithCancel(context.Background())
					db.OnStep = func(row train.LossRow, _ int64) {
						if row.Step == at {
							cancel()
						}
					}
					sql := "CALL train(resume => 1)"
					if at == 7 {
						sql = call + ")"
					}
					if _, err := db.Run(ctx, sql); err == nil {
						t.Fatal("the cancelled run gave no error")
					}
					cancel()
				}
				db.OnStep = nil
				mustRun(t, db, "CALL train(resume => 1)")
				if a, b := parameters(t, whole), parameters(t, db); !reflect.DeepEqual(a, b) {
					t.Errorf("parameters differ:\n%v\n%v", a, b)
				}
				if a, b := losses(t, whole), losses(t, db); !reflect.DeepEqual(a, b) || len(a) == 0 {
					t.Errorf("losses differ:\n%v\n%v", a, b)
				}
				status := "SELECT status, step FROM relgrad.run"
				if a, b := mustRun(t, whole, status).Rows, mustRun(t, db, status).Rows; !reflect.DeepEqual(a, b) {
					t.Errorf("the whole run is %v, the resumed one %v", a, b)
				}
			})
		}
	}
}

// TestStopsAndGoesOn: a run out of time goes on, one that has converged does not.
func TestStopsAndGoesOn(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, model+"CALL train('loss', ARRAY['w', 'h'], epochs => 40, seed => 3, max_seconds => 1e-9)")
	status := func() []any {
		return mustRun(t, db, "SELECT status, step FROM relgrad.run ORDER BY run DESC LIMIT 1").Rows[0]
	}
	if got := status(); !reflect.DeepEqual(got, []any{"stopped by max_seconds", int64(1)}) {
		t.Fatal(got)
	}
	mustRun(t, db, "CALL train(resume => 1)")
	if got := status(); !reflect.DeepEqual(got, []any{"stopped by max_seconds", int64(2)}) {
		t.Fatal(got)
	}
	mustRun(t, db, "CALL train('loss', ARRAY['w', 'h'], epochs => 4000, seed => 3, tolerance => 0.5)")
	if got := status(); !reflect.DeepEqual(got, []any{"stopped by tolerance", int64(20)}) {
		t.Fatal(got)
	}
	if _, err := db.Run(context.Background(), "CALL train(resume => 2)"); err == nil {
		t.Error("a run that has converged went on")
	}
}

// TestTwoSessions: a run that a session trains is running for others, who can neither resume nor delete it.
func TestTwoSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := open(t, path)
	mustRun(t, db, model)
	seen := false
	db.OnStep = func(row train.LossRow, _ int64) {
		if row.Step != 3 {
			return
		}
		other := open(t, path)
		if got := mustRun(t, other, "SELECT status FROM relgrad.run").Rows[0][0]; got != "running" {
			t.Errorf("the other session sees %v", got)
		}
		for _, err := range []error{func() error { _, err := other.Resume(context.Background(), 1); return err }(),
			other.DeleteRuns(context.Background(), 1)} {
			if err == nil || !strings.Contains(err.Error(), "run 1 is being trained by another session") {
				t.Errorf("error %v", err)
			}
		}
		seen = true
	}
	mustRun(t, db, fmt.Sprintf(trainModel, 5))
	if !seen {
		t.Fatal("no step 3")
	}
	if files, _ := filepath.Glob(path + "-run*"); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
	if err := db.DeleteRuns(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"run", "loss", "state"} {
		if n := mustRun(t, db, "SELECT count(*) FROM relgrad."+table).Rows[0][0]; n != int64(0) {
			t.Errorf("%v rows of relgrad.%s are left", n, table)
		}
	}
}

// TestRunNumbers: a new run's number is above those of losses and states whose run was deleted by hand.
func TestRunNumbers(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, model+fmt.Sprintf(trainModel, 2)+fmt.Sprintf(trainModel, 2))
	mustRun(t, db, "DELETE FROM relgrad.run;"+fmt.Sprintf(trainModel, 3))
	if got := mustRun(t, db, "SELECT run, step FROM relgrad.run").
		Rows; !reflect.DeepEqual(got, [][]any{{int64(3), int64(3)}}) {
		t.Errorf("runs %v", got)
	}
	mustRun(t, db, "DELETE FROM relgrad.run; DELETE FROM relgrad.loss;"+fmt.Sprintf(trainModel, 2))
	mustRun(t, db, "DELETE FROM relgrad.run; DELETE FROM relgrad.state;"+fmt.Sprintf(trainModel, 2))
	if got := mustRun(t, db, "SELECT max(run) FROM relgrad.run").Rows[0][0]; got != int64(5) {
		t.Errorf("the last run is %v", got)
	}
	if got := mustRun(t, db, "SELECT count(*) FROM relgrad.loss WHERE run = 5").Rows[0][0]; got != int64(2) {
		t.Errorf("%v losses of run 5", got)
	}
}

// TestKill9 kills a process that trains and resumes its run.
func TestKill9(t *testing.T) {
	const steps = 1000000000 // more than any child gets done
	if path := os.Getenv("RELGRAD_TEST_KILL9"); path != "" {
		db := open(t, path)
		db.OnStep = func(row train.LossRow, _ int64) {
			if row.Step == 1 {
				fmt.Println("training")
			}
		}
		mustRun(t, db, model+fmt.Sprintf(trainModel, steps))
		return
	}
	path := filepath.Join(t.TempDir(), "s.db")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill9$")
	cmd.Env = append(os.Environ(), "RELGRAD_TEST_KILL9="+path)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	committed := func() (n int64, status string, err error) {
		db, err := Open(path)
		if err != nil {
			return 0, "", err
		}
		defer db.Close()
		res, err := db.Run(context.Background(), "SELECT step, status FROM relgrad.run")
		if err != nil || len(res.Rows) == 0 {
			return 0, "", err
		}
		return res.Rows[0][0].(int64), res.Rows[0][1].(string), nil
	}
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if n, status, err := committed(); err == nil && n > 0 {
			if status != "running" {
				t.Errorf("the run is %q while its process trains", status)
			}
			break
		}
		if time.Since(start) > time.Minute {
			cmd.Process.Kill()
			t.Fatalf("the child committed nothing in a minute:\n%s", out.String())
		}
	}
	beside := open(t, path)
	const read = "SELECT (SELECT status FROM relgrad.run), (SELECT count(*) FROM relgrad.run r WHERE r.status = 'running')"
	if got := mustRun(t, beside, read).Rows[0]; got[0] != "running" || got[1] != int64(1) {
		t.Errorf("a session beside sees %v of the run that is trained", got)
	}
	time.Sleep(300 * time.Millisecond) // somewhere between two commits
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, how := range []string{read, "BEGIN; " + read, "COMMIT; SET search_path = relgrad; " +
		"SELECT max(status), count(CASE WHEN s = 'running' THEN 1 END) FROM (SELECT *, status AS s FROM run) q"} {
		if got := mustRun(t, beside, how).Rows[0]; got[0] != "interrupted" || got[1] != int64(0) {
			t.Errorf("a session beside sees %v of the run whose process was killed, by %s", got, how)
		}
	}

	db := open(t, path)
	done := mustRun(t, db, "SELECT step FROM relgrad.run").Rows[0][0].(int64)
	if status := mustRun(t, db, "SELECT status FROM relgrad.run").Rows[0][0]; status != "interrupted" {
		t.Errorf("the run whose process was killed is %q", status)
	}
	if logged := mustRun(t, db, "SELECT count(*) FROM relgrad.loss").Rows[0][0]; logged != done {
		t.Fatalf("%d steps are committed, %v are logged", done, logged)
	}
	// the epochs are cut to a little more than what is done, so that the rest is short
	end := done + 50
	mustRun(t, db, fmt.Sprintf(`UPDATE relgrad.run SET options = replace(options::text, '"epochs": %d',
    '"epochs": %d')::jsonb`, steps, end))
	mustRun(t, db, "CALL train(resume => 1)")
	whole := open(t, "")
	mustRun(t, whole, model+fmt.Sprintf(trainModel, end))
	if a, b := parameters(t, whole), parameters(t, db); !reflect.DeepEqual(a, b) {
		t.Errorf("after %d steps, kill -9 and resume the parameters differ from an undisturbed run's", done)
	}
	if a, b := losses(t, whole), losses(t, db); !reflect.DeepEqual(a, b) {
		t.Error("the losses differ")
	}
}

// TestResumeAfterCancelInValidation: a run that is cancelled amid a validation, when its parameters are those of a step
// that is not finished, goes on from its last commit and ends as an undisturbed one, bit for bit.
func TestResumeAfterCancelInValidation(t *testing.T) {
	const (
		// for the store
		views = "CREATE VIEW smallest AS SELECT max(n) FROM (SELECT sqnorm(v) AS n FROM w ORDER BY 1 LIMIT 3) q;"
		call  = "CALL train('loss', ARRAY['w', 'h'], lr => 0.05, epochs => 40, seed => 3, validate => 'smallest', every " +
			"=> 5, patience => 6)"
	)
	whole := open(t, "")
	mustRun(t, whole, model+views+call)
	path := filepath.Join(t.TempDir(), "s.db")
	db, other := open(t, path), open(t, path)
	mustRun(t, db, model+views)
	step, cancel := int64(0), func() {}
	cancellable := func() (ctx context.Context) {
		ctx, cancel = context.WithCancel(context.Background())
		t.Cleanup(cancel)
		return ctx
	}
	db.OnStep = func(row train.LossRow, _ int64) {
		if step = row.Step; step == 7 {
			cancel()
		}
	}
	if _, err := db.Run(cancellable(), call); err == nil {
		t.Fatal("the cancelled run gave no error")
	}
	status := func() []any { return mustRun(t, db, "SELECT step, status FROM relgrad.run").Rows[0] }
	if got := status(); !reflect.DeepEqual(got, []any{int64(7), "cancelled"}) {
		t.Fatal(got)
	}
	inside, committed := false, any(nil)
	db.OnStep = func(row train.LossRow, _ int64) { step = row.Step }
	db.OnUse = func(_, name string) error {
		if step == 14 && name == "w" { // step 15 is being validated
			// 7, unless a second has passed
			inside, committed = true, mustRun(t, other, "SELECT step FROM relgrad.run").Rows[0][0]
			cancel()
		}
		return nil
	}
	if _, err := db.Run(cancellable(), "CALL train(resume => 1)"); err == nil || !inside {
		t.Fatalf("error %v, cancelled in the validation: %v", err, inside)
	}
	db.OnUse = nil
	if got := status(); !reflect.DeepEqual(got, []any{committed, "cancelled"}) {
		t.Fatalf("%v: the run was to fall back to step %v", got, committed)
	}
	mustRun(t, db, "CALL train(resume => 1)")
	if a, b := parameters(t, whole), parameters(t, db); !reflect.DeepEqual(a, b) {
		t.Errorf("parameters differ:\n%v\n%v", a, b)
	}
	if a, b := losses(t, whole), losses(t, db); !reflect.DeepEqual(a, b) || len(a) == 0 {
		t.Errorf("losses differ:\n%v\n%v", a, b)
	}
	if a, b := mustRun(t, whole, "SELECT step, status, best, waited FROM relgrad.run").Rows,
		mustRun(t, db, "SELECT step, status, best, waited FROM relgrad.run").Rows; !reflect.DeepEqual(a, b) {
		t.Errorf("the whole run is %v, the resumed one %v", a, b)
	}
}
