package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// do runs a command line, of which words are separated by | where there is one, and returns what it prints.
func do(t *testing.T, line string) string {
	t.Helper()
	args := strings.Fields(line)
	if strings.Contains(line, "|") {
		args = strings.Split(line, "|")
	}
	out, errs, status := both(t, args...)
	if status != 0 {
		t.Fatalf("%s: status %d\n%s%s", line, status, out, errs)
	}
	return out
}

// TestDeltaFiles: export and import of tables and tensors of Delta Lake by the command.
func TestDeltaFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	do(t, "run|--store|s.db|-q|-c|CREATE TABLE r (u int, i int, x real, PRIMARY KEY (u, i)); INSERT INTO r SELECT u, i, "+
		"u + 0.5 * i FROM generate_series(1, 4) AS a(u), generate_series(1, 3) AS b(i); CREATE TABLE w (k int PRIMARY "+
		"KEY, v real[]); INSERT INTO w SELECT k, ARRAY[k, 0, 1]::real[] FROM generate_series(1, 5) AS g(k)")
	for _, tc := range []struct{ line, want string }{
		{"export --store s.db --format delta r d", "COPY 12\n"},
		{"run|--store|s.db|-q|-c|DELETE FROM r WHERE u > 2", ""},
		{"export --store s.db r d", "COPY 6\nversion 1 of \"d\" replaces the rows of version 0\n"},
		{"import --store c.db d now", "COPY 6\n"},
		{"import --store c.db d@0 before", "COPY 12\n"},
		{"run|--store|c.db|-q|-c|\\t|-c|\\a|-c|SELECT count(*), sum(x) FROM before JOIN now USING (u, i, x)", "6|15\n"},
		{"run|--store|c.db|-q|-c|\\copy before FROM 'd' (FORMAT delta)", "ERROR"},
		{"run|--store|c.db|-q|-c|TRUNCATE before|-c|\\copy before FROM 'd' (FORMAT delta, VERSION 0)", ""},
		{"run|--store|c.db|-q|-c|\\t|-c|\\a|-c|SELECT count(*) FROM before", "12\n"},
		{"export|--store|s.db|--format|delta|--tensor|w|w (v)|t", "COPY 5\nversion 0 of \"t\" has tensor \"w\" in the " +
			"layout ftsf, 15 elements in "},
		{"export|--store|s.db|--tensor|w|--layout|csf|w (v)|t2", "status 1"},
		{"export|--store|s.db|--format|delta|--tensor|w|--layout|csf|w (v)|t2", "COPY 5\nversion 0 of \"t2\" has tensor " +
			"\"w\" in the layout csf, 10 elements in "},
		{"import|--store|c.db|--tensor|w|--slice|1:3, 0|t2|part", "COPY 2\n"},
		{"run|--store|c.db|-q|-c|\\t|-c|\\a|-c|SELECT * FROM part", "1|2\n2|3\n"},
		{"import --store c.db d@7 t7", "status 1"},
		{"import --store c.db --slice 1 d t7", "status 2"},
		{"export --store s.db --layout coo r d", "status 2"},
		{"export --store s.db r w d", "status 2"},
	} {
		args := strings.Fields(tc.line)
		if strings.Contains(tc.line, "|") {
			args = strings.Split(tc.line, "|")
		}
		out, errs, status := both(t, args...)
		if tc.want == "ERROR" {
			tc.want = "psql"
			if status == 3 && strings.Contains(errs, "duplicate key") {
				continue
			}
		}
		if strings.HasPrefix(tc.want, "status ") {
			if strings.TrimPrefix(tc.want, "status ") != string(rune('0'+status)) {
				t.Errorf("%s: status %d, want %s\n%s%s", tc.line, status, tc.want, out, errs)
			}
			continue
		}
		if status != 0 || !strings.HasPrefix(out, tc.want) {
			t.Errorf("%s: status %d, %q, want %q\n%s", tc.line, status, out, tc.want, errs)
		}
	}
}

// TestDeltaFilesOfServer: the same with a server from outside, on which there is no relgrad.
func TestDeltaFilesOfServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	c := pgcluster.Start(t)
	t.Chdir(t.TempDir())
	db := "|--db|" + c.DSN
	do(t, "run"+db+"|-q|-c|CREATE TABLE r (u int, i int, x real, v float8[], note varchar(9), PRIMARY KEY (u, i)); "+
		"INSERT INTO r SELECT u, i, u + 0.5 * i, ARRAY[[u, 1], [2, i]], concat('n\\n', u) FROM generate_series(1, 40) "+
		"AS a(u), generate_series(1, 3) AS b(i)")
	if got := do(t, "export"+db+"|--format|delta|r|d"); got != "COPY 120\n" {
		t.Error(got)
	}
	if got := do(t, "import"+db+"|d|again"); got != "COPY 120\n" {
		t.Error(got)
	}

	if got := do(t, "run"+db+"|-q|-c|\\t|-c|\\a|-c|SELECT count(*) FROM r JOIN again USING (u, i, x, v, note)"); got !=
		"120\n" {
		t.Error(got)
	}
	if _, errs, status := both(t, strings.Split("import"+db+"|d|again", "|")...); status != 1 ||
		!strings.Contains(errs, "duplicate key value violates unique constraint") {
		t.Errorf("the same rows twice: status %d, %s", status, errs)
	}
	if got := do(t, "run"+db+"|-q|-c|\\t|-c|\\a|-c|SELECT count(*) FROM again"); got != "120\n" {
		t.Error(got)
	}
	if _, errs, status := both(t, strings.Split("export"+db+"|--format|delta|absent|e", "|")...); status != 1 ||
		errs != "ERROR:  relation \"absent\" does not exist\n" {
		t.Errorf("status %d, %s", status, errs)
	}
}

