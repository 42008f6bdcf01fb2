package session

import (
	"context"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/sqlgen"
)

// statements runs SQL.
type statements struct {
	*server
	settings *settings
	types    *types
	names    *names
	reach    *reach
	watch    *watch
	queries  map[string]*subQuery // sub-queries by text, for the present state of the database
}

func (s *statements) drop() { s.queries = map[string]*subQuery{} }

// Dialect implements catalog.Database.
func (s *statements) Dialect() sqlgen.Dialect { return sqlgen.Postgres{} }

// Prepare has the server check a query: its syntax, its names, the caller's rights.
func (s *statements) Prepare(ctx context.Context, sql string) error {
	err := s.conn.Prepare(ctx, sql)
	if sqlerr.Code(err) != sqlerr.Syntax {
		return err
	}
	text := &ast.Text{SQL: sql}
	if sel, e := parse.ParseQuery(text); e == nil { // only relgrad has a file in FROM
		if e := noFile(sel); e != nil {
			return sqlerr.In(e, text)
		}
	}
	return err
}

// Query runs a SELECT. All chunks of a column must have one shape.
func (s *statements) Query(ctx context.Context, sel *ast.Select,
	text *ast.Text) ([]catalog.ResultCol, []*column.Column, error) {
	if err := noFile(sel); err != nil {
		return nil, nil, err
	}
	if err := s.use(ctx, sel); err != nil {
		return nil, nil, err
	}
	q, err := s.describe(ctx, sel)
	if err != nil {
		return nil, nil, atQuery(err, sel, text)
	}
	c := collector{what: "the sub-query"}
	if _, _, err := s.conn.Query(ctx, q.form(false), true, c.add); err != nil {
		return nil, nil, atQuery(err, sel, text)
	}
	var cols []catalog.ResultCol
	for i, name := range q.names {
		cols = append(cols, catalog.ResultCol{Name: name, Type: q.types[i].String()})
		if q.types[i].Name == "numeric" && !q.types[i].Array {
			if c.data[i], err = numeric(c.data[i]); err != nil {
				return nil, nil, err
			}
		}
		if c.data[i].Type().Kind == kernels.Text {
			c.data[i] = named(c.data[i], q.of[i])
		}
	}
	return cols, c.data, s.failed()
}

// noFile refuses a file in FROM.
func noFile(sel *ast.Select) (err error) {
	ast.Any(sel, func(f *ast.FuncFrom) bool {
		if f.Func.Name != "file_table" || f.Func.Schema != "" {
			return false
		}
		err = sqlerr.At(int(f.At), sqlerr.FeatureNotSupported, "a server reads no file in FROM").
			WithHint("relgrad import --db DSN FILE TABLE makes a table of it.")
		return true
	})
	return err
}

// Native prints a sub-query for generated SQL.
func (s *statements) Native(ctx context.Context, sel *ast.Select, text *ast.Text) (string, error) {
	q, err := s.describe(ctx, sel)
	if err != nil {
		return "", atQuery(err, sel, text)
	}
	return q.form(true), nil
}

// Rows runs a query of generated SQL and returns its columns.
func (s *statements) Rows(ctx context.Context, sql string) (names []string, data []*column.Column, err error) {
	return s.rowsOf(ctx, sql, true)
}

// FromTemp implements catalog.Filler: a query that only reads sees the state of the statement that calls the engine.
func (s *statements) FromTemp(ctx context.Context, sql string) ([]*column.Column, error) {
	_, data, err := s.rowsOf(ctx, sql, false)
	return data, err
}

func (s *statements) rowsOf(ctx context.Context, sql string, readOnly bool) (names []string, data []*column.Column,
	err error) {
	c := collector{what: "the query"}
	if _, _, err := s.conn.Query(ctx, sql, readOnly, c.add); err != nil {
		return nil, nil, bare(err)
	}
	for i, col := range c.cols {
		if col.OID == pgtype.NumericOID {
			if c.data[i], err = numeric(c.data[i]); err != nil {
				return nil, nil, err
			}
		}
		names = append(names, col.Name)
	}
	return names, c.data, nil
}

// estimated finds the planner's figures in the first line of EXPLAIN.
var estimated = regexp.MustCompile(`cost=([0-9.]+)\.\.([0-9.]+) rows=([0-9]+)`)

// Estimate returns what the planner expects of a query: its cost until the first and the last row, in the planner's
// units, and its rows.
func (s *statements) Estimate(ctx context.Context, sql string) (string, error) {
	res, err := s.result(ctx, "EXPLAIN "+sql)
	if err != nil {
		return "", bare(err)
	}
	m := estimated.FindStringSubmatch(fmt.Sprint(res.Rows[0][0]))
	if m == nil {
		return "", sqlerr.New(sqlerr.Internal, "internal error: no estimate in %q", res.Rows[0][0])
	}
	return fmt.Sprintf("cost %s to %s, %s rows", m[1], m[2], m[3]), nil
}

// Exec runs a statement that the engine has made, or a user's SELECT.
func (s *statements) Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*catalog.Result, error) {
	sql, err := print.PrintStatement(stmt)
	if err != nil {
		return nil, err
	}
	res, err := s.result(ctx, sql)
	if err != nil && stmt.Position() >= 0 {
		if e, ok := err.(*sqlerr.Error); ok {
			e.Text, e.Pos = text, int(stmt.Position())
		}
	}
	return res, err
}

// RunSQL runs one statement of our own.
func (s *statements) RunSQL(ctx context.Context, sql string) (*catalog.Result, error) {
	return s.result(ctx, sql)
}

// RunText runs a user's statement. Answers are forgotten, because it may change what names mean.
func (s *statements) RunText(ctx context.Context, p parse.Parsed, text *ast.Text) (ok bool, err error) {
	_, _, err = s.conn.Query(ctx, p.SQL, false, nil)
	s.forget()
	if e, ok := err.(*sqlerr.Error); ok && e.Text != nil && e.Text.SQL == p.SQL {
		e.Text, e.Pos = text, e.Pos+int(p.At)
	}
	return true, err
}

// use reports the tables that a query reads, also behind views and functions, to whoever watches.
func (s *statements) use(ctx context.Context, sel *ast.Select) error {
	if s.watch.look == nil {
		return nil
	}
	r, err := s.reach.Reach(ctx, print.Print(sel))
	if err != nil {
		return err
	}
	for _, t := range r.Tables {
		if found := s.names.find(nil, t.Schema, t.Name); t.Schema != "" && found != nil && found.table != nil {
			if err := s.watch.see(t.Schema, t.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// atQuery gives an error inside a sub-query the position of the sub-query.
func atQuery(err error, sel *ast.Select, text *ast.Text) error {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		return err
	}
	out := *e
	out.Text, out.Pos = text, int(sel.At)
	return &out
}
