package psql

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/plpgsql"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store"
)

// broken is a store that panics at a statement of the interpreter's; the script's own reach it first.
type broken struct {
	script.EmbeddedStore
	at string
}

func (b broken) Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*script.Result, error) {
	if b.at != "" && text != nil && strings.Contains(text.SQL, b.at) {
		panic("planted")
	}
	return b.EmbeddedStore.Exec(ctx, stmt, text)
}

// brokenWriter panics when it is given a text.
type brokenWriter struct {
	io.Writer
	at string
}

func (b brokenWriter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), b.at) {
		panic("planted")
	}
	return b.Writer.Write(p)
}

// TestPanicsAreErrors: wherever a panic happens, the statement fails with an internal error that asks for a report,
// nothing of it stays, and the session goes on.
func TestPanicsAreErrors(t *testing.T) {
	for _, c := range []struct{ name, sql, want string }{
		{"in the store", "INSERT INTO t VALUES (99);", ""},
		{"in a block that has written", "DO $$ BEGIN INSERT INTO t VALUES (2); INSERT INTO t VALUES (99); END $$;", ""},
		{"in a function", "SELECT f();", ""},
		{"behind an exception block", "DO $$ BEGIN INSERT INTO t VALUES (2); BEGIN INSERT INTO t VALUES (99); EXCEPTION " +
			"WHEN unique_violation THEN NULL; END; END $$;", ""},
		{"in a notice", "DO $$ BEGIN INSERT INTO t VALUES (2); RAISE NOTICE 'planted'; END $$;", ""},
		{"in a command", "\\echo planted", ""},
		{"in a result", "SELECT 'planted' AS x;", ""},
		{"in an open transaction", "BEGIN; INSERT INTO t VALUES (2); INSERT INTO t VALUES (99); COMMIT;", "ROLLBACK"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := store.OpenTemp()
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var out bytes.Buffer
			w := brokenWriter{&out, "planted\n"}
			r := NewRunner(broken{script.EmbeddedStore{Engine: db}, "VALUES (99)"},
				Options{Stdout: w, Stderr: &out, Format: FormatUnaligned})
			notice := r.Interp.Notice
			r.Interp.Notice = func(n script.Notice) {
				if n.Message == "planted" {
					panic("planted")
				}
				notice(n)
			}
			sql := "\\set ON_ERROR_STOP off\nCREATE TABLE t (k int PRIMARY KEY);\nINSERT INTO t VALUES (1);\n" +
				"CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (2); INSERT INTO t VALUES " +
				"(99); RETURN 1; END $$;\n" +
				c.sql + "\nINSERT INTO t VALUES (3);\nSELECT string_agg(k::text, ' ' ORDER BY k) AS keys FROM t;\n"
			if err := r.RunReader(context.Background(), "", strings.NewReader(sql)); err != nil {
				t.Fatal(err, out.String())
			}
			got := out.String()
			for _, want := range []string{"internal error: planted", "please report it", "rescue_test.go:",
				"keys\n1 3\n", c.want} {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
		})
	}
}

// TestInterpPanics: the same where no Runner stands around the interpreter.
func TestInterpPanics(t *testing.T) {
	db, err := store.OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	in := plpgsql.NewInterp(broken{script.EmbeddedStore{Engine: db}, "VALUES (99)"}, nil)
	if _, err := in.ExecText(context.Background(), &ast.Text{SQL: "CREATE TABLE t (k int)"}); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"INSERT INTO t VALUES (99)",
		"DO $$ BEGIN INSERT INTO t VALUES (2); INSERT INTO t VALUES (99); END $$"} {
		_, err := in.ExecText(context.Background(), &ast.Text{SQL: sql})
		if sqlerr.Code(err) != sqlerr.Internal || db.InTransaction() {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if res, err := in.ExecText(context.Background(), &ast.Text{SQL: "SELECT * FROM t"}); err != nil || len(res.Rows) > 0 {
		t.Error(res, err)
	}
}

// TestCallbacksThatPanic: what a Go program hangs in panics while a statement of the engine runs.
func TestCallbacksThatPanic(t *testing.T) {
	db, err := relgrad.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, sql := range []string{"CREATE TABLE w (id int PRIMARY KEY, x double precision)", "INSERT INTO w VALUES (1, 2)",
		"CREATE VIEW loss AS SELECT sum(x * x) AS l FROM w"} {
		if _, err := db.Run(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	compiling := func() { panic("planted") }
	for _, sql := range []string{"SELECT * FROM gradient('loss', NULL::w)", "SELECT backward('loss', ARRAY['w'])",
		"CALL train('loss', ARRAY['w'], epochs => 2)"} {
		// planned anew
		if _, err := db.Run(context.Background(),
			"CREATE OR REPLACE VIEW loss AS SELECT sum(x * x) AS l FROM w"); err != nil {
			t.Fatal(err)
		}
		db.OnCompiling = compiling
		_, err := db.Run(context.Background(), sql)
		if sqlerr.Code(err) != sqlerr.Internal || !strings.Contains(err.Error(), "internal error: planted") {
			t.Errorf("%s: %v", sql, err)
		}
		db.OnCompiling = nil
		if db.InTransaction() {
			t.Errorf("%s: its transaction is open", sql)
		}
		if _, err := db.Run(context.Background(), sql); err != nil {
			t.Errorf("%s, again: %v", sql, err)
		}
	}
	if _, err := db.Gradient(context.Background(), "loss", "w", nil, 0); err != nil {
		t.Error(err)
	}
}
