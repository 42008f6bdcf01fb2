package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// engineScript makes the same model on the store and on a server, and trains twice.
const engineScript = `SET search_path = public, relgrad;
CREATE TABLE x (i int PRIMARY KEY, v double precision[] NOT NULL, y double precision, part text);
INSERT INTO x SELECT i, ARRAY[i / 7.0, 1, (i % 3) / 2.0]::double precision[], i % 5, chr(97 + i % 3)
FROM generate_series(1, 40) AS s(i);
CREATE TABLE w (k int PRIMARY KEY, name text, v double precision[]);
INSERT INTO w VALUES (2, 'even', '{0.1,0.2,0.3}'), (1, NULL, '{-0.5,0.25,0.125}');
CREATE VIEW loss AS SELECT avg((x.y - dot(x.v, w.v)) ^ 2) AS loss FROM x JOIN w ON x.i % 2 = w.k % 2;
CREATE VIEW dropped AS SELECT sum(sqnorm(dropout(v, 0.5))) AS loss FROM w;
CREATE VIEW quality AS SELECT max(loss) AS q FROM loss;
CALL train('loss', ARRAY['w'], lr => 0.05, epochs => 30);
CALL train('loss', ARRAY['w'], optimizer => 'momentum', lr => 0.001, epochs => 20, validate => 'quality', every => 5);
`

// onServer gives a server with what engineScript makes and the DSN of its owner, who is no superuser.
func onServer(t *testing.T, scriptFile string) (dsn string) {
	t.Helper()
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	c := pgcluster.Start(t)
	dsn = c.DSN + " user=alice"
	for _, args := range [][]string{{c.DSN, "-c", "CREATE EXTENSION relgrad; CREATE ROLE alice LOGIN; GRANT CREATE ON " +
		"SCHEMA public TO alice; GRANT CREATE ON DATABASE postgres TO alice"}, {dsn, scriptFile}} {
		if out, errs, status := both(t, append([]string{"run", "-q", "--db"}, args...)...); status != 0 {
			t.Fatalf("%v: status %d\n%s%s", args, status, out, errs)
		}
	}
	return dsn
}

// TestCommandsOnServer: the commands print on a server what they print on a store.
func TestCommandsOnServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	dir := t.TempDir()
	file, store := filepath.Join(dir, "s.sql"), filepath.Join(dir, "s.db")
	if err := os.WriteFile(file, []byte(engineScript), 0o600); err != nil {
		t.Fatal(err)
	}
	dsn := onServer(t, file)
	if _, status := captured(t, "run", "-q", "--store", store, file); status != 0 {
		t.Fatal(status)
	}
	for _, line := range []string{
		"gradient loss w", "gradient --format csv loss w", "gradient --step 3 --seed 7 dropped w",
		"gradient SELECT_sum(w.k*sqnorm(v))_FROM_w w",
		"check loss w", "check --samples 3 --step 2 dropped w", "check --batch x --batch-size 7 --step 2 loss w",
		"explain --stage ra loss w", "explain --stage grad loss w", "explain --stage opt loss w",
		"explain --stage physical loss w",
		"runs", "runs --format csv", "runs show 1", "runs compare 1 2", "plot", "plot 1 2",
		// what goes wrong
		"gradient los w", "gradient loss v", "gradient dropped w", "gradient SELECT_sum(sqnorm(ww.v))_FROM_w w",
		"gradient SELECT_sum(dot(w.v,x.v[1:2]))_FROM_w,x w",
		"explain --stage no loss w", "check x w", "check --batch nobody --batch-size 7 --step 2 loss w", "runs show 7",
		"runs delete 1 7", "plot 9",
		// in this order
		"runs delete 1", "runs", "runs show 1", "plot 1", "runs delete 2", "runs", "plot",
	} {
		args := strings.Fields(line)
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "_", " ")
		}
		wantOut, wantErr, want := both(t, append(args, "--store", store)...)
		out, errs, status := both(t, append(args, "--db", dsn)...)
		if status != want || !alike(out, wantOut) || errs != wantErr {
			t.Errorf("%s: status %d\n%s%s\non the store: status %d\n%s%s", line, status, out, errs, want, wantOut, wantErr)
		}
	}
}

