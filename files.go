package relgrad

import (
	"cmp"
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
	"github.com/relgrad/relgrad/interop/csvfile"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// FileOptions tell how a file and a table correspond; docs/interop.md explains them.
type FileOptions struct {
	Format string   // a name in ast.AllFormats, or csv with a header line
	Whole  bool     // each array is one chunk of a single row
	Index  string   // the column that gets a row's position, from 0
	Key    []string // primary key of a table that Import creates
	Types  string   // of a csv file's columns, as CREATE TABLE has them: a integer, b real
	Null   string   // a field of a csv file that is NULL besides the empty one
	// Delimiter is the byte that separates a csv file's fields; "": a tab where its name ends in .tsv, else a comma.
	Delimiter string
	// Created gets the statement that creates a table for csv files, after comments of what was guessed.
	Created func(sql string)

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
	if o.Format == "csv" {
		return db.importCSV(ctx, c, text, []string{f.Name()}, o)
	}
	return db.importFrom(ctx, c, text, name, o, f)
}

// importFrom loads a file, or a folder where f is nil.
func (db *DB) importFrom(ctx context.Context, c *ast.Copy, text *ast.Text, name string, o FileOptions, f *os.File) (
	n int64, err error) {
	c.From = true
	err = db.inTransaction(func() error {
		exists, err := db.target(c, o)
		if err != nil {
			return err
		}
		in, err := db.openImport(ctx, c, f, name)
		if err != nil {
			return err
		}
		defer in.Close()
		if !exists {
			if _, err := db.createFor(ctx, c, in, name, o.Key); err != nil {
				return err
			}
		}
		n, err = db.load(ctx, c, text, in, name)
		return err
	})
	return n, err
}

// ImportCSV is Import of csv files with a header line, which have the same columns: their rows go into one table. Files
// whose names end in .gz or .zst are uncompressed. An error leaves the store unchanged.
func (db *DB) ImportCSV(ctx context.Context, files []string, table string, o FileOptions) (n int64, err error) {
	defer func() { err = sqlerr.From(unplaced(err)) }()
	defer db.rescue(db.InTransaction(), &err)
	o.Format = "csv"
	c, text, err := copyOf(table, files[0], o)
	if err != nil {
		return 0, err
	}
	return db.importCSV(ctx, c, text, files, o)
}

// importCSV loads files into a table as COPY does, or into a new one, whose types and key the files tell.
func (db *DB) importCSV(ctx context.Context, c *ast.Copy, text *ast.Text, files []string, o FileOptions) (n int64,
	err error) {
	c.From = true
	err = db.inTransaction(func() error {
		exists, err := db.target(c, o)
		if err != nil {
			return err
		}
		if exists {
			n, err = db.copyCSV(ctx, c, text, files, o)
			return err
		}
		types, err := declared(o.Types)
		if err != nil {
			return err
		}
		in, err := csvfile.Open(ctx, files, csvfile.Options{Null: o.Null, Types: types,
			Delimiter: o.Delimiter})
		if err != nil {
			return err
		}
		if in.Empty() && (len(types) < len(in.Columns()) || o.Key == nil && o.Index == "") {
			return noRowsError(files[0], c, in)
		}
		key, remarks := o.Key, in.Remarks()
		if key == nil && o.Index == "" {
			if key, err = in.Guess(ctx, c.Cols); err != nil {
				return err
			}
			if key != nil {
				remarks = append(remarks, "the key is a guess: no two rows have the same "+strings.Join(key, ", "))
			} else {
				remarks = append(remarks, "no columns are a key: the key is the row's position in the data")
			}
		}
		sql, err := db.createFor(ctx, c, in, files[0], key)
		if err != nil {
			return err
		}
		if o.Created != nil {
			for _, r := range remarks {
				o.Created("-- " + r)
			}
			o.Created(sql)
		}
		n, err = db.load(ctx, c, text, in, files[0])
		return err
	})
	return n, err
}

// noRowsError is the error of csv files of which a table cannot be made.
func noRowsError(file string, c *ast.Copy, in interop.Reader) error {
	names := lists.Map(in.Columns(), func(x interop.Column) string { return print.QualifiedName("", x.Name) })
	return sqlerr.New(sqlerr.BadCopy, "file \"%s\" has no rows, from which the types of a new table could be told", file).
		WithHint("Create the table: CREATE TABLE %s (%s …, PRIMARY KEY (%s)).", print.QualifiedName(c.Schema, c.Name),
			strings.Join(names, " …, "), names[0])
}

// copyCSV loads files into a table that exists.
func (db *DB) copyCSV(ctx context.Context, c *ast.Copy, text *ast.Text, files []string, o FileOptions) (n int64,
	err error) {
	if o.Index != "" {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "index has no meaning for csv files and a table that exists")
	}
	for _, name := range files {
		c.Options.Delimiter = cmp.Or(o.Delimiter, csvfile.Delimiter(name))
		f, err := csvfile.Uncompressed(name)
		if err != nil {
			return 0, err
		}
		k, err := db.CopyIn(ctx, c, text, f, name)
		f.Close()
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

// declared reads types as CREATE TABLE has them. They are by the names of columns.
func declared(list string) (map[string]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	bad := func(err error) error {
		return sqlerr.New(sqlerr.Syntax, "\"%s\" are no columns with types", list).
			WithHint("Write a integer, b real.").Wrap(err)
	}
	text := &ast.Text{SQL: "CREATE TABLE t (" + list + ")"}
	stmts, err := parse.Parse(text)
	if err != nil {
		return nil, bad(err)
	}
	t, ok := stmts[0].Stmt.(*ast.CreateTable)
	if !ok || len(stmts) != 1 || len(t.Constraints) > 0 {
		return nil, bad(nil)
	}
	out := map[string]string{}
	for _, c := range t.Cols {
		if c.NotNull || c.Default != nil || c.Identity != nil || c.Constraints != nil {
			return nil, bad(nil)
		}
		out[c.Name] = print.PrintType(c.Type)
	}
	return out, nil
}

// target reports whether the relation of an import exists.
func (db *DB) target(c *ast.Copy, o FileOptions) (bool, error) {
	_, view := db.View(nil, c.Schema, c.Name)
	if db.Definition(c.Schema, c.Name) == nil && !view {
		return false, nil
	}
	for _, given := range []struct {
		what string
		is   bool
	}{{"a key", o.Key != nil}, {"types", o.Types != ""},
		{"a text for NULL", o.Null != ""}} {
		if given.is {
			return true, sqlerr.New(sqlerr.DuplicateTable, "%s can be given for a new table only, \"%s\" exists",
				given.what, c.Name)
		}
	}
	return true, nil
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
	if !known && o.Whole || c.Options.IsFolder() && o.Whole {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "whole has no meaning for the format %s", o.Format)
	}
	if known && (o.Types != "" || o.Null != "") {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"types and null are for csv files: the format %s has types and NULL", o.Format)
	}
	if known && o.Delimiter != "" {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"a delimiter is for csv files: the fields of the format %s are not separated by characters", o.Format)
	}
	if d := o.Delimiter; len(d) > 1 || d != "" && strings.Contains("\"\r\n\x00", d) {
		return nil, nil, sqlerr.New(sqlerr.InvalidParameter, "the delimiter must be a single one-byte character, not %q", d).
			WithHint("It is no quote and no newline.")
	}
	return c, text, nil
}

