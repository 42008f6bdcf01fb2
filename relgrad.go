// Package relgrad differentiates losses written as SQL queries and trains with them where the data lives.
//
// # What
//
// Open opens an embedded store. In statements of the DB, gradient(), backward(), check_gradient(), explain_gradient()
// and CALL train() work, and they are Go methods too. Query takes values of Go for $1, $2, …, and Dense makes a
// matrix of gonum of a chunk. Dial does the same with the tables of a server, whose statements any driver runs. OnStep
// is called after each step of a training. A session holds an engine (package engine) and a trainer (package
// train/run). This package is the public door: it catches their panics and shapes their errors.
//
// # Invariants
//
// A statement is done completely or leaves the store unchanged; train() is a sequence of commits, of which the last one
// stays. A DB is one session, used by one goroutine at a time.
//
// # Errors
//
// Every error is an [Error], with SQLSTATE, position, detail and hint, or wraps one.
//
// # Where to add
//
// A function of the SQL surface: its work in package engine, its name in functions.go and server.go. Options of
// train(): package train.
package relgrad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store"
	"github.com/relgrad/relgrad/train/run"
)

// DB is a session on an embedded store, with the engine's functions.
type DB struct {
	*store.DB
	*Engine
	// ViewRows is the number of stored rows from which a view that aggregates chunks runs on the executor in ordinary
	// statements; 64 elements of a chunk count as a row. 0 means 1000, a negative number never. Results depend on it
	// only by the order of summation.
	ViewRows int64
	// Dir is where relative names begin, those of files in FROM, of delta_table() and of folders of COPY; "" is the
	// process's folder.
	Dir    string
	closed bool
}

// Open opens the store in a file and creates it if it does not exist; "" is a temporary store.
func Open(path string) (_ *DB, failed error) {
	defer exported(&failed)
	if path == "" {
		return newSession(store.OpenTemp())
	}
	return newSession(store.Open(path))
}

// OpenReadOnly opens a store that exists and writes nothing into it.
func OpenReadOnly(path string) (_ *DB, failed error) {
	defer exported(&failed)
	return newSession(store.OpenReadOnly(path))
}

// newSession makes a session of a store.
func newSession(s *store.DB, err error) (*DB, error) {
	if err != nil {
		return nil, err
	}
	db := &DB{DB: s}
	h := embedded{s, &db.Dir}
	db.Engine = newEngine(h)
	s.SetIntrinsics(&functions{db})
	err = db.createRunTables(context.Background())
	if err == nil {
		err = h.markInterrupted(context.Background())
		s.SetTrained(h.trained)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return db, nil
}

// Close ends the session.
func (db *DB) Close() (failed error) {
	defer exported(&failed)
	db.closed = true
	db.core.Close()
	return db.DB.Close()
}

// Exec runs one statement; positions in stmt point into text.
func (db *DB) Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (_ *catalog.Result, failed error) {
	defer exported(&failed)
	if db.closed {
		return nil, sqlerr.New("08003", "the session is closed")
	}
	defer db.rescue(db.InTransaction(), &failed)
	ctx, done := db.Timed(ctx)
	defer done(&failed)
	if c, ok := stmt.(*ast.Call); ok {
		if c.Func.Name != "train" || c.Func.Schema != "" && c.Func.Schema != "relgrad" {
			return nil, sqlerr.In(db.noProcedure(c.Func), text)
		}
		if err := db.trainer.Call(ctx, c.Func); err != nil {
			db.Abort()
			if ctx.Err() != nil && sqlerr.Code(err) != sqlerr.QueryCanceled { // before the first step
				err = sqlerr.Canceled(err)
			}
			return nil, sqlerr.In(err, text)
		}
		return &catalog.Result{Tag: "CALL"}, nil
	}
	if err := db.keepRunTables(stmt); err != nil {
		return nil, sqlerr.In(err, text)
	}
	if c, ok := stmt.(*ast.Copy); ok && (c.Options.IsFile() || c.Options.IsFolder()) && !c.Std && !c.Program {
		return db.copyNamed(ctx, c, text)
	}
	return db.DB.Exec(ctx, stmt, text)
}

// SelectEach runs a query, or a statement with RETURNING, and keeps no rows: start gets its columns, each gets every
// row.
func (db *DB) SelectEach(ctx context.Context, stmt ast.Statement, text *ast.Text, start func([]catalog.ResultCol) error,
	each func([]any) error) (_ *catalog.Result, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	ctx, done := db.Timed(ctx)
	defer done(&failed)
	return db.DB.SelectEach(ctx, stmt, text, start, each)
}

// keepRunTables refuses to drop or rename the tables in which train records its runs, as the extension does on a
// server.
func (db *DB) keepRunTables(stmt ast.Statement) error {
	kept := func(at ast.Pos, doing, schema, name string) error {
		if !slices.Contains([]string{"run", "loss", "state", "validation"}, name) || db.Definition("relgrad", name) == nil ||
			db.Definition("relgrad", name) != db.Definition(schema, name) {
			return nil
		}
		return sqlerr.At(int(at), "2BP01", "cannot %s table %s: train records its runs there", doing, name).
			WithHint("DELETE FROM relgrad.%s; empties it, relgrad runs delete removes single runs.", name)
	}
	switch s := stmt.(type) {
	case *ast.Drop:
		for _, n := range s.Names {
			if s.Kind != "table" {
				continue
			}
			if err := kept(s.At, "drop", n.Schema, n.Name); err != nil {
				return err
			}
		}
	case *ast.AlterTable:
		for _, a := range s.Actions {
			if a.Kind == "rename" {
				return kept(s.At, "rename", s.Schema, s.Name)
			}
		}
	}
	return nil
}

func (db *DB) noProcedure(c *ast.FuncCall) error {
	e := sqlerr.At(int(c.At), sqlerr.UndefinedFunction, "procedure %s does not exist", c.Name)
	switch c.Name {
	case "gradient", "backward", "check_gradient", "explain_gradient":
		return e.WithHint("%s is a function: SELECT … %s(…).", c.Name, c.Name)
	}
	if near := sqlerr.Nearest(c.Name, append(db.Functions(), "train")); near != "" {
		e = e.WithHint("Perhaps you meant %q.", near)
	}
	return e
}

// Run runs the statements of a text one after the other and returns the last one's result.
func (db *DB) Run(ctx context.Context, sql string) (_ *catalog.Result, failed error) {
	defer exported(&failed)
	return runText(ctx, sql, db.Exec)
}

// Query runs one statement, with args in place of $1, $2, …. An argument is nil (NULL), an integer, a float, a bool, a
// string or a time.Time (of the type that the context asks for, like a quoted text in SQL), a chunk ([]float32,
// []float64, [][]float64, a mat.Matrix of gonum or a *tensor.Tensor), or a list ([]int64, []string), for = ANY ($1).
// Statements that define something, such as CREATE VIEW, keep their text and take none.
//
// Of a wrong number of arguments the error has 08P01, of another type of Go 42804.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (_ *catalog.Result, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed) // of the arguments' own methods
	text := &ast.Text{SQL: sql}
	stmts, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(stmts) != 1 {
		return nil, sqlerr.New(sqlerr.Syntax, "%d statements, not one", len(stmts)).
			WithHint("Run runs several statements, without arguments.")
	}
	stmt, err := withArgs(stmts[0].Stmt, args)
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	return db.Exec(ctx, stmt, text)
}

