package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

func copyStmt(t *testing.T, sql string) (*ast.Copy, *ast.Text) {
	t.Helper()
	text := &ast.Text{SQL: sql}
	ps, err := parse.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return ps[0].Stmt.(*ast.Copy), text
}

func TestCopyIn(t *testing.T) {
	for _, c := range []struct{ name, options, data, want, code, context string }{
		{"csv", "(FORMAT csv)", "1,a,1.5\n2,,\n", "k|s|x\n1|a|1.5\n2|NULL|NULL", "", ""},
		{"csv header, quotes, crlf", "(FORMAT csv, HEADER)", "k,s,x\r\n1,\"a, \"\"b\"\"\nc\",2\r\n2,\"\",3",
			"k|s|x\n1|a, \"b\"\nc|2\n2||3", "", ""},
		{"csv delimiter, null", "(FORMAT csv, DELIMITER ';', NULL 'NA')", "1;;NA\n", "k|s|x\n1||NULL", "", ""},
		{"csv quote and escape", `(FORMAT csv, QUOTE '''', ESCAPE '\')`, "1,'it\\'s',2\n", "k|s|x\n1|it's|2", "", ""},
		{"text", "", "1\ta\\tb\\\\\t1\n2\t\\N\t\\N\n\\.\nrest", "k|s|x\n1|a\tb\\|1\n2|NULL|NULL", "", ""},
		{"text header", "(HEADER)", "k\ts\tx\n1\tä\tinf\n", "k|s|x\n1|ä|Infinity", "", ""},
		{"empty", "(FORMAT csv)", "", "k|s|x", "", ""},
		{"bad integer", "(FORMAT csv)", "1,a,1\n2,b,2\nx3,c,3\n", "", sqlerr.InvalidText,
			`COPY t, line 3, column k: "x3", source data.csv`},
		{"out of range", "(FORMAT csv)", "99999999999,a,1\n", "", sqlerr.NumericOutOfRange,
			`COPY t, line 1, column k: "99999999999"`},
		{"bad float", "(FORMAT csv, HEADER)", "k,s,x\n1,\"two\nlines\",1\n2,b,oops\n", "", sqlerr.InvalidText,
			`COPY t, line 4, column x: "oops"`},
		{"missing column", "(FORMAT csv)", "1,a,1\n2,b\n", "", sqlerr.BadCopy, `COPY t, line 2: "2,b"`},
		{"extra column", "(FORMAT csv)", "1,a,1,9\n", "", sqlerr.BadCopy, `COPY t, line 1: "1,a,1,9"`},
		{"open quote", "(FORMAT csv)", "1,\"a,1\n2,b,2\n", "", sqlerr.BadCopy, "COPY t, line 1"},
		{"duplicate", "(FORMAT csv)", "1,a,1\n1,b,1\n", "", sqlerr.UniqueViolation, `COPY t, line 2: "1,b,1"`},
		{"null key", "(FORMAT csv)", ",a,1\n", "", sqlerr.NotNullViolation, "COPY t, line 1, column k: null input"},
		{"nan", "(FORMAT csv)", "1,a,NaN\n", "", sqlerr.NumericOutOfRange, "COPY t, line 1, column x: \"NaN\""},
		{"not utf8", "(FORMAT csv)", "1,\xff\xfe,1\n", "", "22021", "COPY t, line 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := openTemp(t)
			mustRun(t, db, "CREATE TABLE t (k int PRIMARY KEY, s text, x double precision)")
			st, text := copyStmt(t, "COPY t FROM STDIN "+c.options)
			n, err := db.CopyIn(context.Background(), st, text, strings.NewReader(c.data), "data.csv")
			if c.code != "" {
				e, _ := err.(*sqlerr.Error)
				if e == nil || e.Code != c.code || !strings.HasPrefix(e.Context, c.context) ||
					strings.HasSuffix(c.context, "csv") && e.Context != c.context {
					t.Fatalf("%v, context %q", err, e.Context)
				}
				c.want = "k|s|x" // nothing is loaded
			} else if err != nil {
				t.Fatal(err)
			}
			if got := show(db, "SELECT * FROM t ORDER BY k"); got != c.want {
				t.Errorf("%d rows\n got: %q\nwant: %q", n, got, c.want)
			}
		})
	}
}