// createFor creates the table for a file. Where neither the caller nor the file names a key, the key is the row's
// position in a column id. It returns the statement.
func (db *DB) createFor(ctx context.Context, c *ast.Copy, in interop.Reader, name string, key []string) (
	sql string, err error) {
	cols, has := in.Columns(), func(n string) bool {
		return slices.ContainsFunc(in.Columns(), func(x interop.Column) bool { return x.Name == n })
	}
	if c.Cols != nil {
		cols = slices.DeleteFunc(slices.Clone(cols), func(x interop.Column) bool { return !slices.Contains(c.Cols, x.Name) })
	}
	if err := interop.Readable(name, cols); err != nil {
		return "", err
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
			return "", sqlerr.New(sqlerr.DuplicateColumn,
				"file \"%s\" has a column \"%s\", which cannot take the row's position too", name, i).
				WithHint("Name the table's key (--key %s), or another column for the position (--index).", i)
		}
		cols = append([]interop.Column{{Name: i, Type: "bigint"}}, cols...)
	}
	var b strings.Builder
	b.WriteString("CREATE TABLE " + print.QualifiedName(c.Schema, c.Name) + " (")
	for _, x := range cols {
		b.WriteString(print.QualifiedName("", x.Name) + " " + x.Type + strings.Repeat("[]", max(len(x.Shape), 1)-1) + ", ")
	}
	quoted := lists.Map(key, func(k string) string { return print.QualifiedName("", k) })
	b.WriteString("PRIMARY KEY (" + strings.Join(quoted, ", ") + "))")
	_, err = db.Run(ctx, b.String())
	return b.String(), err
}

func qualified(c *ast.Copy) string {
	if c.Schema == "" {
		return sqltext.Ident(c.Name)
	}
	return sqltext.Name(c.Schema, c.Name)
}

// Export writes tables, given as in COPY, to one file, all of the same state, and returns the number of rows. A format
// that holds one relation takes one table. A csv file whose name ends in .gz or .zst is compressed.
func (db *DB) Export(ctx context.Context, w io.Writer, file string, o FileOptions, tables ...string) (n int64,
	err error) {
	defer func() { err = sqlerr.From(unplaced(err)) }()
	defer db.rescue(db.InTransaction(), &err)
	if o.Index != "" || o.Key != nil {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "index and key have no meaning for an export")
	}
	if o.Format == "csv" {
		return db.exportCSV(ctx, w, file, o, tables)
	}
	sink, err := interop.Create(o.Format, w, file, interop.Options{Whole: o.Whole})
	if err != nil {
		return 0, err
	}
	err = db.inTransaction(func() error {
		for _, t := range tables {
			c, text, err := copyOf(t, file, o)
			if err != nil {
				return err
			}
			k, err := db.writeTo(ctx, sink, c.Name, c, text)
			if n += k; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		sink.Abort()
		return 0, err
	}
	return n, sink.Close()
}

// exportCSV writes a table to a csv file.
func (db *DB) exportCSV(ctx context.Context, w io.Writer, file string, o FileOptions, tables []string) (int64, error) {
	if len(tables) != 1 {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "a csv file holds one table, not %d", len(tables))
	}
	c, text, err := copyOf(tables[0], file, o)
	if err != nil {
		return 0, err
	}
	c.Options.Delimiter = cmp.Or(o.Delimiter, csvfile.Delimiter(file))
	out, err := csvfile.Compressed(w, file)
	if err != nil {
		return 0, err
	}
	n, err := db.DB.CopyOut(ctx, c, text, out)
	if e := out.Close(); err == nil && e != nil {
		err = sqlerr.New(sqlerr.IO, "could not write file \"%s\": %v", file, e)
	}
	return n, err
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
