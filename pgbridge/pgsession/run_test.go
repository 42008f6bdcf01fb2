package pgsession_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relgrad/relgrad/internal/need"
)

// TestStatus checks what ends a script, with which status, and what has been printed until then.
func TestStatus(t *testing.T) {
	c := server(t)
	dsn := database(t, c, "film")
	dir := t.TempDir()
	file := filepath.Join(dir, "bad.sql")
	if err := os.WriteFile(file, []byte("SELECT 1 AS one;\nSELECT 1 / 0;\nSELECT 2 AS two;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := strings.TrimPrefix(strings.Fields(dsn)[0], "host=")
	const one = " one \n-----\n   1\n(1 row)\n\n"
	for _, tc := range []struct {
		name, stdin    string
		args           []string
		stdout, stderr string
		status         int
	}{
		{"a file", "", []string{"bad.sql"}, one, "relgrad:bad.sql:2: ERROR:  division by zero\n", 3},
		{"standard input", "SELECT 1 AS one;\nSELECT 1 / 0;\nSELECT 2;\n", []string{"-"}, one,
			"ERROR:  division by zero\n", 3},
		{"texts", "", []string{"-q", "-c", "CREATE TEMP TABLE t AS SELECT 1 AS one", "-c", "TABLE t", "-c", `\echo done`},
			one + "done\n", "", 0},
		{"no semicolon at the end", "SELECT 1 AS one", []string{"-"}, one, "", 0},
		{"an unfinished comment", "/* open", []string{"-"}, "",
			"ERROR:  unterminated /* comment at or near \"/* open\n\"\nLINE 1: /* open\n        ^\n", 3},
		{"csv", "", []string{"--format", "csv", "-c", "SELECT 1 AS a, NULL AS b, 'x,y' AS c"}, "a,b,c\n1,,\"x,y\"\n", "", 0},
		{"JSON", "", []string{"--format", "json", "-c", `SELECT 1 AS a, NULL AS b, 'x"y' AS c, true AS d, 'NaN'::real AS ` +
			`e, '{{1,NULL},{-0.5,1e+30}}'::real[] AS f,
			ARRAY['a"b', NULL, 'NULL', '{,}'] AS g, '{"k": [1]}'::jsonb AS h, 1.50 AS i, '[0:1]={t,f}'::bool[] AS j, ` +
			`'{}'::int[] AS k, '2024-01-02'::date AS l`},
			`[{"a":1,"b":null,"c":"x\"y","d":true,"e":"NaN","f":[[1,null],[-0.5,1e+30]],"g":["a\"b",null,"NULL","{,}"],` +
				`"h":{"k": [1]},"i":1.50,"j":[true,false],"k":[],"l":"2024-01-02"}]` + "\n", "", 0},
		{"a zero byte", "SELECT '\x00';", []string{"-"}, "",
			"ERROR:  invalid byte sequence for encoding \"UTF8\": 0x00\n", 3},
		{"the connection ends", "SELECT 1 AS one;\nSELECT pg_terminate_backend(pg_backend_pid());\nSELECT 2;\n",
			[]string{"-v", "ON_ERROR_STOP=0", "-"}, one,
			"FATAL:  terminating connection due to administrator command\nconnection to server was lost\n", 2},
	} {
		got := command(t, dir, tc.stdin, relgrad, append([]string{"run", "--db", dsn}, tc.args...)...)
		if got != (answer{tc.stdout, tc.stderr, tc.status}) {
			t.Errorf("%s: status %d\n%s%s", tc.name, got.status, got.stdout, got.stderr)
		}
	}
	for _, tc := range []struct{ dsn, stderr string }{
		{dsn + " dbname=nowhere", "ERROR:  connection to server on socket \"" + socket +
			"/.s.PGSQL.5432\" failed: FATAL:  database \"nowhere\" does not exist\n"},
		{"postgres://nobody@localhost:1/film?connect_timeout=5", "ERROR:  connection to server at \"localhost\", port 1 " +
			"failed: connect: connection refused\nHINT:  Is the server running there and accepting connections?\n"},
		{"host=" + dir, "ERROR:  connection to server on socket \"" + dir + "/.s.PGSQL.5432\" failed: connect: no such " +
			"file or directory\nHINT:  Is the server running there and accepting connections?\n"},
	} {
		if got := command(t, dir, "", relgrad, "run", "--db", tc.dsn, "-c", "SELECT 1"); got != (answer{"", tc.stderr, 2}) {
			t.Errorf("--db %s: status %d\n%s%s", tc.dsn, got.status, got.stdout, got.stderr)
		}
	}
	if got := command(t, dir, "", relgrad, "run", "--db", "port=x password=secret", "-c", "SELECT 1"); got.status != 1 ||
		strings.Contains(got.stderr, "secret") || !strings.HasPrefix(got.stderr, "ERROR:  cannot parse") {
		t.Errorf("a DSN that is none: status %d\n%s", got.status, got.stderr)
	}
	t.Setenv("PGHOST", socket)
	t.Setenv("PGUSER", "relgrad")
	if got := command(t, dir, "", relgrad, "run", "--db", "film", "-c",
		`\echo :DBNAME :USER`); got != (answer{"film relgrad\n", "", 0}) {
		t.Errorf("the name of a database: status %d\n%s%s", got.status, got.stdout, got.stderr)
	}
}

// TestInterrupt: a signal cancels what the server runs, at once, even if the server waits for data of COPY.
func TestInterrupt(t *testing.T) {
	c := server(t)
	dsn := database(t, c, "film")
	for _, sql := range []string{"SELECT pg_sleep(600);\nSELECT 2;\n", "DO $$ BEGIN LOOP PERFORM 1; END LOOP; END $$;\n",
		// the signal must not meet a statement that ends by itself
		"CREATE TABLE t (x int);\nCOPY t FROM STDIN;\n1\n"} {
		cmd := exec.Command(relgrad, "run", "-q", "--db", dsn, "-c", `\warn begun`, "-")
		in, err := cmd.StdinPipe() // which stays open
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, sql); err != nil {
			t.Fatal(err)
		}
		messages, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewReader(messages)
		if line, err := said.ReadString('\n'); line != "begun\n" {
			t.Fatalf("%q, %v", line, err)
		}
		running(t, dsn, 1)
		start := time.Now()
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		line, _ := said.ReadString('\n')
		_ = cmd.Wait()
		if line != "ERROR:  canceling statement due to user request\n" || cmd.ProcessState.ExitCode() != 130 {
			t.Errorf("status %d: %s", cmd.ProcessState.ExitCode(), line)
		}
		t.Logf("it ended %v after the signal", time.Since(start).Round(time.Millisecond))
		running(t, dsn, 0)
	}
}

// running waits until other sessions run n statements.
func running(t *testing.T, dsn string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for {
		var is int
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'relgrad' "+
			"AND state = 'active' AND query NOT LIKE 'CREATE%'").Scan(&is); err != nil {
			t.Fatal(err)
		}
		if is == n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestBulk copies more than all buffers on the way hold, in both directions, with a notice for each row. Neither side
// may wait for the other for ever.
func TestBulk(t *testing.T) {
	c := server(t)
	dsn := database(t, c, "film")
	dir := t.TempDir()
	const script = `
CREATE TABLE t (id int, v text);
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'row % %', NEW.id, NEW.v; RETURN NEW;
END $$;
CREATE TRIGGER shout BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION shout();
\copy (SELECT i, repeat('x', 500) FROM generate_series(1, 20000) i) TO 'bulk.txt'
\copy t FROM 'bulk.txt'
SELECT count(*), sum(id), sum(length(v)) FROM t;
\copy t FROM 'bulk.txt' WITH (FORMAT csv)
SELECT count(*) FROM t;
`
	got := command(t, dir, script, relgrad, "run", "-q", "-v", "ON_ERROR_STOP=0", "--format", "csv", "--db", dsn, "-")
	if got.stdout != "count,sum,sum\n20000,200010000,10000000\ncount\n20000\n" ||
		strings.Count(got.stderr, "NOTICE:  row ") != 20000 ||
		!strings.Contains(got.stderr, "ERROR:  invalid input syntax for type integer") {
		t.Errorf("status %d\n%s%s", got.status, got.stdout, got.stderr[max(0, len(got.stderr)-500):])
	}
}

// training matches the line in which an example begins to train.
var training = regexp.MustCompile(`(?m)^(CALL train|DO \$\$|.*gradient\().*$`)

// TestExamples compares psql and relgrad on the models of the examples, up to their training.
func TestExamples(t *testing.T) {
	c := server(t)
	for _, x := range []struct {
		file string
		data bool
		rest string
	}{
		{"gcn/karate_model.sql", false, "SELECT loss FROM loss; SELECT * FROM w1;"},
		{"nnmf/lowrank.sql", false, "SELECT loss FROM loss; SELECT * FROM w LIMIT 3;"},
		{"attention/attention.sql", false, "SELECT loss FROM loss;"},
		{"logreg/breast_cancer.sql", true, "SELECT loss FROM loss; SELECT * FROM accuracy ORDER BY fold; " +
			"SELECT x[1:3] FROM patient WHERE row < 4 ORDER BY row;"},
		{"gcn/cora_model.sql", true, "SELECT loss FROM loss;"},
	} {
		t.Run(x.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(need.Root(), "examples", x.file))
			if err != nil {
				t.Fatal(err)
			}
			model := string(text)
			if at := training.FindStringIndex(model); at != nil {
				model = model[:at[0]]
			}
			dir, head := t.TempDir(), "\\set seed 1\n"
			if x.data {
				head += "\\set data '" + need.Data(t) + "'\n"
			}
			if err := os.WriteFile(filepath.Join(dir, "model.sql"), []byte(head+model+x.rest+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			psql, ours := both(t, c, dir, "", "1", "model.sql")
			compare(t, psql, ours)
			if psql.status != 0 || !strings.Contains(psql.stdout, "loss") {
				t.Errorf("status %d\n%s%s", psql.status, psql.stdout, psql.stderr)
			}
		})
	}
}

// TestTraining trains an example on the server, with psql and with relgrad. The numbers and the messages are the same.
func TestTraining(t *testing.T) {
	c := server(t)
	dir := filepath.Join(need.Root(), "examples", "gcn")
	psql, ours := both(t, c, dir, "", "1", "karate.sql")
	compare(t, psql, ours)
	if psql.status != 0 || !strings.Contains(psql.stdout, " accuracy \n") ||
		!strings.Contains(psql.stderr, "NOTICE:  train: run 1 is finished") {
		t.Errorf("status %d\n%s%s", psql.status, psql.stdout, psql.stderr)
	}
}
