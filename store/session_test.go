package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store/lite"
)

func openFile(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := openFile(t, path)
	for _, sql := range []string{`CREATE TABLE "T" (id int GENERATED ALWAYS AS IDENTITY, "Mixed" text DEFAULT 'd', v ` +
		`real[], n numeric(6,2) CHECK (n > 0))`,
		`CREATE UNIQUE INDEX ON "T" ("Mixed")`, `CREATE VIEW vv AS SELECT *, norm(v) FROM "T"`,
		`CREATE PROCEDURE p(a int, b text DEFAULT 'x') LANGUAGE plpgsql AS $$ BEGIN NULL; END $$`,
		`CREATE SCHEMA other; CREATE TABLE other.t (a int); INSERT INTO other.t VALUES (5)`, `CREATE TEMP TABLE gone (a int)`,
		`INSERT INTO "T" (v, n) VALUES ('{3,4}', 1.5)`} {
		mustRun(t, db, sql)
	}
	db.Close()
	db = openFile(t, path)
	check(t, db, [][2]string{
		{"SELECT * FROM vv", "id|Mixed|v|n|norm\n1|d|{3,4}|1.50|5"},
		{`INSERT INTO "T" ("Mixed", n) VALUES ('e', 2) RETURNING id`, "id\n2"},
		{`INSERT INTO "T" ("Mixed", n) VALUES ('f', -1)`, "ERROR 23514"},
		{`INSERT INTO "T" ("Mixed", n) VALUES ('e', 1)`, "ERROR 23505"},
		{`INSERT INTO "T" ("Mixed", n) VALUES ('g', 12345)`, "ERROR 22003"},
		{"SELECT a FROM other.t", "a\n5"},
		{"SET search_path = other; SELECT a FROM t", "a\n5"},
		{"SET search_path = nosuch", "ERROR 3F000"},
		{"SELECT * FROM gone", "ERROR 42P01"},
		{"SET search_path = public, relgrad; CREATE TABLE relgrad.loss (run int, loss double precision); INSERT INTO " +
			"relgrad.loss VALUES (1, 0.5); SELECT loss FROM loss", "loss\n0.5"},
		{"CREATE VIEW loss AS SELECT 7 AS loss; SELECT loss FROM loss", "loss\n7"},
		{"SELECT loss FROM relgrad.loss", "loss\n0.5"},
		{"CREATE TABLE relgrad_catalog (a int)", "ERROR 42939"},
		{`DROP TABLE "T"`, "ERROR 2BP01"},
		{`DROP TABLE "T" CASCADE; SELECT * FROM vv`, "ERROR 42P01"},
	})
	if f := db.Function("public", "p"); f == nil || f.Body != " BEGIN NULL; END " || len(f.Params) != 2 ||
		f.Params[1].Default == nil {
		t.Errorf("function: %+v", f)
	}
}

func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	a, b := openFile(t, path), openFile(t, path)
	mustRun(t, a, "CREATE TABLE t (x int); INSERT INTO t VALUES (1)")
	check(t, b, [][2]string{{"SELECT * FROM t", "x\n1"}})
	v1, err := b.Version("", "t")
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, a, "UPDATE t SET x = 2; ALTER TABLE t ADD COLUMN y int DEFAULT 3")
	check(t, b, [][2]string{{"SELECT * FROM t", "x|y\n2|3"}})
	if v2, _ := b.Version("", "t"); v1 == v2 {
		t.Error("another process's change left the version as it was")
	}
	b.c.BusyTimeout(50)
	mustRun(t, a, "BEGIN; UPDATE t SET x = 5")
	check(t, b, [][2]string{{"SELECT x FROM t", "x\n2"}, {"UPDATE t SET x = 6", "ERROR 55P03"}})
	mustRun(t, a, "COMMIT")
	check(t, b, [][2]string{{"UPDATE t SET x = x + 1; SELECT x FROM t", "x\n6"}})
	mustRun(t, b, "BEGIN; SELECT x FROM t")
	mustRun(t, a, "UPDATE t SET x = 9")
	check(t, b, [][2]string{{"UPDATE t SET x = 10", "ERROR 40001"}, {"ROLLBACK; SELECT x FROM t", "x\n9"}})
}

// TestWaitsInTransaction: a transaction that has read waits for another's lock; what the other wrote, it may not
// overwrite.
func TestWaitsInTransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	a, b := openFile(t, path), openFile(t, path)
	mustRun(t, a, "CREATE TABLE t (x int); INSERT INTO t VALUES (1)")
	for _, tc := range []struct{ end, want string }{{"ROLLBACK", "x\n6"}, {"COMMIT", "ERROR 40001"}} {
		mustRun(t, b, "BEGIN; SELECT x FROM t")
		mustRun(t, a, "BEGIN; UPDATE t SET x = 5")
		done := make(chan bool)
		go func() {
			time.Sleep(100 * time.Millisecond)
			if _, err := run(a, tc.end); err != nil {
				t.Error(err)
			}
			close(done)
		}()
		check(t, b, [][2]string{{"UPDATE t SET x = 6; SELECT x FROM t", tc.want}})
		<-done
		mustRun(t, b, "ROLLBACK")
	}
}

