package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// TestShellOnServer: prompts, names, interrupts and a connection that is lost.
func TestShellOnServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	s := startShell(t, t.TempDir(), nil, "--db", c.DSN)
	if text := s.text(); !strings.Contains(text, ` on the database "postgres" as user "relgrad", on socket `) ||
		!strings.Contains(text, "postgres=> ") {
		t.Errorf("it begins with\n%s", text)
	}
	s.line("CREATE EXTENSION relgrad;", "CREATE EXTENSION")
	s.line("CREATE TABLE point (id int PRIMARY KEY, abscissa real[]);", "CREATE TABLE")
	s.keys("INSERT INTO poi\t")
	s.expect("point")
	s.line(" VALUES (1, '{1,2}');", "INSERT 0 1")
	s.keys("SELECT absc\t")
	s.expect("abscissa")
	s.line(" * 2::float8 FROM point;", "{2,4}\n")
	s.line(`\d point`, `"point_pkey" PRIMARY KEY, btree (id)`)
	s.line("COPY point FROM STDIN;", ">> ")
	s.keys("2\t{7}\r\\.\r")
	s.expect("COPY 1")
	s.line("COPY point FROM STDIN;", ">> ")
	s.keys("3\t{7}\r")
	s.expect(">> ")
	s.keys("\x03")
	s.expect("ERROR:  COPY from stdin was interrupted")
	s.line("BEGIN;", "postgres=*> ")
	s.line("SELECT nothing;", "postgres=!> ")
	s.keys("SELECT abs\t") // nothing is asked in a failed transaction
	s.expect("abs(")
	s.keys("\x03")
	s.expect("postgres=!> ")
	s.line("ROLLBACK;", "postgres=> ")
	s.line("DO $$ BEGIN RAISE NOTICE 'begun'; LOOP NULL; END LOOP; END $$;", "NOTICE:  begun\n")
	s.keys("\x03")
	s.expect("ERROR:  canceling statement due to user request")
	s.line("SELECT count(*) FROM point;", "     2\n")
	s.line("SET search_path = relgrad;", "SET")
	s.line("SELECT pg_terminate_backend(pg_backend_pid());", "FATAL:  terminating connection due to administrator command")
	s.expect("The connection to the server was lost. Attempting reset: Succeeded.")
	s.line("SHOW search_path;", `"$user", public`)
	s.line(`\q`, "")
	s.ends()
}

// TestServerOptions checks what --db excludes, and the status where there is no server.
func TestServerOptions(t *testing.T) {
	for _, tc := range []struct {
		line, first string
	}{
		{"run --db x --store y -c 1",
			"relgrad run: --store is a file of relgrad's, --db a server: only one of them can be given"},
		{"sql --db x --store y", "relgrad sql: --store is a file of relgrad's, --db a server: only one of them can be given"},
		{"run --db x --native f.sql", "relgrad run: --native is SQLite's dialect; a server runs what relgrad explain " +
			"--stage=sql prints for Postgres as it is"},
	} {
		out, errs, status := both(t, strings.Fields(tc.line)...)
		first, _, _ := strings.Cut(errs, "\n")
		if status != 2 || out != "" || tc.first != "" && first != tc.first || tc.first == "" &&
			!strings.HasPrefix(first, "ERROR:  ") {
			t.Errorf("%s: status %d\n%s", tc.line, status, errs)
		}
	}
}

// TestStandardInputOnServer: the command sql without a terminal is run -, on a server too.
func TestStandardInputOnServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	c := pgcluster.Start(t)
	const script = "CREATE TEMP TABLE t (x int);\nCOPY t FROM STDIN;\n1\n2\n\\.\nTABLE t;\nSELECT 1/0;\nSELECT 3;\n"
	run := func(cmd *exec.Cmd) (string, int) {
		cmd.Stdin = strings.NewReader(script)
		out, _ := cmd.CombinedOutput() // the status tells
		return string(out), cmd.ProcessState.ExitCode()
	}
	ours, status := run(process(t.TempDir(), "sql", "--db", c.DSN))
	psql, want := run(exec.Command("psql", "-X", "-v", "ON_ERROR_STOP=1", c.DSN))
	if ours != psql || status != want || !strings.Contains(ours, "COPY 2") {
		t.Errorf("status %d, psql's is %d\n%s\npsql:\n%s", status, want, ours, psql)
	}
}