// runText runs the statements of a text one after the other and returns the last one's result.
func runText(ctx context.Context, sql string,
	exec func(context.Context, ast.Statement, *ast.Text) (*catalog.Result, error)) (*catalog.Result, error) {
	text := &ast.Text{SQL: sql}
	stmts, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	var last *catalog.Result
	for _, s := range stmts {
		if last, err = exec(ctx, s.Stmt, text); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// createRunTables creates the tables of runs in a new store.
func (db *DB) createRunTables(ctx context.Context) error {
	def := db.Definition("relgrad", "run")
	switch {
	case def == nil:
		_, err := db.Run(ctx, run.Tables)
		return err
	case db.ReadOnly():
		return nil
	}
	if err := db.renewRunTables(ctx, def); err != nil || db.Definition("relgrad", "validation") != nil {
		return err
	}
	_, err := db.Run(ctx, run.Tables) // of an older relgrad, which had no figures beside the first
	return err
}

// renewRunTables gives the tables of runs that an older relgrad made the columns of today.
func (db *DB) renewRunTables(ctx context.Context, def *catalog.TableDef) error {
	var alter []string
	lacks := func(c string) bool { return def.Column(c) < 0 }
	if lacks("progress") {
		alter = append(alter, "ADD COLUMN progress text")
	}
	switch {
	case !lacks("context"):
	case lacks("rest"):
		alter = append(alter, "ADD COLUMN context text")
	default:
		alter = append(alter, "RENAME COLUMN rest TO context")
	}
	if lacks("waited") {
		alter = append(alter, "RENAME COLUMN since TO waited")
	}
	if lacks("name") {
		alter = append(alter, "ADD COLUMN name text", "ADD COLUMN note text", "ADD COLUMN tags text[]",
			"ALTER COLUMN options TYPE jsonb USING options::jsonb", "ALTER COLUMN started TYPE timestamptz",
			"ALTER COLUMN updated TYPE timestamptz")
	}
	if lacks("parameters") {
		alter = append(alter, "ADD COLUMN parameters text[]")
	}
	if len(alter) == 0 {
		return nil
	}
	sql := "BEGIN; "
	for _, a := range alter {
		sql += "ALTER TABLE relgrad.run " + a + "; "
	}
	if lacks("name") {
		sql += "ALTER TABLE relgrad.loss ALTER COLUMN at TYPE timestamptz; "
	}
	if lacks("parameters") {
		res, err := db.Run(ctx, "SELECT run, params FROM relgrad.run")
		if err != nil {
			return err
		}
		for _, row := range res.Rows {
			var params []string
			if text, _ := row[1].(string); json.Unmarshal([]byte(text), &params) == nil {
				sql += fmt.Sprintf("UPDATE relgrad.run SET parameters = %s::text[] WHERE run = %d; ",
					sqltext.Text(sqltext.Array(params)), row[0])
			}
		}
		sql += "ALTER TABLE relgrad.run DROP COLUMN params; "
	}
	_, err := db.Run(ctx, sql+"COMMIT")
	if err != nil && db.InTransaction() {
		err = errors.Join(err, db.Rollback())
	}
	return err
}
