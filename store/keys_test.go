package store

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestKeysThatNobodyGave: rows that COPY and files bring without a key, or with one that is NULL, are refused
// (testdata/keys.sql has the statements).
func TestKeysThatNobodyGave(t *testing.T) {
	for _, key := range []string{"smallint PRIMARY KEY", "int PRIMARY KEY", "bigint PRIMARY KEY",
		"int DEFAULT NULL PRIMARY KEY", "text PRIMARY KEY", "int NOT NULL"} {
		for _, c := range []struct{ copy, data string }{
			{"COPY p (t) FROM STDIN", "six\n"},
			{"COPY p FROM STDIN", "\\N\tsix\n"},
			{"COPY p (t, i) FROM STDIN (FORMAT csv)", "six,\n"},
		} {
			db := openTemp(t)
			mustRun(t, db, "CREATE TABLE p (i "+key+", t text)")
			st, text := copyStmt(t, c.copy)
			_, err := db.CopyIn(context.Background(), st, text, strings.NewReader(c.data), "data")
			if sqlerr.Code(err) != sqlerr.NotNullViolation || show(db, "SELECT * FROM p") != "i|t" {
				t.Errorf("%s, %s: %v %s", key, c.copy, err, show(db, "SELECT * FROM p"))
			}
		}
		for _, cols := range [][]string{{"t"}, {"t", "i"}} {
			db := openTemp(t)
			mustRun(t, db, "CREATE TABLE p (i "+key+", t text)")
			st, text := copyStmt(t, "COPY p FROM STDIN")
			n := 0
			_, err := db.CopyInRows(context.Background(), st, text, "data", func(*catalog.TableDef) (RowSource, error) {
				return RowSource{Cols: cols, Next: func(row []any) error {
					if n++; n > 1 {
						return io.EOF
					}
					row[0] = "six"
					return nil
				}}, nil
			})
			if sqlerr.Code(err) != sqlerr.NotNullViolation || show(db, "SELECT * FROM p") != "i|t" {
				t.Errorf("%s, columns %v of a file: %v", key, cols, err)
			}
		}
	}
}

// TestNamesOfKeysOfTheSameColumns: of several keys over the same columns one is kept, under the first name that one of
// them was given.
func TestNamesOfKeysOfTheSameColumns(t *testing.T) {
	for _, c := range []struct{ cols, values, name string }{
		{"id int PRIMARY KEY, CONSTRAINT foo UNIQUE (id)", "(1)", "foo"},
		{"id int UNIQUE, CONSTRAINT foo UNIQUE (id), CONSTRAINT bar UNIQUE (id)", "(1)", "foo"},
		{"id int CONSTRAINT pk PRIMARY KEY, CONSTRAINT foo UNIQUE (id)", "(1)", "pk"},
		{"id int CONSTRAINT foo UNIQUE PRIMARY KEY", "(1)", "foo"},
		{"a int, b int, UNIQUE (a, b), CONSTRAINT foo UNIQUE (b, a)", "(1, 2)", "foo"},
		{"id int PRIMARY KEY, UNIQUE (id)", "(1)", "q_pkey"},
	} {
		db := openTemp(t)
		mustRun(t, db, "CREATE TABLE q ("+c.cols+")")
		mustRun(t, db, "INSERT INTO q VALUES "+c.values)
		st, text := parseOne(t, "INSERT INTO q VALUES "+c.values)
		_, err := db.Exec(t.Context(), st, text)
		if err == nil || !strings.Contains(err.Error(), "constraint \""+c.name+"\"") {
			t.Errorf("%s: %v, not of %s", c.cols, err, c.name)
		}
	}
}

// TestKeysOfRowsThatAreThere: rows that break a key or an index that is being made are refused under its name.
func TestKeysOfRowsThatAreThere(t *testing.T) {
	for _, c := range []struct{ before, sql, name string }{
		{"", "CREATE UNIQUE INDEX i1 ON q (a)", "i1"},
		{"", "CREATE UNIQUE INDEX i1 ON q ((a + 1))", "i1"},
		{"", "CREATE UNIQUE INDEX \"i'1\" ON q (lower(t))", "i'1"},
		{"", "ALTER TABLE q ADD PRIMARY KEY (a)", "q_pkey"},
		{"", "ALTER TABLE q ADD CONSTRAINT foo UNIQUE (a, t)", "foo"},
		{"", "ALTER TABLE q ADD UNIQUE (a)", "q_a_key"},
		{"CREATE UNIQUE INDEX i1 ON q (i)", "ALTER TABLE q ALTER i TYPE bigint USING 1", "i1"},
		{"ALTER TABLE q ADD CONSTRAINT foo UNIQUE (i)", "ALTER TABLE q ALTER i TYPE bigint USING 1", "foo"},
		{"CREATE UNIQUE INDEX i1 ON q ((i + 1))", "UPDATE q SET i = 1", "unique constraint \"i1\""},
		{"CREATE SCHEMA s; CREATE TABLE s.q AS TABLE q; CREATE UNIQUE INDEX \"i'1\" ON s.q ((i + 1))",
			"INSERT INTO s.q VALUES (1, 1, 'y')", "unique constraint \"i'1\""},
	} {
		db := openTemp(t)
		script := "CREATE TABLE q (a int, i int, t text); INSERT INTO q VALUES (1, 1, 'x'), (1, 2, 'x')"
		if c.before != "" {
			script += "; " + c.before
		}
		for _, sql := range strings.Split(script, "; ") {
			mustRun(t, db, sql)
		}
		want := c.name
		if !strings.Contains(want, " ") {
			want = "could not create unique index \"" + c.name + "\""
		}
		st, text := parseOne(t, c.sql)
		_, err := db.Exec(t.Context(), st, text)
		if sqlerr.Code(err) != sqlerr.UniqueViolation || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s; %s: %v", c.before, c.sql, err)
		}
	}
}
