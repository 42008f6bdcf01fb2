package relgrad

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// FileOptions tell how a file and a table correspond; docs/interop.md explains them.
type FileOptions struct {
	Format string   // a name in ast.AllFormats, or csv with a header line
	Whole  bool     // each array is one chunk of a single row
	Index  string   // the column that gets a row's position, from 0
	Key    []string // primary key of a table that Import creates

	ast.FolderOptions // of the formats in ast.FolderFormats
}

// Import loads a file into a table, written as in COPY: schema.name (columns). If the table does not exist it is
// created with the file's columns. Import returns the number of rows; an error leaves the store unchanged.
func (db *DB) Import(ctx context.Context, f *os.File, name, table string, o FileOptions) (n int64, err error) {
	defer func() { err = sqlerr.From(unplaced(err)) }()
	defer db.rescue(db.InTransaction(), &err)
	c, text, err := copyOf(table, name, o)
	if err != nil {
		return 0, err
	}
	return db.importFrom(ctx, c, text, name, o, f)
}

// importFrom loads a file, or a folder where f is nil.
func (db *DB) importFrom(ctx context.Context, c *ast.Copy, text *ast.Text, name string, o FileOptions, f *os.File) (
	n int64, err error) {
	c.From = true
	err = db.inTransaction(func() error {
		if db.Definition(c.Schema, c.Name) != nil {
			if o.Key != nil {
				return sqlerr.New(sqlerr.DuplicateTable, "a key can be given for a new table only, \"%s\" exists", c.Name)
			}
		}
		if !c.Options.IsFile() && !c.Options.IsFolder() {
			if _, view := db.View(nil, c.Schema, c.Name); db.Definition(c.Schema, c.Name) == nil && !view {
				return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", c.Name).
					WithHint("A csv file has no types: create the table first.")
			}
			n, err = db.CopyIn(ctx, c, text, f, name)
			return err
		}
		in, err := db.openImport(ctx, c, f, name)
		if err != nil {
			return err
		}
		defer in.Close()
		if _, view := db.View(nil, c.Schema, c.Name); db.Definition(c.Schema, c.Name) == nil && !view {
			if err := db.createFor(ctx, c, in, name, o.Key); err != nil {
				return err
			}
		}
		n, err = db.load(ctx, c, text, in, name)
		return err
	})
	return n, err
}

// unplaced removes from an error its position in the statement made by copyOf.
func unplaced(err error) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Text != nil && e.Text.File == "" {
		e.Text, e.Pos = nil, -1
	}
	return err
}

// copyOf makes a COPY statement for a table's name.
func copyOf(table, file string, o FileOptions) (*ast.Copy, *ast.Text, error) {
	text := &ast.Text{SQL: "COPY " + table + " FROM STDIN"}
	stmts, err := parse.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	c, ok := stmts[0].Stmt.(*ast.Copy)
	if !ok || len(stmts) != 1 || c.Query != nil {
		return nil, nil, sqlerr.New(sqlerr.Syntax, "\"%s\" is no table's name", table)
	}
	c.Source, c.Std = file, false
	c.Options = ast.CopyOptions{Format: o.Format, Whole: o.Whole, Index: o.Index, Header: o.Format == "csv",
		Folder: o.FolderOptions}
	known := c.Options.IsFile() || c.Options.IsFolder()
	if !known && o.Format != "csv" {
		return nil, nil, sqlerr.New(sqlerr.InvalidParameter, "format \"%s\" not recognized", o.Format).
			WithHint("The formats are csv, %s.", strings.Join(ast.AllFormats(), ", "))
	}
	if !known && (o.Whole || o.Index != "") || c.Options.IsFolder() && o.Whole {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "whole and index have no meaning for the format %s", o.Format)
	}
	return c, text, nil
}

// createFor creates the table for a file. Where neither the caller nor the file names a key, the key is the row's
// position in a column id.
func (db *DB) createFor(ctx context.Context, c *ast.Copy, in interop.Reader, name string, key []string) error {
	cols, has := in.Columns(), func(n string) bool {
		return slices.ContainsFunc(in.Columns(), func(x interop.Column) bool { return x.Name == n })
	}
	if c.Cols != nil {
		cols = slices.DeleteFunc(slices.Clone(cols), func(x interop.Column) bool { return !slices.Contains(c.Cols, x.Name) })
	}
	if err := interop.Readable(name, cols); err != nil {
		return err
	}
	if key == nil {
		key = in.Key()
	}
	if key == nil {
		if c.Options.Index == "" {
			c.Options.Index = "id"
		}
		key = []string{c.Options.Index}
	}
	if i := c.Options.Index; i != "" {
		if has(i) {
			return sqlerr.New(sqlerr.DuplicateColumn,
				"file \"%s\" has a column \"%s\", which cannot take the row's position too", name, i).
				WithHint("Name the table's key (--key %s), or another column for the position (--index).", i)
		}
		cols = append([]interop.Column{{Name: i, Type: "bigint"}}, cols...)
	}
	var b strings.Builder
	b.WriteString("CREATE TABLE " + qualified(c) + " (")
	for _, x := range cols {
		b.WriteString(sqltext.Ident(x.Name) + " " + x.Type + strings.Repeat("[]", max(len(x.Shape), 1)-1) + ", ")
	}
	quoted := lists.Map(key, sqltext.Ident)
	b.WriteString("PRIMARY KEY (" + strings.Join(quoted, ", ") + "))")
	_, err := db.Run(ctx, b.String())
	return err
}

func qualified(c *ast.Copy) string {
	if c.Schema == "" {
		return sqltext.Ident(c.Name)
	}
	return sqltext.Name(c.Schema, c.Name)
}

// Export writes tables, given as in COPY, to one file, all of the same state, and returns the number of rows. A format
// that holds one relation takes one table.
func (db *DB) Export(ctx context.Context, w io.Writer, file string, o FileOptions, tables ...string) (n int64,
	err error) {
	defer func() { err = sqlerr.From(unplaced(err)) }()
	defer db.rescue(db.InTransaction(), &err)
	if o.Index != "" || o.Key != nil {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "index and key have no meaning for an export")
	}
	var sink interop.Sink
	if o.Format != "csv" {
		if sink, err = interop.Create(o.Format, w, file, interop.Options{Whole: o.Whole}); err != nil {
			return 0, err
		}
	} else if len(tables) != 1 {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "a csv file holds one table, not %d", len(tables))
	}
	err = db.inTransaction(func() error {
		for _, t := range tables {
			c, text, err := copyOf(t, file, o)
			if err != nil {
				return err
			}
			var k int64
			if sink == nil {
				k, err = db.DB.CopyOut(ctx, c, text, w)
			} else {
				k, err = db.writeTo(ctx, sink, c.Name, c, text)
			}
			if n += k; err != nil {
				return err
			}
		}
		return nil
	})
	if sink == nil {
		return n, err
	}
	if err != nil {
		sink.Abort()
		return 0, err
	}
	return n, sink.Close()
}

// inTransaction runs f in a transaction, or inside the open one.
func (db *DB) inTransaction(f func() error) error {
	if db.InTransaction() {
		return f()
	}
	if err := db.Begin(); err != nil {
		return err
	}
	if err := f(); err != nil {
		if e := db.Rollback(); e != nil {
			err = errors.Join(err, e)
		}
		return err
	}
	_, err := db.Commit()
	return err
}
