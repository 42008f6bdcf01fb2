package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// folderCopies are scripts with \copy of folders, in which a store and a server say the same.
var folderCopies = []struct{ script, want string }{
	{`\copy r TO 'd' (FORMAT delta)
UPDATE r SET x = x + 1 WHERE u = 1;
\copy (SELECT u, i, x FROM r WHERE u < 3 ORDER BY u, i) TO 'd' (FORMAT delta)
DELETE FROM r;
\copy r FROM 'd' (FORMAT delta, VERSION 0)
SELECT count(*), sum(x) FROM r;
\copy e (u, i, x) FROM 'd' (FORMAT delta)
SELECT min(id), max(id), count(*), sum(x) FROM e;`,
		"20|55\n1|10|10|27.5\n3: NOTICE:  version 1 of \"d\" replaces the rows of version 0\n"},
	{`\copy e FROM 'd' (FORMAT delta, VERSION 0)
SELECT min(id), count(*), sum(x) FROM e;`, "1|30|82.5\n"}, // the column id has a default
	{`\copy r (x) TO 't' (FORMAT delta, TENSOR 'v', LAYOUT ftsf)
CREATE TABLE v (i0 int PRIMARY KEY, value real);
\copy v FROM 't' (FORMAT delta, TENSOR 'v', SLICE '3:5')
SELECT * FROM v ORDER BY i0;`, "3|2.5\n4|3\n1: NOTICE:  version 0 of \"t\" has tensor"},
	{`SET datestyle = 'German';
\copy "odd names" TO 'odd' (FORMAT delta)
SET datestyle = 'ISO';
\copy "odd names" FROM 'odd' (FORMAT delta, VERSION 0)
SELECT count(*), min("Ab"), max("Ab") FROM "odd names";
\copy (SELECT 1 AS a, 2 AS a) TO 'twice' (FORMAT delta)`, "2|2026-02-01|2026-02-01\n6: ERROR:"},
	{`BEGIN;
CREATE TABLE q (u int, x real);
\copy q FROM 'd' (FORMAT delta)`, "ERROR"},
	{`BEGIN;
DELETE FROM r;
\copy r FROM 'd' (FORMAT delta, VERSION 0)
SELECT count(*) FROM r;
ROLLBACK;
SELECT count(*) FROM r;`, "20\n20\n"},
	{`\copy r FROM 'd' (FORMAT delta, VERSION 9)`, "ERROR"},
	{`\copy r FROM 'd' (FORMAT delta, VERSION 'newest')`, "ERROR"},
	{`\copy r FROM 'd' (FORMAT delta, WHOLE)`, "ERROR"},
	{`\copy r FROM 'nowhere' (FORMAT delta)`, "ERROR"},
	{`\copy r FROM 'file.csv' (FORMAT delta)`, "ERROR"},
	{`\copy r (u, absent) FROM 'd' (FORMAT delta)`, "ERROR"},
	{`\copy absent FROM 'd' (FORMAT delta)`, "ERROR"},
	{`\copy r FROM 't' (FORMAT delta, TENSOR 'w')`, "ERROR"},
	{`\copy r FROM 't' (FORMAT delta, TENSOR 'v', SLICE '99')`, "ERROR"},
	{`\copy (SELECT u AS other FROM r) TO 'd' (FORMAT delta)`, "ERROR"},
	{`\copy (SELECT 'a' AS u FROM r) TO 'd' (FORMAT delta)`, "ERROR"},
	{`\copy r (x) TO 'd' (FORMAT delta, TENSOR 'v', LAYOUT none)`, "ERROR"},
	{`\cd sub
\copy (SELECT 7 AS n) TO 'here' (FORMAT delta)
SELECT n FROM delta_table('here');
\cd ..
SELECT n FROM delta_table('sub/here');
SELECT n FROM delta_table('here');`, "7\n7\n6: ERROR:  could not open folder \"here\": no such file or directory\n"},
}

const folderTables = `CREATE TABLE r (u int, i int, x real, PRIMARY KEY (u, i));
INSERT INTO r SELECT u, i, u * 0.5 + i * 0.5 FROM generate_series(1, 4) AS a(u), generate_series(1, 5) AS b(i);
CREATE TABLE e (id SERIAL, u int, i int, x real, PRIMARY KEY (id));
CREATE TABLE "odd names" ("Ab" date);
INSERT INTO "odd names" VALUES ('2026-02-01');`

// TestFolderCopies: \copy of folders does on a server, which knows no format delta, what it does on a store, and
// refuses the same with the same words.
func TestFolderCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	c := pgcluster.Start(t)
	run := func(dir, at, script string) string {
		t.Chdir(dir)
		if err := os.WriteFile("script.sql", []byte(script+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"run", "-q"}, strings.Split(at, "|")...)
		out, errs, _ := both(t, append(args, "-c", "\\t", "-c", "\\a", "script.sql")...)
		return out + strings.NewReplacer("relgrad:script.sql:", "", ";\n", "\n").Replace(errs)
	}
	store, server := t.TempDir(), t.TempDir()
	onStore, onServer := "--store|"+filepath.Join(store, "s.db"), "--db|"+c.DSN
	for _, dir := range []string{store, server} {
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file.csv"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range append([]struct{ script, want string }{{folderTables, ""}}, folderCopies...) {
		a, b := run(store, onStore, tc.script), run(server, onServer, tc.script)
		if a != b {
			t.Errorf("%s\non the store:\n%s\non the server:\n%s", tc.script, a, b)
		}
		if a = b; tc.want == "ERROR" {
			_, a, _ = strings.Cut(b, ": ")
		}
		if !strings.HasPrefix(a, tc.want) {
			t.Errorf("%s\n%s, want %s", tc.script, b, tc.want)
		}
	}
}

// TestFolderOfView: the relative folder of a view is that of whoever reads it, as for a call in its place; a temporary
// view on a server has the rows.
func TestFolderOfView(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"one", "two"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const script = `\cd one
\copy (SELECT 1 AS n) TO 'here' (FORMAT delta)
CREATE VIEW v AS SELECT n FROM delta_table('here');
\cd ../two
\copy (SELECT 2.5::float8 AS n) TO 'here' (FORMAT delta)
SELECT n FROM v;
CREATE TABLE p (id int PRIMARY KEY, x float8);
INSERT INTO p VALUES (1, 1);
SELECT x FROM gradient('SELECT sum((v.n - p.x) ^ 2) FROM v CROSS JOIN p', NULL::p);
\cd ../one
SELECT n FROM v;
SELECT x FROM gradient('SELECT sum((v.n - p.x) ^ 2) FROM v CROSS JOIN p', NULL::p);
`
	if err := os.WriteFile("s.sql", []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := do(t, "run|-q|--store|s.db|-c|\\t|-c|\\a|s.sql"); got != "2.5\n-3\n1\n0\n" {
		t.Errorf("%s", got)
	}
	if out, errs, _ := both(t, "run", "-q", "--store", "s.db", "-c", "SELECT n FROM v"); !strings.Contains(errs,
		"could not open folder \"here\"") {
		t.Error(out, errs)
	}
}
