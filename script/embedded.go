package script

import (
	"context"
	"io"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Engine is an embedded store, alone (*store.DB) or with the engine's functions (*relgrad.DB).
type Engine interface {
	Session
	Statements
	Relations
	catalog.Recoverer
	catalog.Filed
	// Timed is a context that ends when the session's statement_timeout does; done puts that into the statement's
	// error.
	Timed(ctx context.Context) (_ context.Context, done func(*error))
	// Setting is a configuration parameter of the session; false for an unknown one.
	Setting(name string) (string, bool)
}

// Statements runs statements as trees.
type Statements interface {
	Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*catalog.Result, error)
	// SelectEach keeps no rows: start gets the columns, each gets every row.
	SelectEach(ctx context.Context, stmt ast.Statement, text *ast.Text, start func([]catalog.ResultCol) error,
		each func([]any) error) (*catalog.Result, error)
	// Described gives the columns of a statement's rows without running it.
	Described(ctx context.Context, st ast.Statement, text *ast.Text) ([]catalog.ResultCol, error)
	CopyIn(ctx context.Context, c *ast.Copy, text *ast.Text, r io.Reader, name string) (int64, error)
	CopyOut(ctx context.Context, c *ast.Copy, text *ast.Text, w io.Writer) (int64, error)
}

// Relations tells what names mean.
type Relations interface {
	SearchPath() []string
	Function(schema, name string) *ast.CreateFunction
	Definition(schema, name string) *catalog.TableDef
	View(path []string, schema, name string) (*catalog.ViewDef, bool)
	Objects() (*catalog.Objects, error)
	// NamesType reports whether a type has this name.
	NamesType(schema, name string) bool
}

// Nest implements plpgsql's nester.
func (e EmbeddedStore) Nest(run func(context.Context, ast.Statement, *ast.Text) error) {
	if db, ok := e.Engine.(*relgrad.DB); ok {
		db.RunStatement = run
	}
}

// MoveTo makes a folder the one where relative names of folders and files begin.
func (e EmbeddedStore) MoveTo(dir string) {
	if db, ok := e.Engine.(*relgrad.DB); ok {
		db.Dir = dir
	}
}

// Embedded makes a Store of an embedded store.
func Embedded(e Engine) Store { return EmbeddedStore{e} }

// EmbeddedStore is a Store on an embedded store. Function and COPY are the store's own methods.
type EmbeddedStore struct{ Engine }

func (e EmbeddedStore) Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*Result, error) {
	res, err := e.Engine.Exec(ctx, stmt, text)
	if err != nil {
		return nil, err
	}
	out := ResultOf(res)
	if res.Notice != "" {
		n := Notice{Level: "NOTICE", Message: res.Notice}
		switch stmt.(type) {
		case *ast.Transaction, *ast.Set, *ast.Noop:
			n.Level = "WARNING"
		}
		out.Notices = []Notice{n}
		if _, ok := stmt.(*ast.Drop); ok { // a line for each object
			out.Notices = nil
			for line := range strings.Lines(res.Notice) {
				n.Message = strings.TrimSuffix(line, "\n")
				out.Notices = append(out.Notices, n)
			}
		}
	}
	return out, nil
}

// SelectEach implements plpgsql's streamer.
func (e EmbeddedStore) SelectEach(ctx context.Context, stmt ast.Statement, text *ast.Text, start func([]Col) error,
	each func([]any) error) (*Result, error) {
	begin := func(cols []catalog.ResultCol) error { return start(columnsOf(cols)) }
	res, err := e.Engine.SelectEach(ctx, stmt, text, begin, each)
	if err != nil {
		return nil, err
	}
	return ResultOf(res), nil
}

// Described and Names implement plpgsql's binding.
func (e EmbeddedStore) Described(ctx context.Context, st ast.Statement, text *ast.Text) ([]Col, error) {
	cols, err := e.Engine.Described(ctx, st, text)
	return columnsOf(cols), err
}

func (e EmbeddedStore) Names(schema, name string) bool { return e.NamesType(schema, name) }

// Columns describes a table or view.
func (e EmbeddedStore) Columns(schema, name string) ([]Col, bool) {
	var out []Col
	if t := e.Definition(schema, name); t != nil {
		for _, c := range t.Cols {
			out = append(out, Col{c.Name, c.Type.String()})
		}
		return out, true
	}
	if v, ok := e.View(e.SearchPath(), schema, name); ok {
		for _, c := range v.Cols {
			out = append(out, Col{c.Name, c.Type.String()})
		}
		return out, true
	}
	return nil, false
}

func columnsOf(cols []catalog.ResultCol) []Col {
	var out []Col
	for _, c := range cols {
		out = append(out, Col(c))
	}
	return out
}

func ResultOf(res *catalog.Result) *Result {
	return &Result{Tag: res.Tag, HasRows: res.HasRows, Rows: res.Rows, Cols: columnsOf(res.Cols)}
}