var figure = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?|[^0-9]`)

// What two outputs need not have in common: times, the width of columns, and how a program numbers its values (the text
// of a view as the server gives it makes other constants on the way).
var numbered = regexp.MustCompile(`\bv\d+\b`)
var stamp, width = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?`), regexp.MustCompile(` +|[-+]{3,}`)

// alike compares two outputs: figures to 12 digits, without times and the width of columns.
func alike(a, b string) bool {
	figures := func(s string) []string {
		return figure.FindAllString(width.ReplaceAllString(numbered.ReplaceAllString(stamp.ReplaceAllString(s, " "), "v"),
			" "), -1)
	}
	fa, fb := figures(a), figures(b)
	if len(fa) != len(fb) {
		return false
	}
	for i := range fa {
		x, e1 := strconv.ParseFloat(fa[i], 64)
		y, e2 := strconv.ParseFloat(fb[i], 64)
		if e1 != nil || e2 != nil {
			if fa[i] != fb[i] {
				return false
			}
		} else if math.Abs(x-y) > 1e-12*math.Max(1, math.Abs(x)) {
			return false
		}
	}
	return true
}

// TestServersOwn: what a server has and a store has not.
func TestServersOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	file := filepath.Join(t.TempDir(), "s.sql")
	if err := os.WriteFile(file, []byte(engineScript), 0o600); err != nil {
		t.Fatal(err)
	}
	dsn := onServer(t, file)
	super := strings.TrimSuffix(dsn, " user=alice")
	run := func(sql string) string {
		t.Helper()
		out, errs, status := both(t, "run", "-q", "--db", dsn, "-c", sql)
		if status != 0 {
			t.Fatalf("%s\n%s", sql, errs)
		}
		return out
	}
	t.Run("the text runs there", func(t *testing.T) {
		text, errs, status := both(t, "explain", "--db", dsn, "--stage", "sql", "loss", "w")
		for _, want := range []string{"-- engine chunk: the tables' values fit",
			"-- rules, with how often each fired: EliminateAggregateOnKey 3, ",
			"-- the gradient with respect to w", "-- Aggregate ("} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s%s", want, text, errs)
			}
		}
		if n := len(regexp.MustCompile(`(?m)^-- Postgres's estimate: cost [0-9.]+ to [0-9.]+, [0-9]+ rows$`).
			FindAllString(text, -1)); status != 0 || n != 2 {
			t.Errorf("%d estimates\n%s%s", n, text, errs)
		}
		run(text)
		if out := run(
			"SELECT relgrad.explain_gradient('loss', 'w') LIKE '%-- Postgres''s estimate: cost %' AS x"); !strings.Contains(out,
			" t\n") {
			t.Error(out)
		}
	})
	t.Run("relgrad.engine", func(t *testing.T) {
		want, _ := captured(t, "gradient", "--db", dsn, "loss", "w")
		got, errs, status := both(t, "gradient", "--db", dsn+" options='-c relgrad.engine=sql'", "loss", "w")
		if status != 0 || !alike(got, want) || want == "" {
			t.Errorf("status %d\n%s%swant\n%s", status, got, errs, want)
		}
		if text, _ := captured(t, "explain", "--db", dsn+" options='-c relgrad.engine=sql'", "loss",
			"w"); !strings.Contains(text, "-- engine sql: relgrad.engine is sql\n") {
			t.Errorf("explain:\n%s", text)
		}
		if _, errs, status := both(t, "gradient", "--db", dsn+" options='-c relgrad.engine=sqll'", "loss",
			"w"); status != 1 ||
			errs != "ERROR:  invalid value for parameter \"relgrad.engine\": \"sqll\"\nHINT:  Available values: "+
				"auto, chunk, sql.\n" {
			t.Errorf("status %d\n%s", status, errs)
		}
	})
	t.Run("search_path", func(t *testing.T) {
		run("CREATE SCHEMA own; CREATE TABLE own.w (k int PRIMARY KEY, v real[]); INSERT INTO own.w VALUES (7, '{1,2}')")
		for _, path := range []string{"own", "own,relgrad", "nowhere,own"} {
			out, errs, status := both(t, "gradient", "--format", "unaligned", "--db", dsn+" options='-c search_path="+path+"'",
				"SELECT sum(sqnorm(v)) FROM w", "w")
			if status != 0 || out != "k|v\n7|{2,4}\n(1 row)\n" {
				t.Errorf("search_path %s: status %d\n%s%s", path, status, out, errs)
			}
		}
		if _, errs, status := both(t, "gradient", "--db", dsn+" options='-c search_path='",
			"SELECT sum(sqnorm(v)) FROM own.w", "own.w"); status != 0 {
			t.Error(errs)
		}
	})
	t.Run("a run whose session is gone", func(t *testing.T) { goneRun(t, dsn, run) })
	t.Run("connections", func(t *testing.T) { noServer(t, dsn, super) })
}

