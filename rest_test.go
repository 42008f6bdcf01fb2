package relgrad

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// twoSchemas holds tables and views of the same names with other contents in two schemas.
const twoSchemas = `
CREATE SCHEMA a; CREATE SCHEMA b;
CREATE TABLE a.w (id int PRIMARY KEY, v double precision); INSERT INTO a.w VALUES (1, 1), (2, 2);
CREATE TABLE b.w (id int PRIMARY KEY, v double precision); INSERT INTO b.w VALUES (1, 10), (2, 20);
`

// TestResumeInAnotherSession: names and settings mean what they meant in the session that began the run; the session
// that resumes it keeps its own.
func TestResumeInAnotherSession(t *testing.T) {
	const call = "CALL train('SELECT sum((v - current_setting(''my.aim'')::double precision) ^ 2) FROM w', ARRAY['w'], " +
		"lr => 0.1, epochs => 3"
	path := filepath.Join(t.TempDir(), "s.db")
	db := open(t, path)
	mustRun(t, db, twoSchemas+"SET search_path = a, public; SET my.aim = 5; "+call+", max_seconds => 1e-9)")
	db.Close()
	other := open(t, path)
	mustRun(t, other, "SET search_path = b, public; SET my.aim = -5; CALL train(resume => 1); CALL train(resume => 1)")
	if got := mustRun(t, other, "SELECT v, current_setting('my.aim') FROM w ORDER BY id").
		Rows; !reflect.DeepEqual(got, [][]any{{10.0, "-5"}, {20.0, "-5"}}) {
		t.Errorf("the session that resumed the run sees %v", got)
	}
	whole := open(t, "")
	mustRun(t, whole, twoSchemas+"SET search_path = a, public; SET my.aim = 5; "+call+")")
	if a, b := mustRun(t, whole, "SELECT * FROM a.w ORDER BY id").Rows, mustRun(t, other, "SELECT * FROM a.w ORDER BY id").
		Rows; !reflect.DeepEqual(a, b) {
		t.Errorf("resumed %v, undisturbed %v", b, a)
	}
}

// TestOneNameInTwoSchemas: parameters that only their schemas tell apart have a state of their own, go on bit for bit,
// and an option's bare name means the one on the search path.
func TestOneNameInTwoSchemas(t *testing.T) {
	const call = `CALL train('SELECT sum((x.v - y.v) ^ 2) FROM a.w x JOIN b.w y USING (id)', ARRAY['a.w', 'b.w'],
    lr => 0.1, epochs => 4, options => '{"%": {"lr": 0}}'`
	at := func(db *DB) [][]any {
		return mustRun(t, db, "SELECT x.v, y.v FROM a.w x JOIN b.w y USING (id) ORDER BY id").Rows
	}
	for _, name := range []string{"w", "b.w"} {
		call := strings.Replace(call, "%", name, 1)
		whole, db := open(t, ""), open(t, "")
		mustRun(t, whole, twoSchemas+"SET search_path = b, public;"+call+")")
		mustRun(t, db, twoSchemas+"SET search_path = b, public;"+call+", max_seconds => 1e-9)")
		for range 3 {
			mustRun(t, db, "CALL train(resume => 1)")
		}
		a, b := at(whole), at(db)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("resumed %v, undisturbed %v", b, a)
		}
		if a[0][0] == 1.0 || a[0][1] != 10.0 || a[1][1] != 20.0 {
			t.Errorf("%s was to keep its values, the other table not: %v", name, a)
		}
	}
	db := open(t, "")
	if _, err := db.Run(context.Background(), twoSchemas+strings.Replace(call, "%", "w", 1)+")"); err == nil ||
		!strings.Contains(err.Error(), `options names "w", which is not a parameter of this run`) {
		t.Errorf("a name that is on no search path: %v", err)
	}
}

// TestNamesOfTrained: a message names the schema of a parameter that the search path does not find.
func TestNamesOfTrained(t *testing.T) {
	db := open(t, "")
	var said string
	db.Notice = func(level, message string) { said += message + "\n" }
	for path, want := range map[string]string{"public": "trains a.w.v (2), ", "b, public": "trains a.w.v (2), ",
		"a, public": "trains w.v (2), "} {
		said = ""
		mustRun(t, db, "DROP SCHEMA IF EXISTS a CASCADE; DROP SCHEMA IF EXISTS b CASCADE;"+twoSchemas+"SET search_path = "+
			path+"; CALL train('SELECT sum(v ^ 2) FROM a.w', ARRAY['a.w'], lr => 0.1, epochs => 1)")
		if !strings.Contains(said, want) {
			t.Errorf("%s: no %q in %q", path, want, said)
		}
	}
	said = ""
	mustRun(t, db, "CREATE TEMP TABLE x AS SELECT 1 AS id, 2.5::float8 AS v; ALTER TABLE x ADD PRIMARY KEY (id); CALL "+
		"train('SELECT sum(v ^ 2) FROM x', ARRAY['x'], lr => 0.1, epochs => 1)")
	if !strings.Contains(said, "trains x.v (1), ") {
		t.Errorf("a temporary table: %q", said)
	}
}

