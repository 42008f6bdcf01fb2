package store

import (
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// Native prints a query in SQLite's dialect, with its constants and views, so that generated SQL can contain it. A
// query that calls functions of the engine has no such form.
func (db *DB) Native(ctx context.Context, sel *ast.Select, text *ast.Text) (sql string, err error) {
	b := newWriter(ctx, db, text)
	b.Literal = true
	defer b.Catch(&err)
	defer b.Release()
	q := b.SelectQuery(sel, nil)
	q.Settle(b.Binder)
	for i, c := range q.Columns {
		if c.Type.Is(catalog.Numeric) { // a loss reads it as double precision
			q.Coerce(b.Binder, i, catalog.Float8)
		}
	}
	if len(b.Results) > 0 {
		return "", sqlerr.New(sqlerr.FeatureNotSupported,
			"a sub-query that calls gradient(), check_gradient(), delta_table() or delta_tensor() has no form in SQL").
			Wrap(catalog.ErrEngineRows)
	}
	return b.Finish(q.With, q.Body()), nil
}

// QueryNative runs one SELECT in SQLite's dialect, as package sqlgen prints it. Chunks are returned as tensors, all
// other values as SQLite holds them.
func (db *DB) QueryNative(ctx context.Context, sql string) (*catalog.Result, error) {
	stop := db.watch(ctx)
	defer stop()
	out := &catalog.Result{HasRows: true}
	s, err := db.c.Prepare(strings.TrimRight(strings.TrimSpace(sql), ";"))
	if err != nil {
		return nil, db.translate(err)
	}
	defer s.Close()
	if !s.ReadOnly() {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "only a SELECT can be run in SQLite's dialect")
	}
	for i := range s.Cols() {
		out.Cols = append(out.Cols, catalog.ResultCol{Name: s.Name(i), Type: "text"})
	}
	if err := s.Bind(); err != nil {
		return nil, db.translate(err)
	}
	for {
		more, err := s.Step()
		if err != nil {
			return nil, db.translate(err)
		}
		if !more {
			return out, nil
		}
		cells := s.Row()
		vals := make([]any, len(cells))
		for i := range cells {
			v, typ, err := nativeValue(&cells[i])
			if err != nil {
				return nil, err
			}
			if vals[i] = v; v != nil {
				out.Cols[i].Type = typ
			}
		}
		out.Rows = append(out.Rows, vals)
	}
}

func nativeValue(c *lite.Cell) (any, string, error) {
	switch c.Kind() {
	case lite.Null:
		return nil, "", nil
	case lite.Integer:
		return c.Int(), "bigint", nil
	case lite.Float:
		return c.Float(), "double precision", nil
	case lite.Blob:
		t, err := tensor.Decode(c.Bytes())
		if err != nil {
			return nil, "", sqlerr.New(sqlerr.DataCorrupted, "%v", err)
		}
		return t, t.DType.String() + "[]", nil
	}
	return c.String(), "text", nil
}

// Fill writes a relation into a temporary table with a key. A table that an earlier call made keeps its indexes, if it
// has the same columns and key. ok is false where the name belongs to another relation. A rollback of the surrounding
// statement undoes it.
func (db *DB) Fill(ctx context.Context, name string, r *catalog.Relation, key []string) (ok bool, err error) {
	t, v := db.cat.Relation(db.searchPath(), "", name)
	if v != nil || t != nil && !t.Filled {
		return false, nil
	}
	if t != nil && !holds(t, r, key) {
		if _, err := db.Exec(ctx, &ast.Drop{Kind: "table", Names: []ast.ObjectName{{Name: name}}}, &ast.Text{}); err != nil {
			return false, err
		}
		t = nil
	}
	if t == nil {
		if t, err = ownTable(ctx, db, name, r, key); err != nil {
			return false, err
		}
	}
	return true, refill(ctx, db, t, r)
}

// ownTable creates the table of Fill.
func ownTable(ctx context.Context, db *DB, name string, r *catalog.Relation, key []string) (*catalog.TableDef, error) {
	create := &ast.CreateTable{Name: name, Temp: true}
	for i, n := range r.Names {
		x, err := parse.ParseExpr(&ast.Text{SQL: "NULL::" + r.Types[i]})
		if err != nil {
			return nil, err
		}
		create.Cols = append(create.Cols, ast.ColumnDef{Name: n, Type: x.(*ast.Cast).Type})
	}
	if len(key) > 0 {
		create.Constraints = []ast.TableConstraint{{Kind: "primary", Cols: key}}
	}
	if _, err := db.Exec(ctx, create, &ast.Text{}); err != nil {
		return nil, err
	}
	t := db.cat.Tables[definitions.Key{Schema: "pg_temp", Name: name}].Clone()
	t.Filled, t.Count = true, nil // rows are counted when they are read, not at every filling
	return t, db.putTable(definitions.KeyOf(t), t)
}

// holds reports whether the table has a relation's columns and the given key.
func holds(t *catalog.TableDef, r *catalog.Relation, key []string) bool {
	if len(t.Cols) != len(r.Names) || (t.PK == nil) != (len(key) == 0) || t.PK != nil && !slices.Equal(t.PK.Cols, key) {
		return false
	}
	for i, c := range t.Cols {
		if c.Name != r.Names[i] || c.Type.Declared() != r.Types[i] {
			return false
		}
	}
	return true
}

// refill replaces the rows of a table.
func refill(ctx context.Context, db *DB, t *catalog.TableDef, r *catalog.Relation) error {
	stop := db.watch(ctx)
	defer stop()
	return db.atomically(true, func() error {
		if err := db.exec("DELETE FROM " + definitions.SQL(t)); err != nil {
			return err
		}
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(r.Cols)), ", ")
		s, err := db.c.Prepare("INSERT INTO " + definitions.SQL(t) + " VALUES (" + marks + ")")
		if err != nil {
			return err
		}
		defer s.Close()
		b := newWriter(ctx, db, nil)
		for i := range r.Cols {
			b.AddSlot(t, &t.Cols[i])
		}
		for k := range r.Cols[0].Len() {
			for i, v := range r.Cols {
				var sl *columns.Slot
				if t.Cols[i].Type.IsChunk() {
					sl = b.Slots[i]
				}
				if err := columns.SetVector(s, i, v, k, t.Cols[i].Type, sl); err != nil {
					return err
				}
			}
			if err := s.Run(); err != nil {
				return err
			}
		}
		db.bump(definitions.KeyOf(t), true)
		return checkSlots(b, t, int64(r.Cols[0].Len()))
	})
}

// SplitNative splits a text in SQLite's dialect into statements, at semicolons outside quotes and comments.
func SplitNative(sql string) []string {
	var out []string
	from := 0
	for i := 0; i < len(sql); {
		switch rest := sql[i:]; {
		case rest[0] == '\'' || rest[0] == '"':
			i += skip(rest[1:], rest[:1]) + 1
		case strings.HasPrefix(rest, "--"):
			i += skip(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			i += skip(rest, "*/")
		case rest[0] == ';':
			out = appendStatement(out, sql[from:i])
			i++
			from = i
		default:
			i++
		}
	}
	return appendStatement(out, sql[from:])
}

// skip returns the length of s up to the end of the first end, or all of it.
func skip(s, end string) int {
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s)
}

// appendStatement appends a statement unless it consists of comments only.
func appendStatement(out []string, s string) []string {
	for _, line := range strings.Split(s, "\n") {
		if l := strings.TrimSpace(line); l != "" && !strings.HasPrefix(l, "--") {
			return append(out, strings.TrimSpace(s))
		}
	}
	return out
}
