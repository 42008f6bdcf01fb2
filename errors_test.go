package relgrad_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/train"
)

// TestErrorsArePublic: whatever fails says so by an Error, which a program outside of this module can name, with the
// SQLSTATE that belongs to it; the cause stays reachable.
func TestErrorsArePublic(t *testing.T) {
	ctx := context.Background()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	db, err := relgrad.Open(filepath.Join(t.TempDir(), "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(ctx,
		"CREATE TABLE w (id int PRIMARY KEY, x double precision); INSERT INTO w SELECT i, i FROM generate_series(1, 9) AS "+
			"g(i); CREATE VIEW l AS SELECT sum(x * x) FROM w"); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "f.parquet")
	if err := os.WriteFile(text, []byte("no parquet file"), 0o600); err != nil {
		t.Fatal(err)
	}
	imported := func(file, table, format string) error {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, err = db.Import(ctx, f, file, table, relgrad.FileOptions{Format: format})
		return err
	}
	config := train.Default()
	for _, tc := range []struct {
		name, state string
		cause       error
		call        func() error
	}{
		{"Open, no folder", "58P01", nil, func() error { _, err := relgrad.Open("/nowhere/m.db"); return err }},
		{"Run, syntax", "42601", nil, func() error { _, err := db.Run(ctx, "SELEC 1"); return err }},
		{"Run, unknown", "42P01", nil, func() error { _, err := db.Run(ctx, "SELECT * FROM v"); return err }},
		{"Run, cancelled", "57014", context.Canceled,
			func() error { _, err := db.Run(gone, "SELECT count(*) FROM w a, w b"); return err }},
		{"Exec", "42883", nil, func() error {
			text := &ast.Text{SQL: "CALL fit()"}
			stmts, err := parse.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(ctx, stmts[0].Stmt, text)
			return err
		}},
		{"Gradient", "42P01", nil, func() error { _, err := db.Gradient(ctx, "l", "v", nil, 0); return err }},
		{"Gradient, cancelled", "57014", context.Canceled,
			func() error { _, err := db.Gradient(gone, "l", "w", nil, 0); return err }},
		{"Backward", "42P01", nil, func() error { _, err := db.Backward(ctx, "m", []string{"w"}, nil, 0); return err }},
		{"Check", "42P01", nil, func() error {
			_, err := db.Check(ctx, "l", "v",
				engine.CheckOptions{Samples: 1})
			return err
		}},
		{"Explain", "22023", nil, func() error { _, err := db.Explain(ctx, "l", []string{"w"}, "plan"); return err }},
		{"Analyze", "42P01", nil, func() error { _, err := db.Analyze(ctx, "m", []string{"w"}, "", 0); return err }},
		{"Train", "42P01", nil, func() error { _, err := db.Train(ctx, "m", []string{"w"}, config); return err }},
		{"Resume", "42704", nil, func() error { _, err := db.Resume(ctx, 77); return err }},
		{"DeleteRuns", "42704", nil, func() error { return db.DeleteRuns(ctx, 77) }},
		{"Import, no such format", "22023", nil, func() error { return imported(text, "w", "xls") }},
		{"Import, malformed", "22P04", nil, func() error { return imported(text, "w", "parquet") }},
		{"Export", "42P01", nil, func() error {
			_, err := db.Export(ctx, &strings.Builder{}, "f", relgrad.FileOptions{Format: "npz"}, "v")
			return err
		}},
		{"Begin, twice", "25001", nil, func() error { defer db.Rollback(); return errors.Join(db.Begin(), db.Begin()) }},
		{"Dial", "", conn.ErrConnect, func() error {
			_,
				err := relgrad.Dial(ctx, "host=/nowhere user=u", nil)
			return err
		}},
	} {
		err := tc.call()
		var e *relgrad.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %T %v", tc.name, err, err)
			continue
		}
		if e.Message == "" || len(e.SQLState()) != 5 || tc.state != "" && e.SQLState() != tc.state {
			t.Errorf("%s: %s %s, want %s", tc.name, e.SQLState(), e.Message, tc.state)
		}
		if tc.cause != nil && !errors.Is(err, tc.cause) {
			t.Errorf("%s: %v does not wrap %v", tc.name, err, tc.cause)
		}
	}
}

// TestErrorPosition: a position is a character, counted from 1; 0 is none.
func TestErrorPosition(t *testing.T) {
	db, err := relgrad.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for sql, want := range map[string]int{"SELECT x": 8, "SELECT 'größer', x": 18, "SELECT 1;\n  SELECT y": 20} {
		_, err := db.Run(context.Background(), sql)
		var e *relgrad.Error
		if !errors.As(err, &e) || e.Position() != want {
			t.Errorf("%s: %v at %d, want %d", sql, err, e.Position(), want)
		}
	}
	if e := (&relgrad.Error{Pos: -1}); e.Position() != 0 {
		t.Errorf("no text: %d", e.Position())
	}
}
