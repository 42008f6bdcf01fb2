package store

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// panicking is a reader that panics after its text.
type panicking struct{ io.Reader }

func (p panicking) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err == io.EOF {
		panic("planted")
	}
	return n, err
}

// TestPanicsAreErrors: a panic on the way of a statement is its error, names its place and leaves the store as it was.
func TestPanicsAreErrors(t *testing.T) {
	for _, begin := range []string{"", "BEGIN"} {
		db := openTemp(t)
		mustRun(t, db, "CREATE TABLE t (k int PRIMARY KEY); INSERT INTO t VALUES (1)")
		check := func(what string, err error) {
			t.Helper()
			if sqlerr.Code(err) != sqlerr.Internal || !strings.Contains(sqlerr.Render(err), "rescue_test.go:") ||
				!strings.Contains(sqlerr.Render(err), "please report it") {
				t.Errorf("%s after %q: %v", what, begin, err)
			}
			if begin != "" && !db.failed {
				t.Errorf("%s: the transaction goes on", what)
			}
			if begin != "" {
				mustRun(t, db, "ROLLBACK")
			}
			if got := show(db, "SELECT k FROM t"); got != "k\n1" || db.InTransaction() || db.c.InTransaction() {
				t.Errorf("%s after %q: %s", what, begin, got)
			}
		}
		for _, sql := range []string{"INSERT INTO t VALUES (2)", "SELECT * FROM t", "UPDATE t SET k = 3", "DELETE FROM t",
			"CREATE TABLE u AS SELECT * FROM t"} {
			mustRun(t, db, begin)
			db.OnUse = func(string, string) error { panic("planted") }
			_, err := run(db, sql)
			db.OnUse = nil
			if err != nil || !strings.HasPrefix(sql, "SELECT") { // whose table is not looked at before it runs
				check(sql, err)
			} else if begin != "" {
				mustRun(t, db, "ROLLBACK")
			}
		}
		mustRun(t, db, begin)
		text := &ast.Text{SQL: "COPY t FROM STDIN"}
		ps, err := parse.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.CopyIn(context.Background(), ps[0].Stmt.(*ast.Copy), text, panicking{strings.NewReader("5\n6\n")},
			"stdin")
		check("COPY", err)
	}
}
