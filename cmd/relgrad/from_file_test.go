package main

import (
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// script writes a script into the folder sub beside a csv file, and returns its path.
func fromScript(t *testing.T, text string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"r.csv": "id,y,zip\n1,2,007\n2,3.5,12\n", "it's.csv": "a\n5\n",
		"tabs.tsv": "id\tzip\n1\t007\n", "p1.csv": "id,q\n1,2\n", "p2.csv": "id,q\n2,2.5\n",
		"nan.csv": "id,y\n1,2\n2,nan\n",
		"s.sql":   text} {
		if err := os.WriteFile("sub/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return "sub/s.sql"
}

// TestFromFile: files are relations of queries, views and losses; their names begin at the session's folder.
func TestFromFile(t *testing.T) {
	script := fromScript(t, `CREATE TABLE w (id int PRIMARY KEY, x double precision);
INSERT INTO w VALUES (1, 1), (2, 3);
\cd sub
SELECT zip, r.y FROM 'r.csv' AS r WHERE r.id < 2;
SELECT count(*), sum(r.y) FROM w, 'r.csv' JOIN 'it''s.csv' s ON s.a > 1 WHERE w.id = r.id;
CREATE VIEW v AS SELECT id, y FROM 'r.csv';
SELECT sum(y) FROM v;
\copy (SELECT id, y FROM 'r.csv' ORDER BY id) TO 'r.parquet' WITH (FORMAT parquet)
SELECT * FROM 'r.parquet' ORDER BY id;
SELECT id, x FROM gradient('SELECT sum((w.x - r.y) ^ 2) FROM w JOIN ''r.csv'' r USING (id)', NULL::w) ORDER BY id;
SELECT id, x FROM gradient('SELECT sum((w.x - v.y) ^ 2) FROM w JOIN v USING (id)', NULL::w) ORDER BY id;
CALL relgrad.train('SELECT sum((w.x - r.y) ^ 2) FROM w JOIN ''r.csv'' r USING (id)', ARRAY['w'], optimizer => 'sgd',
  lr => 0.25, epochs => 60);
SELECT * FROM w ORDER BY id;
SELECT trim(FROM ' a ') || 'b' AS t;
SELECT zip FROM 'tabs.tsv';
SELECT p.id, q FROM 'p[12].*' AS p;
`)
	out, errs, status := both(t, "run", "-q", "--format", "csv", script)
	want := "zip,y\n007,2\ncount,sum\n2,5.5\nsum\n5.5\nid,y\n1,2\n2,3.5\nid,x\n1,-2\n2,-1\nid,x\n1,-2\n2,-1\n" +
		"id,x\n1,2\n2,3.5\nt\nab\nzip\n007\nid,q\n1,2\n2,2.5\n"
	if status != 0 || out != want {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
}

// TestFromFileRefused: positions of errors are those of the text; where no file can stand it is a syntax error.
func TestFromFileRefused(t *testing.T) {
	fromScript(t, "")
	npy := "\x93NUMPY\x01\x00" + "\x37\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}" +
		string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN())))
	for _, name := range []string{"sub/nan.npy", "sub/two.npy"} {
		if err := os.WriteFile(name, []byte(npy), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ sql, want string }{
		{`SELECT 1 FROM 'sub/r.csv' WHERE nix > 0`, "column \"nix\" does not exist\n" +
			"LINE 1: SELECT 1 FROM 'sub/r.csv' WHERE nix > 0\n" +
			"                                        ^"},

		{`INSERT INTO w (id, 'x') VALUES (1)`, "syntax error at or near \"'x'\""},
		{`DELETE FROM 'sub/r.csv'`, "syntax error at or near \"'sub/r.csv'\""},
		{`SELECT 1 FROM ''`, "syntax error"},
		{`SELECT 1 FROM 'none.csv'`, "could not open file \"none.csv\" for reading: no such file or directory\n" +
			"LINE 1: SELECT 1 FROM 'none.csv'\n                      ^"},
		{`SELECT 1 FROM 'a"b.csv'`, "could not open file \"a\"b.csv\""},
		{`SELECT 1 FROM 'r.txt'`, "does not tell its format"},
		{`SELECT 1 FROM 'sub'`, "\"sub\" is a folder"},
		{`SELECT id FROM 'sub/p*.csv.gz'`, "no file matches \"sub/p*.csv.gz\"\n" +
			"LINE 1: SELECT id FROM 'sub/p*.csv.gz'\n                       ^"},
		{`SELECT y FROM 'sub/nan.csv'`, "NaN cannot be stored in a scalar column\nLINE 1: SELECT y FROM 'sub/nan.csv'\n" +
			"                      ^\nHINT:  Use NULL for a missing value: relgrad import --null nan makes it one in a new " +
			"table.\nCONTEXT:  line 3, column y, source sub/nan.csv"},
		{`SELECT * FROM 'sub/nan.npy'`, "NaN cannot be stored in a scalar column\nLINE 1: SELECT * FROM 'sub/nan.npy'\n" +
			"                      ^\nDETAIL:  Column \"v\" holds it.\nHINT:  Use NULL"},
		{`SELECT x FROM 'sub/*.npy'`, "2 files cannot be one table, for \"sub/nan.npy\" is no csv file\n" +
			"LINE 1: SELECT x FROM 'sub/*.npy'\n                      ^\nHINT:  Several csv files can."},
		{`SELECT 1 FROM file_table()`, "file_table needs the argument \"file\""},
		{`SELECT * FROM gradient('SELECT sum(x) FROM ''sub/r.csv'' r JOIN w ON w.x = r.nix', NULL::w)`, "nix"},
	} {
		_, errs, status := both(t, "run", "-c", "CREATE TABLE w (id int PRIMARY KEY, x double precision)", "-c", tc.sql)
		if status != 3 || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: status %d\n%s", tc.sql, status, errs)
		}
	}
}

// TestFromFileServer: a server refuses files, in statements and in losses.
func TestFromFileServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	fromScript(t, "")
	for _, tc := range []struct{ sql, want string }{
		{`SELECT 1 FROM 'sub/r.csv' r`, "a server reads no file of this machine in FROM\n" +
			"LINE 1: SELECT 1 FROM 'sub/r.csv' r\n                      ^\nHINT:  relgrad import --db"},
		{`SELECT 1 FROM file_table('sub/r.csv') r`, "a server reads no file of this machine in FROM"},
		{`SELECT * FROM gradient('SELECT sum(x) FROM w JOIN ''sub/r.csv'' r USING (id)', NULL::w)`,
			"a server reads no file in FROM"},
		{`SELECT trim(FROM ' a ') FROM 1`, "syntax error"},
	} {
		_, errs, status := both(t, "run", "--db", c.DSN, "-c", "CREATE EXTENSION IF NOT EXISTS relgrad", "-c",
			"CREATE TABLE IF NOT EXISTS w (id int PRIMARY KEY, x double precision)", "-c",
			"SET search_path = public, relgrad", "-c", tc.sql)
		if status != 3 || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: status %d\n%s", tc.sql, status, errs)
		}
	}
}
