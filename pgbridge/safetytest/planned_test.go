package safetytest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/train"
)

// facts are what a plan may depend on besides definitions: a loss, and how another session breaks the fact.
var facts = []struct{ name, loss, breaks, says string }{
	{"one row", "SELECT avg((y - slope * x * one.a) ^ 2) FROM point, trend, one", "INSERT INTO one VALUES (2)",
		`table "one" does not have one row`},
	{"one row that no column is read of", "SELECT avg((y - slope * x) ^ 2) FROM point, trend, one",
		"INSERT INTO one VALUES (2)", `table "one" does not have one row`},
	{"no row", "SELECT avg((y - slope * x) ^ 2) FROM point, trend, one", "DELETE FROM one",
		`table "one" does not have one row`},
	{"no NULL", "SELECT sum(slope * d.x) / count(d.x) FROM d, trend", "INSERT INTO d (id, v, n) VALUES (9, '{1,2}', 1)",
		`column "x" of table "d" holds NULL`},
	{"no NULL of a parameter", "SELECT sum(p.v * d.x) FROM d, p WHERE p.k = d.id AND p.more IS NOT NULL",
		"INSERT INTO p VALUES (9, 1, 1, NULL)", `column "more" of table "p" holds NULL`},
	{"one shape", "SELECT sum(slope * mean_elements(d.v)) FROM d, trend", "UPDATE d SET v = '{1,2,3}'",
		`column "v" of table "d" holds a chunk of another shape`},
	{"short numbers", "SELECT sum(slope * d.x) FROM d JOIN d AS e ON d.n = e.n, trend",
		"UPDATE d SET n = 1.0000000000000001 WHERE id = 2", `column "n" of table "d" holds a number of more than 15 digits`},
	{"a value", "SELECT sum(slope * x) * (SELECT min(x) FROM d WHERE id > 1 + 0 * current_step()) FROM point, trend",
		"DELETE FROM d WHERE id > 1", "22004"},
	{"one value", "SELECT sum(slope * x) * (SELECT x FROM d WHERE id > 1 + 0 * current_step()) FROM point, trend",
		"INSERT INTO d VALUES (9, 9, '{1,2}', 1)", "21000"},
	{"rows of a sub-query",
		"SELECT sum(slope * q.x) / count(q.x) FROM (SELECT DISTINCT id, x FROM d WHERE current_step() > -1) AS q, trend",
		"UPDATE d SET x = NULL WHERE id = 2", `column "x" of a sub-query holds NULL`},
	{"a key", "SELECT sum(p.v * p.c) FROM d JOIN p ON d.id = p.k", "ALTER TABLE d DROP CONSTRAINT d_pkey",
		`the definition of table "d"`},
}

const factTables = `DROP TABLE IF EXISTS one, d, p CASCADE; CREATE TABLE one (a double precision);
INSERT INTO one VALUES (1);
CREATE TABLE d (id int PRIMARY KEY, x double precision, v double precision[], n numeric);
INSERT INTO d VALUES (1, 1, '{1,2}', 1), (2, 2, '{3,4}', 2);
CREATE TABLE p (k int PRIMARY KEY, v double precision, c double precision, more int);
INSERT INTO p SELECT i, 1, 1, i FROM generate_series(1, 3) AS g(i);
UPDATE trend SET slope = 0.5`

// param is the parameter of a loss.
func param(loss string) string {
	if strings.Contains(loss, "slope") {
		return "trend.slope"
	}
	return "p.v"
}

// begun waits until a run after the one given trains. It returns false if the call ends first.
func (e *env) begun(done chan error, before string) bool {
	for len(done) == 0 && e.must("SELECT count(*) FROM relgrad.run WHERE step > 0 AND run > "+before) == "0" {
		time.Sleep(50 * time.Millisecond)
	}
	return len(done) == 0
}