// TestDeltaFromOutside: relgrad run --db reads folders of this machine for a server that cannot, and a loss on them has
// the gradient and the training of one on a table. The server itself knows no such function.
func TestDeltaFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		need.Absent(t, "pg", "no psql; make pg-install installs what a server needs")
	}
	c := pgcluster.Start(t)
	t.Chdir(t.TempDir())
	run := func(texts ...string) (string, string, int) {
		args := []string{"run", "--db", c.DSN, "-q", "-c", "\\t", "-c", "\\a"}
		for _, x := range texts {
			args = append(args, "-c", x)
		}
		return both(t, args...)
	}
	setup := "CREATE EXTENSION relgrad; CREATE TABLE r (u int, i int, x float8, PRIMARY KEY (u, i)); INSERT INTO r " +
		"SELECT u, i, u + 0.5 * i FROM generate_series(1, 9) AS a(u), generate_series(1, 5) AS b(i); CREATE TABLE w " +
		"(u int PRIMARY KEY, p float8); INSERT INTO w SELECT u, u FROM generate_series(1, 9) AS g(u)"
	if out, errs, status := run(setup); status != 0 {
		t.Fatal(out, errs)
	}
	do(t, "export|--db|"+c.DSN+"|--format|delta|r|d")
	do(t, "export|--db|"+c.DSN+"|--format|delta|--tensor|p|w (p)|t")
	const loss = "SELECT sum((d.x - w.p) ^ 2) FROM FROM_ITEM JOIN w USING (u) WHERE d.i < 4"
	ask := func(item string) []string {
		text := strings.ReplaceAll(loss, "FROM_ITEM", item)
		quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
		return []string{text, "SELECT * FROM gradient(" + quoted + ", NULL::w) ORDER BY u", "BEGIN; CALL train(" + quoted +
			", ARRAY['w'], lr => 0.01, epochs => 5)", "SELECT * FROM w ORDER BY u", "ROLLBACK"}
	}
	want, errs, status := run(ask("r d")...)
	if status != 0 || strings.Count(want, "\n") < 19 {
		t.Fatal(want, errs)
	}
	if got, errs, status := run(ask("delta_table('d') d")...); status != 0 || got != want {
		t.Errorf("status %d, %s%s, want %s", status, got, errs, want)
	}
	for _, tc := range []struct {
		sql, want string
		status    int
	}{
		{"SELECT count(*), sum(value) FROM delta_tensor('t', 'p', slice => '2:5')", "3|12\n", 0},
		{"SELECT delta_table.x FROM delta_table('d') WHERE u = 2 AND i = 3", "3.5\n", 0},
		{"WITH q AS (SELECT u AS n, x FROM delta_table('d')) SELECT count(*) FROM q a JOIN q b USING (x) WHERE a.n > 7 AND " +
			"b.n > 7 AND b.x > 9.5", "10\n", 0},
		{"SELECT count(*) FROM delta_table('d', 0) AS a JOIN delta_table('d') AS b USING (u, i)", "45\n", 0},
		{"SELECT count(*) FROM delta_table('d', 7) AS a", "the table has no version 7, the newest is 0", 3},
		{"SELECT count(*) FROM delta_table('none')", "could not open folder \"none\": no such file or directory", 3},
		{"SELECT count(*) FROM delta_tensor('t', 'q')", "the table has no tensor \"q\"", 3},
		{"SELECT delta_table('d')", "function delta_table(unknown) does not exist", 3},
		{"SELECT 'FROM delta_table(''d'')' AS a", "FROM delta_table('d')\n", 0},
		{"SELECT check_gradient('SELECT sum((d.x - w.p) ^ 2) FROM delta_table(''d'') d JOIN w USING (u)', 'w')", "t)\n", 0},
		{"DO $$ BEGIN PERFORM * FROM gradient('SELECT sum((d.x - w.p) ^ 2) FROM delta_table(''d'') d JOIN w USING (u)', " +
			"NULL::w); END $$", "function delta_table(unknown) does not exist", 3},
		{"DO $$ BEGIN PERFORM * FROM delta_table('d'); END $$", "function delta_table(unknown) does not exist", 3},
	} {
		if out, errs, status := run(tc.sql); status != tc.status || !strings.Contains(out+errs, tc.want) {
			t.Errorf("%s: status %d, %s%s", tc.sql, status, out, errs)
		}
	}
}