// goneRun: relgrad.run says interrupted where a run's lock is free, also where nothing can be written, and a run that
// is trained is not deleted.
func goneRun(t *testing.T, dsn string, run func(string) string) {
	run("UPDATE relgrad.run_row SET status = 'running'")
	const lock = 0x72677275 // pgbridge's class of the locks of runs
	held := exec.Command("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", dsn)
	in, err := held.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := held.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, "SELECT pg_try_advisory_lock(%d, 2);\n", lock)
	if b := make([]byte, 2); func() bool { _, err := said.Read(b); return err != nil || b[0] != 't' }() {
		t.Fatal("no lock")
	}
	out, _ := captured(t, "runs", "--format", "csv", "--db", dsn)
	if list := table(t, out); list["1"][2] != "interrupted" || list["2"][2] != "running" {
		t.Error(out)
	}
	if _, errs, status := both(t, "runs", "delete", "1", "2", "--db", dsn); status != 1 ||
		errs != "ERROR:  run 2 is being trained by another session\n" {
		t.Errorf("status %d\n%s", status, errs)
	}
	in.Close()
	if err := held.Wait(); err != nil {
		t.Fatal(err)
	}
	list := func() string {
		out, _ := captured(t, "runs", "--format", "csv", "--db", dsn)
		return out
	}
	// the backend ends after its client
	for end := time.Now().Add(10 * time.Second); table(t, list())["2"][2] != "interrupted" && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if out = list(); table(t, out)["2"][2] != "interrupted" || table(t, out)["1"] == nil {
		t.Error(out)
	}
	run("UPDATE relgrad.run_row SET status = 'running'")
	if out, errs, _ := both(t, "runs", "--format", "csv", "--db",
		dsn+" options='-c default_transaction_read_only=on'"); table(t, out)["2"][2] != "interrupted" {
		t.Error(out, errs)
	}
}

// noServer: what each command says where there is no server, no database or no extension.
func noServer(t *testing.T, dsn, super string) {
	dir := t.TempDir()
	for _, command := range []string{"gradient loss w", "explain loss w", "check loss w", "runs",
		"runs delete 1", "plot"} {
		for _, tc := range []struct {
			dsn, errs string
			status    int
		}{
			{"host=" + dir, "ERROR:  connection to server on socket \"" + dir + "/.s.PGSQL.5432\" failed: connect: no such " +
				"file or directory\nHINT:  Is the server running there and accepting connections?\n", 2},
			{super + " dbname=nowhere", "failed: FATAL:  database \"nowhere\" does not exist\n", 2},
			{super + " user=nobody", "failed: FATAL:  role \"nobody\" does not exist\n", 2},
			{super + " dbname=template1", "ERROR:  relgrad is not installed in the database \"template1\"\nHINT:  CREATE " +
				"EXTENSION relgrad; where no library can be installed: relgrad pg install.\n", 1},
			{"postgres://%zz", "HINT:  Write postgres://user@host:5432/database, or host=… port=… user=… dbname=….\n", 1},
		} {
			out, errs, status := both(t, append(strings.Fields(command), "--db", tc.dsn)...)
			if status != tc.status || out != "" || !strings.HasSuffix(errs, tc.errs) {
				t.Errorf("%s --db %s: status %d\n%s%s", command, tc.dsn, status, out, errs)
			}
		}
	}
}