// planned breaks in another session, during a run, a fact for which the run was planned.
func planned(e *env) {
	for _, f := range facts {
		e.must(factTables)
		e.must("DROP VIEW IF EXISTS planned_loss; CREATE VIEW planned_loss AS " + f.loss)
		s := e.dial("sql")
		before := e.must("SELECT coalesce(max(run), 0) FROM relgrad.run")
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			c := train.Default()
			c.LR, c.Epochs = 1e-9, 100000000
			_, err := s.Train(ctx, "planned_loss", []string{param(f.loss)}, c)
			done <- err
		}()
		if !e.begun(done, before) {
			e.t.Errorf("%s: %v", f.name, <-done)
			cancel()
			continue
		}
		e.must(f.breaks)
		select {
		case err := <-done:
			if got := fmt.Sprint(sqlerr.Code(err), " ", err); !strings.Contains(got, f.says) || len(f.says) > 5 &&
				!strings.Contains(got, "40001") {
				e.t.Errorf("%s: the run ends with %s, not with %s", f.name, got, f.says)
			}
		case <-time.After(8 * time.Second):
			e.t.Errorf("%s: the run goes on", f.name)
			cancel()
			<-done
		}
		e.gives("SELECT status FROM relgrad.run ORDER BY run DESC LIMIT 1", "failed")
		cancel()
		s.Close()
	}
}

// onceOnly changes a sub-query that runs at each step into one that runs once.
var onceOnly = strings.NewReplacer(" WHERE current_step() > -1", "", " + 0 * current_step()", "")

