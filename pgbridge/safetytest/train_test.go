package safetytest

import (
	"fmt"
	"strings"
	"time"
)

// long is a training that would take hours, with a loss that is fast.
const long = "CALL train('loss', ARRAY['trend'], lr => 0.001, epochs => 100000000)"

// background runs statements in another session. The channel gets their error.
func background(s *session, sql string) chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.run(sql)
		done <- err
	}()
	return done
}

// reached waits until a query returns true.
func (s *session) reached(sql string) {
	s.t.Helper()
	for range 400 {
		if s.must(sql) == "t" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("never true: %s", sql)
}

// sameParameter tries to train one parameter in two sessions.
func sameParameter(e *env) {
	e.must("CALL train('loss', ARRAY['trend'], epochs => 2)")
	other := e.another()
	done := background(other, long)
	e.reached("SELECT count(*) = 1 FROM relgrad.run WHERE run = 2 AND step > 0")
	for range 20 { // also where the other run has just committed
		e.fails("CALL train('loss', ARRAY['trend'], epochs => 2)", "55000",
			"parameter trend is being trained by another session")
	}
	e.fails("CALL train(resume => 1, epochs => 4)", "55000", "parameter trend is being trained by another session")
	e.fails("BEGIN; CALL train('loss', ARRAY['trend'], epochs => 2)", "55000",
		"parameter trend is being trained by another session")
	e.must("ROLLBACK")
	e.fails("CALL train(resume => 2)", "55000", "run 2 is being trained by another session")
	e.alive2()
	e.must(fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", other.PgConn().PID()))
	if err := <-done; err == nil || !strings.Contains(err.Error(), "57P01") {
		e.t.Errorf("the terminated run: %v", err)
	}
	e.must("CALL train('loss', ARRAY['trend'], epochs => 2)")
	e.gives("SELECT status FROM relgrad.run ORDER BY run", "finished interrupted finished")
}

// alive2 asserts that a gradient is computed, whatever the parameters are.
func (s *session) alive2() {
	s.t.Helper()
	s.gives("SELECT count(*) FROM gradient('loss', NULL::trend)", "1")
}

// changed writes a parameter while it is trained.
func changed(e *env) {
	for i, engine := range []string{"chunk", "sql"} {
		run := i + 1
		other := e.another()
		other.must("SET relgrad.engine = " + engine)
		done := background(other, long)
		e.reached(fmt.Sprintf("SELECT count(*) = 1 FROM relgrad.run WHERE run = %d AND step > 0", run))
		step := e.must(fmt.Sprintf("SELECT step FROM relgrad.run WHERE run = %d", run))
		e.must("SET lock_timeout = '20s'; UPDATE trend SET slope = 77")
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "40001") {
				e.t.Errorf("%s: the disturbed run: %v", engine, err)
			}
		case <-time.After(3 * time.Second):
			if engine == "chunk" {
				e.t.Error("the run does not see the change")
			}
			// a run by SQL statements takes the present value
			e.must(fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", other.PgConn().PID()))
			<-done
		}
		e.gives(fmt.Sprintf("SELECT step >= %s, (SELECT max(step) FROM relgrad.loss WHERE run = %[2]d) = step "+
			"FROM relgrad.run WHERE run = %[2]d", step, run), "t|t")
		if engine == "chunk" {
			e.gives("SELECT slope FROM trend", "77")
		}
		step = e.must(fmt.Sprintf("SELECT step FROM relgrad.run WHERE run = %d", run)) // where the run goes on
		again := e.another()
		done = background(again, fmt.Sprintf("CALL train(resume => %d)", run))
		e.reached(fmt.Sprintf("SELECT step > %s FROM relgrad.run WHERE run = %d", step, run))
		e.must(fmt.Sprintf("SELECT pg_cancel_backend(%d)", again.PgConn().PID()))
		if err := <-done; err == nil || !strings.Contains(err.Error(), "57014") {
			e.t.Errorf("%s: the cancelled run: %v", engine, err)
		}
	}
}

// resumed cancels runs and resumes them: the results have the same bits as without.
func resumed(e *env) {
	const hook = "DELETE FROM chosen; INSERT INTO chosen SELECT id FROM data WHERE (id + current_step()) % 3 > 0; " +
		"UPDATE counted SET n = n + 1; SELECT pg_sleep(0.02)"
	for i, c := range []struct {
		typ, engine, epochs, hook string
	}{
		{"double precision", "chunk", "2000", ""}, {"real", "chunk", "2000", ""},
		// these runs sleep until after the first commit
		{"double precision", "chunk", "15", hook}, {"double precision", "sql", "15", hook}, {"real", "sql", "15", hook},
	} {
		opts := "optimizer => 'adam', lr => 0.01, epochs => " + c.epochs + ", batch => 'data', batch_size => 7, seed => 5"
		if c.hook != "" {
			opts += ", before_step => '" + c.hook + "'"
		}
		make := func(name string) string {
			return fmt.Sprintf("DROP TABLE IF EXISTS data, chosen, counted CASCADE; CREATE TABLE data AS SELECT * FROM point; "+
				"ALTER TABLE data ADD PRIMARY KEY (id); DROP TABLE IF EXISTS %[1]s CASCADE;"+
				"CREATE TABLE chosen AS SELECT id FROM data; ALTER TABLE chosen ADD PRIMARY KEY (id); "+
				"CREATE TABLE counted AS SELECT 0 AS n;"+
				"CREATE TABLE %[1]s (id int PRIMARY KEY, v %[2]s[], n %[2]s); INSERT INTO %[1]s VALUES (1, '{0.5,-0.5}', 0.1);"+
				"CREATE VIEW loss_%[1]s AS SELECT coalesce(avg((y - (dot(v, v) * x + n)) ^ 2), 0) AS loss FROM data "+
				"JOIN chosen USING (id), %[1]s", name, c.typ)
		}
		e.must("SET relgrad.engine = " + c.engine + "; " + make("whole"))
		e.must("CALL train('loss_whole', ARRAY['whole'], " + opts + ")")
		counted := e.must("SELECT n FROM counted")
		e.must(make("parts"))
		other := e.another()
		other.must("SET relgrad.engine = " + c.engine)
		done := background(other, "CALL train('loss_parts', ARRAY['parts'], "+opts+")")
		run := fmt.Sprint(2*i + 2)
		e.reached("SELECT count(*) = 1 FROM relgrad.run WHERE run = " + run + " AND step > 0")
		e.must(fmt.Sprintf("SELECT pg_cancel_backend(%d)", other.PgConn().PID()))
		err := <-done
		status := e.must("SELECT status FROM relgrad.run WHERE run = " + run)
		e.t.Logf("%s, %s, %q: cancelled after %s, %s: %v", c.typ, c.engine, c.hook,
			e.must("SELECT step FROM relgrad.run WHERE run = "+run), status, err)
		if err != nil && status != "finished" { // a call may be cancelled after its last commit
			e.must("CALL train(resume => " + run + ")")
		} else if c.hook != "" {
			e.t.Errorf("%s: the run with before_step was not cancelled", c.engine)
		}
		e.gives("SELECT status FROM relgrad.run WHERE run = "+run, "finished")
		e.gives("SELECT w.v::text = p.v::text AND w.n::text = p.n::text FROM whole w, parts p", "t")
		e.gives("SELECT n FROM counted", counted)
		e.gives(fmt.Sprintf("SELECT count(*) FROM relgrad.loss a JOIN relgrad.loss b ON b.run = %s "+
			"AND a.step = b.step WHERE a.run = %[1]s - 1 AND a.loss <> b.loss", run), "0")
	}
}
