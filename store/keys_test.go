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