// TestWaitsAsLongAsAsked: a lock is waited for as long as lock_timeout says, whether or not the transaction has read,
// and a cancelled statement neither waits on nor runs later.
func TestWaitsAsLongAsAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	a, b := openFile(t, path), openFile(t, path)
	mustRun(t, a, "CREATE TABLE t (x int); INSERT INTO t VALUES (1)")
	mustRun(t, b, "SELECT x FROM t")
	mustRun(t, a, "BEGIN; UPDATE t SET x = 5")
	b.c.BusyTimeout(100)
	for _, before := range []string{"BEGIN", "BEGIN; SELECT count(*) FROM relgrad_catalog", "SELECT 1"} {
		if err := b.c.Exec(before); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		err := b.exec("UPDATE relgrad_catalog SET name = name")
		if took := time.Since(begin); err == nil || took < 90*time.Millisecond || took > 3*time.Second {
			t.Errorf("%s: %v after %v", before, err, took)
		}
		_ = b.c.Exec("ROLLBACK")
	}
	b.c.BusyTimeout(60000)
	for _, before := range []string{"BEGIN; SELECT x FROM t", "SELECT x FROM t"} {
		mustRun(t, b, before)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(50*time.Millisecond, cancel)
		text := &ast.Text{SQL: "UPDATE t SET x = 6"}
		list, err := parse.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err = b.Exec(ctx, list[0].Stmt, text)
		if e, ok := err.(*sqlerr.Error); !ok || e.Code != sqlerr.QueryCanceled || time.Since(begin) > 10*time.Second {
			t.Errorf("%s: %v after %v", before, err, time.Since(begin))
		}
		mustRun(t, b, "ROLLBACK")
	}
}

// TestForeign: a file of another program's is left as it is.
func TestForeign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	c, err := lite.Open(path, false)
	if err == nil {
		err = c.Exec("CREATE TABLE theirs (a)")
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if db, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a relgrad store") {
		t.Errorf("%v, %v", db, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed: %v", err)
	}
}

// TestTwoProcessesAtOnce: what a statement finds missing, another process may just have made.
func TestTwoProcessesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	dbs := []*DB{openFile(t, path), openFile(t, path)}
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range 50 {
				if _, err := run(dbs[i], fmt.Sprintf("CREATE TABLE IF NOT EXISTS t%d (x int)", n)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
}

// TestCreatedTwice opens one new file from several sessions at once, each of which then writes and closes it.
func TestCreatedTwice(t *testing.T) {
	for i := range 40 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i, ".db"))
		errs := make(chan error)
		for j := range 3 {
			go func() {
				db, err := Open(path)
				if err != nil {
					errs <- fmt.Errorf("open: %w", err)
					return
				}
				_, err = run(db, fmt.Sprintf("CREATE TABLE t%d (x int); INSERT INTO t%[1]d VALUES (1)", j))
				db.Close()
				errs <- err
			}()
		}
		for range 3 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db, "CREATE TABLE t (k int PRIMARY KEY, v real[], a text); INSERT INTO t VALUES (1, '{1}', 'x')")
	get := func() catalog.Version {
		v, err := db.Version("", "t")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v0 := get()
	mustRun(t, db, "SELECT * FROM t; UPDATE t SET v = v * 2")
	v1 := get()
	if v1.Keys != v0.Keys || v1.Values == v0.Values {
		t.Error("update of values:", v0, v1)
	}
	mustRun(t, db, "UPDATE t SET a = 'y'")
	if v2 := get(); v2.Keys == v1.Keys {
		t.Error("update of an attribute")
	}
	mustRun(t, db, "BEGIN; DELETE FROM t")
	inside := get()
	mustRun(t, db, "ROLLBACK")
	if v := get(); v == inside {
		t.Error("rollback left the version")
	}
}