func TestCopyColumns(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db,
		"CREATE TABLE t (n int GENERATED ALWAYS AS IDENTITY, part text DEFAULT 'train', line text, v real[], d "+
			"numeric(5,1), b bool)")
	load := func(sql, data string) error {
		st, text := copyStmt(t, sql)
		_, err := db.CopyIn(context.Background(), st, text, strings.NewReader(data), "")
		return err
	}
	for _, err := range []error{load("COPY t (line) FROM STDIN", "a,b\nc\n"),
		load("COPY t (line, v, d, b) FROM STDIN", "x\t{1,2}\t3.14159\tyes\n")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(t, db,
		[][2]string{{"SELECT * FROM t ORDER BY n",
			"n|part|line|v|d|b\n1|train|a,b|NULL|NULL|NULL\n2|train|c|NULL|NULL|NULL\n3|train|x|{1,2}|3.1|t"}})
	if err := load("COPY t (v) FROM STDIN", "{1,2,3}\n"); sqlerr.Code(err) != sqlerr.ArraySubscript {
		t.Error(err)
	}
	if err := load("COPY t (nosuch) FROM STDIN", ""); sqlerr.Code(err) != sqlerr.UndefinedColumn {
		t.Error(err)
	}
}

func TestCopyOut(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db,
		"CREATE TABLE t (k int, s text, b bool, v real[]); INSERT INTO t VALUES (1, 'a,\"b', true, '{1,2.5}'), (2, NULL, "+
			"false, NULL), (3, E'tab\\tnl\\n', NULL, NULL), (4, '', NULL, NULL)")
	for _, c := range [][2]string{
		{"COPY t TO STDOUT (FORMAT csv, HEADER)",
			"k,s,b,v\n1,\"a,\"\"b\",t,\"{1,2.5}\"\n2,,f,\n3,\"tab\tnl\n\",,\n4,\"\",,\n"},
		{"COPY t TO STDOUT", "1\ta,\"b\tt\t{1,2.5}\n2\t\\N\tf\t\\N\n3\ttab\\tnl\\n\t\\N\t\\N\n4\t\t\\N\t\\N\n"},
		{"COPY (SELECT k * 2 AS d FROM t WHERE k < 3 ORDER BY k DESC) TO STDOUT (FORMAT csv, HEADER, DELIMITER ';')",
			"d\n4\n2\n"},
		{"COPY t (s, k) TO STDOUT (NULL 'none')", "a,\"b\t1\nnone\t2\ntab\\tnl\\n\t3\n\t4\n"},
	} {
		st, text := copyStmt(t, c[0])
		var b bytes.Buffer
		if n, err := db.CopyOut(context.Background(), st, text, &b); err != nil || b.String() != c[1] {
			t.Errorf("%s: %d %v\n got: %q\nwant: %q", c[0], n, err, b.String(), c[1])
		}
	}
}

func TestCopyFiles(t *testing.T) {
	db, dir := openTemp(t), t.TempDir()
	mustRun(t, db, "CREATE TABLE t (k int, s text)")
	os.WriteFile(filepath.Join(dir, "a.csv"), []byte("1,x\n2,y\n"), 0o644)
	do := func(sql string) error {
		st, text := copyStmt(t, sql)
		_, err := db.CopyFile(context.Background(), st, text, dir)
		return err
	}
	for _, sql := range []string{"COPY t FROM 'a.csv' (FORMAT csv)", "COPY t FROM PROGRAM 'sed s/x/z/ a.csv' (FORMAT csv)",
		"COPY t FROM PROGRAM 'cat a.csv; sleep 3 > /dev/null &' (FORMAT csv)", // which goes on, and has its standard error
		"COPY t TO 'b.csv' (FORMAT csv)", "COPY t TO PROGRAM 'cat > c.csv'"} {
		if err := do(sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "b.csv")); string(b) != "1,x\n2,y\n1,z\n2,y\n1,x\n2,y\n" {
		t.Errorf("%q", b)
	}
	for sql, code := range map[string]string{
		"COPY t FROM 'nosuch.csv'":                             sqlerr.UndefinedFile,
		"COPY t FROM PROGRAM 'cat a.csv; exit 3' (FORMAT csv)": "38000",
		"COPY t FROM PROGRAM 'yes bad' (FORMAT csv)":           sqlerr.BadCopy,
		"COPY t TO '/nosuch/dir/x'":                            sqlerr.UndefinedFile,
	} {
		if err := do(sql); sqlerr.Code(err) != code {
			t.Errorf("%s: %s %v", sql, sqlerr.Code(err), err)
		}
	}
	check(t, db, [][2]string{{"SELECT count(*) FROM t", "count\n6"}})
}
