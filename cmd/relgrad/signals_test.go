package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relgrad/relgrad"
)

// asCommand makes the test's binary the command itself.
const asCommand = "RELGRAD_TEST_COMMAND"

func init() {
	if os.Getenv(asCommand) != "" {
		os.Exit(realMain(os.Args[1:]))
	}
}

// signalLimit has a margin for a busy machine and for the end of the process: alone it takes less than 100 ms.
const signalLimit = 600 * time.Millisecond

// TestSignals sends real signals to the command while a statement runs: it ends at once with status 130 and says why,
// and what was committed is all that the store holds.
func TestSignals(t *testing.T) {
	if testing.Short() {
		t.Skip("runs what takes long")
	}
	const setup = `CREATE TABLE w (id integer PRIMARY KEY, x double precision);
INSERT INTO w SELECT i, 1.0 / i FROM generate_series(1, 500) AS g(i);
CREATE VIEW loss AS SELECT sum(tanh(a.x * b.x * c.x)) FROM w a JOIN w b ON a.id <> b.id JOIN w c ON c.id = b.id;
`
	for _, sql := range []string{
		"SELECT count(*) FROM generate_series(1, 100000) a(i), generate_series(1, 1000000) b(j) WHERE i + j = -1;",
		"SELECT i FROM generate_series(1, 2000000000) g(i);",
		"INSERT INTO w SELECT 1000 + a.i, 0 FROM generate_series(1, 2000000000) a(i);",
		"SELECT sum_elements(tanh(exp(sin(random_uniform(ARRAY[20000000], 1)))));",
		"DO $$ BEGIN LOOP NULL; END LOOP; END $$;",
		"CALL train('loss', ARRAY['w'], epochs => 100000000, lr => 0);",
		"COPY w FROM PROGRAM 'sleep 5';",
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			late := time.Hour
			for try := 0; try < 4 && late > signalLimit; try++ {
				late = min(late, signalled(t, setup, sql, sig))
			}
			if late > signalLimit {
				t.Errorf("%v: %s ended after %v", sig, sql, late)
			}
			t.Logf("%7.1f ms %v: %.80s", float64(late.Microseconds())/1000, sig, sql)
		}
	}
}

// signalled runs a script and sends a signal a little after its last statement has begun.
func signalled(t *testing.T, setup, sql string, sig syscall.Signal) time.Duration {
	t.Helper()
	dir := t.TempDir()
	store := filepath.Join(dir, "s.db")
	script := setup + "\\! touch begun\n" + sql + "\n"
	if err := os.WriteFile(filepath.Join(dir, "s.sql"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	c := exec.Command(os.Args[0], "run", "-q", "--store", store, "s.sql")
	c.Dir, c.Stderr, c.Env = dir, &messages, append(os.Environ(), asCommand+"=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatal("the script does not begin")
		}
	}
	time.Sleep(100 * time.Millisecond)
	begin := time.Now()
	if err := c.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	late := time.Since(begin)
	if c.ProcessState.ExitCode() != 130 {
		t.Fatalf("%v: %s: %v\n%s", sig, sql, err, messages.String())
	}
	if m := messages.String(); !strings.Contains(m, "canceling statement due to user request") &&
		!strings.Contains(m, "training was cancelled") {
		t.Errorf("%v: %s:\n%s", sig, sql, m)
	}
	db, err := relgrad.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	res, err := db.Run(context.Background(),
		"SELECT (SELECT count(*) FROM w) AS rows, (SELECT count(*) FROM relgrad.run WHERE status = 'running') AS running")
	if err != nil || res.Rows[0][0] != int64(500) || res.Rows[0][1] != int64(0) {
		t.Errorf("%v: %s left %v: %v", sig, sql, res, err)
	}
	return late
}