func TestTransactions(t *testing.T) {
	db := openTemp(t)
	check(t, db, [][2]string{
		{"CREATE TABLE t (x int)", ""},
		{"BEGIN; CREATE TABLE u (y int); INSERT INTO u VALUES (1); ALTER TABLE t ADD COLUMN z int; SET my.x = 'a'", ""},
		{"ROLLBACK", ""},
		{"SELECT * FROM u", "ERROR 42P01"},
		{"SELECT * FROM t", "x"},
		{"SELECT current_setting('my.x', true) AS s", "s\nNULL"},
		{"BEGIN; SET LOCAL my.y = 'b'; SELECT current_setting('my.y') AS s", "s\nb"},
		{"COMMIT; SELECT current_setting('my.y', true) AS s", "s\nNULL"},
		{"BEGIN; SAVEPOINT s; SELECT 1/0", "ERROR 22012"},
		{"SELECT 1", "ERROR 25P02"},
		{"ROLLBACK TO s; INSERT INTO t VALUES (4); COMMIT; SELECT * FROM t", "x\n4"},
		{"ROLLBACK TO nosuch", "ERROR 3B001"},
		{"BEGIN; SELECT 1/0", "ERROR 22012"},
	})
	if r, err := run(db, "COMMIT"); err != nil || r.Tag != "ROLLBACK" {
		t.Error(r, err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "no", "s.db")); sqlerr.Code(err) != sqlerr.UndefinedFile {
		t.Error(err)
	}
	if _, err := Open(dir); sqlerr.Code(err) != sqlerr.UndefinedFile {
		t.Error(err)
	}
	junk := filepath.Join(dir, "junk")
	os.WriteFile(junk, []byte(strings.Repeat("not a database ", 100)), 0o644)
	if _, err := Open(junk); sqlerr.Code(err) != sqlerr.DataCorrupted {
		t.Error(err)
	}
	path := filepath.Join(dir, "s.db")
	db := openFile(t, path)
	mustRun(t, db,
		"CREATE TABLE t (v double precision[]); INSERT INTO t SELECT zeros(ARRAY[1000]) FROM generate_series(1, 100)")
	db.Close()
	raw, _ := os.ReadFile(path)
	for i := 400000; i < 600000; i++ {
		raw[i] = byte(i * 31)
	}
	os.WriteFile(path, raw, 0o644)
	db = openFile(t, path)
	if _, err := run(db, "SELECT sum(v) FROM t"); sqlerr.Code(err) != sqlerr.DataCorrupted {
		t.Error(err)
	}
}

func TestDiskFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := openFile(t, path)
	mustRun(t, db,
		"CREATE TABLE t (k int PRIMARY KEY, v double precision[]); INSERT INTO t SELECT i, zeros(ARRAY[1000]) FROM "+
			"generate_series(1, 10) i")
	if err := db.c.Exec("PRAGMA max_page_count = 20"); err != nil { // SQLite reports the same code as for a full disk
		t.Fatal(err)
	}
	check(t, db, [][2]string{
		{"INSERT INTO t SELECT i, zeros(ARRAY[1000]) FROM generate_series(11, 1000) i", "ERROR 53100"},
		{"SELECT count(*) FROM t", "count\n10"},
		{"BEGIN; DELETE FROM t WHERE k = 1; INSERT INTO t SELECT i, zeros(ARRAY[1000]) FROM generate_series(11, 1000) i",
			"ERROR 53100"},
		{"ROLLBACK; SELECT count(*) FROM t", "count\n10"},
	})
}

func TestReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("running as root: permissions do not bind, the file is opened read-only by hand")
	}
	path := filepath.Join(t.TempDir(), "s.db")
	db := openFile(t, path)
	mustRun(t, db, "CREATE TABLE t (x int); INSERT INTO t VALUES (1)")
	db.Close()
	db, err := open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	check(t, db, [][2]string{{"SELECT * FROM t", "x\n1"}, {"INSERT INTO t VALUES (2)", "ERROR 25006"},
		{"CREATE TABLE u (x int)", "ERROR 25006"}})
}

func TestCancel(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db, "CREATE TABLE t (x bigint)")
	text := &ast.Text{SQL: "INSERT INTO t SELECT a FROM generate_series(1, 1000000000) a"}
	ps, _ := parse.Parse(text)
	for _, wait := range []time.Duration{30 * time.Millisecond, 0} { // 0: cancelled before it begins
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		if _, err := db.Exec(ctx, ps[0].Stmt, text); sqlerr.Code(err) != sqlerr.QueryCanceled {
			t.Error(err)
		}
		cancel()
	}
	check(t, db, [][2]string{{"SELECT count(*) FROM t", "count\n0"}})
}

// TestKill writes in a child process, kills it, and looks at what is left: whole transactions only.
func TestKill(t *testing.T) {
	if path := os.Getenv("STORE_KILL_CHILD"); path != "" {
		db, err := Open(path)
		if err != nil {
			os.Exit(2)
		}
		for i := 0; ; i++ {
			if _, err := run(db, "BEGIN; UPDATE t SET v = v + 1; UPDATE u SET v = v + 1; COMMIT"); err != nil {
				os.Exit(3)
			}
			if i == 20 {
				os.Stdout.WriteString("going\n")
			}
		}
	}
	path := filepath.Join(t.TempDir(), "s.db")
	db := openFile(t, path)
	mustRun(t, db,
		"CREATE TABLE t (k int, v double precision[]); INSERT INTO t SELECT k, zeros(ARRAY[3000]) FROM generate_series(1, "+
			"20) k; CREATE TABLE u AS SELECT * FROM t")
	db.Close()
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKill$")
		cmd.Env = append(os.Environ(), "STORE_KILL_CHILD="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 6)
		if _, err := out.Read(buf); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		db = openFile(t, path)
		if got := show(db,
			"SELECT count(DISTINCT v) AS n FROM (SELECT v FROM t UNION ALL SELECT v FROM u) x"); got != "n\n1" {
			t.Fatal("a transaction was torn: ", got)
		}
		if got := show(db, "SELECT v[1] >= 21 AS enough FROM t LIMIT 1"); got != "enough\nt" {
			t.Fatal("a committed transaction was lost")
		}
		mustRun(t, db, "UPDATE t SET v = 0 * v; UPDATE u SET v = 0 * v")
		db.Close()
	}
}
