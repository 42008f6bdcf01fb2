package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/relgrad/relgrad"
)

// TestRunStatus checks the exit statuses that scripts rely on.
func TestRunStatus(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	quietly(t)
	good := file("good.sql", "SELECT :x;\n")
	for _, tc := range []struct {
		want int
		args []string
	}{
		{0, []string{"run", "-q", "-v", "x=1", good}},
		{0, []string{"run", good, "-v", "x=2", "--format=json"}},
		{3, []string{"run", good}},
		{3, []string{"run", file("bad.sql", "SELECT 1/0;")}},
		{1, []string{"run", filepath.Join(dir, "missing.sql")}},
		{2, []string{"run"}},
		{2, []string{"run", "--format", "xml", good}},
		{2, []string{"run", "--nope"}},
		{0, []string{"run", "-h"}},
		{2, []string{"rnu"}},
		{0, []string{"help"}},
	} {
		if got := realMain(tc.args); got != tc.want {
			t.Errorf("%v: status %d, want %d", tc.args, got, tc.want)
		}
	}
	store := filepath.Join(dir, "s.db")
	if got := realMain([]string{"run", "--store", store,
		file("a.sql", "CREATE TABLE t (k int); INSERT INTO t VALUES (1);")}); got != 0 {
		t.Fatalf("status %d", got)
	}
	if got := realMain([]string{"run", "--store", store,
		file("b.sql", "SELECT count(*) AS n FROM t \\gset\n\\if :n\n\\else\nSELECT 1/0;\n\\endif\n")}); got != 0 {
		t.Errorf("the store was not kept: status %d", got)
	}
}

// TestInterrupt: a cancelled script ends with status 130 and rolls back to the last COMMIT.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	quietly(t)
	path := filepath.Join(dir, "loop.sql")
	store := filepath.Join(dir, "s.db")
	text := "CREATE TABLE t (k int PRIMARY KEY);\nDO $$ BEGIN INSERT INTO t VALUES (1); COMMIT; INSERT INTO t VALUES " +
		"(2); LOOP NULL; END LOOP; END $$;\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // the loop has begun, or is about to, when another session sees the row of the first COMMIT
		defer cancel()
		for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
			db, err := relgrad.Open(store)
			if err != nil {
				continue
			}
			res, err := db.Run(context.Background(), "SELECT count(*) FROM t")
			db.Close()
			if err == nil && res.Rows[0][0] == int64(1) {
				return
			}
		}
	}()
	if got := status(ctx, runCommand.run(ctx, &runCommand, []string{"--store", store, path})); got != 130 {
		t.Errorf("status %d, want 130", got)
	}
	check := filepath.Join(dir, "check.sql")
	if err := os.WriteFile(check,
		[]byte("SELECT 1 / (2 - count(*)) FROM t WHERE k = 1 AND NOT EXISTS (SELECT 1 FROM t WHERE k = 2);\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := realMain([]string{"run", "--store", store, check}); got != 0 {
		t.Errorf("status %d: the last commit did not stay", got)
	}
}

// quietly sends the process's output to nowhere for a test.
func quietly(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	out, errs := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = null, null
	t.Cleanup(func() { os.Stdout, os.Stderr = out, errs; null.Close() })
}
