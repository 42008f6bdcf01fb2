package relgrad

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestRunTablesStay: nobody drops what train needs, by whatever name, and a table of the user's of the same name may
// go.
func TestRunTablesStay(t *testing.T) {
	db := open(t, "")
	ctx := context.Background()
	mustRun(t, db, "CREATE TABLE w (id int PRIMARY KEY, a double precision); INSERT INTO w VALUES (1, 2)")
	for _, sql := range []string{"DROP TABLE relgrad.run", "DROP TABLE IF EXISTS relgrad.loss",
		"DROP TABLE w, relgrad.state CASCADE", "SET search_path = relgrad; DROP TABLE run",
		"ALTER TABLE relgrad.run RENAME TO other",
		"DROP SCHEMA relgrad CASCADE"} {
		if _, err := db.Run(ctx, sql); sqlerr.Code(err) != "2BP01" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	mustRun(t, db, "SET search_path = public, relgrad; CREATE TABLE public.run (i int); DROP TABLE run; CREATE TABLE "+
		"loss (i int); DROP TABLE public.loss")
	mustRun(t, db, "CALL train('SELECT sum(a * a) FROM w', 'w', epochs => 1); DELETE FROM relgrad.run; CALL "+
		"train('SELECT sum(a * a) FROM w', 'w', epochs => 1)")
}

// TestLongNames: a parameter whose gradient's table would have its own name is refused.
func TestLongNames(t *testing.T) {
	db := open(t, "")
	for _, n := range []int{58, 59, 63} {
		name := strings.Repeat("x", n)
		mustRun(t, db, "CREATE TABLE "+name+" (id int PRIMARY KEY, a double precision); INSERT INTO "+name+" VALUES (1, 2)")
		_, err := db.Run(context.Background(), "SELECT backward('SELECT sum(a * a) FROM "+name+"', '"+name+"')")
		if n > 58 && sqlerr.Code(err) != "42622" || n <= 58 && err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
		if got := mustRun(t, db, "SELECT a FROM "+name).Rows[0][0]; got != 2.0 {
			t.Errorf("%d bytes: the parameter is %v", n, got)
		}
	}
	if got := mustRun(t, db, "SELECT a FROM "+strings.Repeat("x", 58)+"_grad").Rows[0][0]; got != 4.0 {
		t.Errorf("the gradient is %v", got)
	}
}

// TestNotFiniteDetail: the detail names what the loss reads.
func TestNotFiniteDetail(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, "CREATE TABLE w (id int PRIMARY KEY, a double precision, unread double precision, v double "+
		"precision[]); INSERT INTO w VALUES (1, 2, 'Infinity', '{NaN}');"+
		"CREATE VIEW q AS SELECT id, a, unread, unread * 2 AS twice FROM w")
	for _, loss := range []string{"SELECT sum(1 / (a - 2)) FROM w", "SELECT sum(1 / (a - 2)) FROM q",
		"SELECT sum(1 / (a - 2)) FROM (SELECT * FROM q UNION ALL SELECT * FROM q) u",
		"SELECT sum(1 / (s - 2)) FROM (SELECT id, sum(a) AS s, max(unread) AS m FROM q GROUP BY id) g"} {
		_, err := db.Run(context.Background(), "SELECT backward('"+loss+"', 'w.a')")
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.NumericOutOfRange || !strings.Contains(e.Detail, "Infinity") ||
			strings.Contains(e.Detail, "unread") || strings.Contains(e.Detail, "twice") || strings.Contains(e.Detail, `"v"`) {
			t.Errorf("%s: %v, detail %q", loss, err, e.Detail)
		}
	}
}

// TestWatchersStay: who watches which tables are looked at goes on behind a run that watches them too.
func TestWatchersStay(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, "CREATE TABLE w (id int PRIMARY KEY, a double precision); INSERT INTO w VALUES (1, 2); CREATE TABLE "+
		"d (x double precision); INSERT INTO d VALUES (1)")
	seen := map[string]int{}
	back := db.Engine.Watch(func(_, name string) error { seen[name]++; return nil })
	defer db.Engine.Watch(back)
	mustRun(t, db, "CALL train('SELECT sum(a * a * x) FROM w, d', 'w', epochs => 2, before_step => 'UPDATE d SET x = x "+
		"+ 1')")
	if seen["d"] < 2 {
		t.Errorf("amid the run: %v", seen)
	}
	clear(seen)
	mustRun(t, db, "SELECT a FROM w")
	if seen["w"] == 0 {
		t.Error("behind the run nobody is told")
	}
}

// TestCheckReadsOnce: check_gradient reads its loss once, for the gradient and for the differences of the loss.
func TestCheckReadsOnce(t *testing.T) {
	db := open(t, "")
	mustRun(t, db, "CREATE TABLE w (id int PRIMARY KEY, v double precision); INSERT INTO w VALUES (1, 2), (2, 3)")
	read := 0
	db.OnCompiling = func() { read++ }
	rows, err := db.Check(context.Background(), "SELECT sum(v * v) FROM w", "w", CheckOptions{Samples: 2})
	if err != nil || len(rows) != 2 || !rows[0].OK || !rows[1].OK || read != 1 {
		t.Errorf("the loss was read %d times: %+v, %v", read, rows, err)
	}
}