// TestResumeWithoutSteps: a run that failed in its first step may go on over other rows, and again after that.
func TestResumeWithoutSteps(t *testing.T) {
	db := open(t, "")
	ctx := context.Background()
	mustRun(t, db, "CREATE TABLE w (id int PRIMARY KEY, v double precision); INSERT INTO w VALUES (1, 1); CREATE VIEW "+
		"loss AS SELECT sum(v) / 0 AS loss FROM w")
	if _, err := db.Run(ctx, "CALL train('loss', ARRAY['w'], lr => 0.1, epochs => 3, max_seconds => 1e-9)"); err == nil {
		t.Fatal("an infinite loss gave no error")
	}
	mustRun(t, db, "INSERT INTO w VALUES (2, 2); CREATE OR REPLACE VIEW loss AS SELECT sum(v * v) AS loss FROM w; CALL "+
		"train(resume => 1); CALL train(resume => 1)")
	if got := mustRun(t, db, "SELECT step FROM relgrad.run").Rows[0][0]; got != int64(2) {
		t.Errorf("after two resumes at step %v", got)
	}
	mustRun(t, db, "UPDATE w SET id = 3 WHERE id = 2")
	if _, err := db.Run(ctx, "CALL train(resume => 1)"); err == nil || !strings.Contains(err.Error(), "have other rows") {
		t.Errorf("other rows amid a run: %v", err)
	}
}

// TestStoreWithoutRest: runs of a store that did not keep what else they rest on go on in the session as it is.
func TestStoreWithoutRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := open(t, path)
	mustRun(t, db, model+"CALL train('loss', ARRAY['w', 'h'], epochs => 5, max_seconds => 1e-9); ALTER TABLE "+
		"relgrad.run DROP COLUMN context")
	db.Close()
	db = open(t, path)
	mustRun(t, db, "CALL train(resume => 1); CALL train('loss', ARRAY['w', 'h'], epochs => 2)")
	if got := mustRun(t, db, "SELECT step, context IS NOT NULL FROM relgrad.run ORDER BY run").
		Rows; !reflect.DeepEqual(got, [][]any{{int64(2), true}, {int64(2), true}}) {
		t.Error(got)
	}
}

// TestStoreOfBefore: the runs of a store whose table of runs an older relgrad made are those that they were.
func TestStoreOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := open(t, path)
	mustRun(t, db, model+"CALL train('loss', ARRAY['w', 'h.v'], epochs => 5, max_seconds => 1e-9)")
	var back strings.Builder
	for _, change := range []string{"RENAME COLUMN waited TO since", "RENAME COLUMN context TO rest", "DROP COLUMN name",
		"DROP COLUMN note", "DROP COLUMN tags", "ALTER COLUMN options TYPE text USING options::text",
		"ALTER COLUMN started TYPE timestamp", "ALTER COLUMN updated TYPE timestamp", "ADD COLUMN params text",
		"DROP COLUMN parameters"} {
		back.WriteString("ALTER TABLE relgrad.run " + change + ";")
	}
	mustRun(t, db, back.String()+`UPDATE relgrad.run SET params = '["w","h.v"]';
ALTER TABLE relgrad.loss ALTER COLUMN at TYPE timestamp`)
	db.Close()
	db = open(t, path)
	mustRun(t, db, "CALL train(resume => 1, max_seconds => 100, name => 'x'); CALL train('loss', 'w', epochs => 2)")
	got := mustRun(t, db, "SELECT step, parameters::text, name, pg_typeof(options)::text, pg_typeof(updated)::text "+
		"FROM relgrad.run ORDER BY run").Rows
	if !reflect.DeepEqual(got, [][]any{{int64(5), "{w,h.v}", "x", "jsonb", "timestamp with time zone"},
		{int64(2), "{w}", nil, "jsonb", "timestamp with time zone"}}) {
		t.Error(got)
	}
}

// TestKeysApart: rows whose texts read alike side by side are other rows.
func TestKeysApart(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, "CREATE TABLE w (k text PRIMARY KEY, v double precision); INSERT INTO w VALUES ('a b', 1), ('c', "+
		"2); CALL train('SELECT sum(v * v) FROM w', ARRAY['w'], epochs => 3, max_seconds => 1e-9)")
	mustRun(t, db, "UPDATE w SET k = 'b c' WHERE k = 'c'; UPDATE w SET k = 'a' WHERE k = 'a b'")
	if _, err := db.Run(context.Background(), "CALL train(resume => 1)"); err == nil ||
		!strings.Contains(err.Error(), "have other rows") {
		t.Errorf("error %v", err)
	}
}