// raced breaks a fact between the planning of a call and its execution: in a sub-query that is read when the loss is
// planned, a function waits for the other session. Engines that read one state of the database go on; the statements of
// the others raise an error.
func raced(e *env) {
	e.must("CREATE FUNCTION waited() RETURNS double precision LANGUAGE plpgsql AS $$ BEGIN PERFORM " +
		"pg_advisory_xact_lock_shared(5); RETURN 1; END $$")
	for _, f := range facts {
		if len(f.says) == 5 || f.name == "a key" { // the call locks the table until it is over
			continue
		}
		for _, engine := range []string{"chunk", "sql"} {
			for _, call := range []string{"SELECT count(*) FROM gradient('raced_loss', NULL::%[1]s)",
				"SELECT backward('raced_loss', ARRAY['%[2]s'])",
				"BEGIN; CALL train('raced_loss', ARRAY['%[2]s'], lr => 0.1, epochs => 1); COMMIT"} {
				e.must(factTables + "; UPDATE trend SET shift = 0")
				e.must("DROP VIEW IF EXISTS raced_loss; CREATE VIEW raced_loss AS SELECT l.loss * (SELECT waited() " +
					"FROM point WHERE id = 0) AS loss FROM (" +
					strings.Replace(onceOnly.Replace(f.loss), " FROM", " AS loss FROM", 1) + ") AS l")
				p := param(f.loss)
				table, _, _ := strings.Cut(p, ".")
				other := e.another()
				other.must("SET relgrad.engine = " + engine)
				want := other.must("SELECT loss FROM raced_loss")
				e.must("SELECT pg_advisory_lock(5)")
				var got string
				done := make(chan error, 1)
				go func() {
					var err error
					got, err = other.run(fmt.Sprintf(call, table, p))
					done <- err
				}()
				e.reached("SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
				e.must(f.breaks)
				e.must("SELECT pg_advisory_unlock(5)")
				err := <-done
				name := f.name + ", " + engine + ", " + call
				switch one := engine == "chunk" || strings.Contains(call, "gradient"); {
				case one && err != nil:
					e.t.Errorf("%s: %v", name, err)
				case one && !strings.Contains(call, "gradient"):
					if strings.Contains(call, "train") {
						got = e.must("SELECT loss FROM relgrad.loss ORDER BY run DESC LIMIT 1")
					}
					if got != want {
						e.t.Errorf("%s: the loss is %s, not %s", name, got, want)
					}
				case !one && (err == nil || !strings.Contains(err.Error(), "40001") || !strings.Contains(err.Error(), f.says)):
					e.t.Errorf("%s: it ends with %s %v, not with 40001 %q", name, got, err, f.says)
				}
				other.must("ROLLBACK")
			}
		}
	}
}

// dial opens a session from outside, with this program as the engine.
func (e *env) dial(engine string) *relgrad.Server {
	s, err := relgrad.Dial(context.Background(), strings.Replace(e.c.DSN, "dbname=postgres", "dbname="+e.db, 1), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	s.Mode = engine
	return s
}

// outside calls in sessions from outside. A call by itself sees one state of the database. In a user's transaction that
// does not, a fact that has changed since planning is an error.
func outside(e *env) {
	ctx := context.Background()
	e.must("CREATE FUNCTION waited() RETURNS double precision LANGUAGE plpgsql AS $$ BEGIN PERFORM " +
		"pg_advisory_xact_lock_shared(5); RETURN 1; END $$")
	for _, f := range facts {
		if len(f.says) == 5 || f.name == "a key" {
			continue
		}
		for _, engine := range []string{"chunk", "sql"} {
			for _, open := range []bool{false, true} {
				s := e.dial(engine)
				e.must(factTables)
				loss := "SELECT l.loss * (SELECT waited() FROM point WHERE id = 0) AS loss FROM (" +
					strings.Replace(onceOnly.Replace(f.loss), " FROM", " AS loss FROM", 1) + ") AS l"
				want := e.must(loss)
				if open {
					if _, err := s.RunSQL(ctx, "BEGIN"); err != nil {
						e.t.Fatal(err)
					}
				}
				e.must("SELECT pg_advisory_lock(5)")
				var got float64
				done := make(chan error, 1)
				go func() {
					var err error
					got, err = s.Backward(ctx, loss, []string{param(f.loss)}, nil, 0)
					done <- err
				}()
				e.reached("SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
				e.must(f.breaks)
				e.must("SELECT pg_advisory_unlock(5)")
				err := <-done
				name := fmt.Sprintf("%s, %s, transaction %t", f.name, engine, open)
				switch {
				case !open && (err != nil || fmt.Sprint(got) != want):
					e.t.Errorf("%s: %v %v, not %s", name, got, err, want)
				case open && err == nil && fmt.Sprint(got) != want, open && err != nil && !strings.Contains(err.Error(), f.says) &&
					!strings.Contains(err.Error(), "a chunk has shape [3], one before it has shape [2]"):
					e.t.Errorf("%s: it ends with %v %v, not with %q", name, got, err, f.says)
				}
				s.Close()
			}
		}
	}
}

// texts breaks a fact for which texts were compiled, and runs them. backward() checks the facts first, in an earlier
// snapshot than its texts.
func (e *env) texts(s *relgrad.Server) {
	for _, f := range facts {
		if len(f.says) == 5 || f.name == "a key" { // calls check this one
			continue
		}
		e.must(factTables)
		e.must("DELETE FROM relgrad.compiled WHERE loss = 'public.kept_loss'; DROP VIEW IF EXISTS kept_loss; CREATE VIEW " +
			"kept_loss AS " + strings.Replace(onceOnly.Replace(f.loss), " FROM", " AS loss FROM", 1))
		param, _, _ := strings.Cut(param(f.loss), ".")
		if err := s.CompileText(context.Background(), "kept_loss", param); err != nil {
			e.t.Errorf("%s: %v", f.name, err)
			continue
		}
		for _, text := range []string{"value", "gradient"} {
			run := "DO $$ BEGIN EXECUTE (SELECT " + text + " FROM relgrad.compiled WHERE loss = 'public.kept_loss') ; END $$"
			e.must(run)
			e.fails("BEGIN; "+f.breaks+"; "+run, "40001", f.says)
			e.must("ROLLBACK")
		}
		e.must(f.breaks)
		if f.name == "short numbers" { // only the texts check this one
			e.fails("SELECT backward('kept_loss', '"+param+"')", "40001", f.says)
			continue
		}
		e.fails("SELECT backward('kept_loss', '"+param+"')", "55000", "stale")
	}
	e.must("DROP VIEW kept_loss; DROP TABLE one, d, p; UPDATE trend SET slope = 0")
}
