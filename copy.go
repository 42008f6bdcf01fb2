package relgrad

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta/places"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/print"
	"github.com/relgrad/relgrad/store"
)

// CopyIn loads rows from r, as COPY … FROM does; errors call the source name. The formats of package interop need a
// file, such as an *os.File. An error loads nothing.
func (db *DB) CopyIn(ctx context.Context, c *ast.Copy, text *ast.Text, r io.Reader, name string) (_ int64,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	f, ok := r.(*os.File)
	if !c.Options.IsFile() || !ok {
		return db.DB.CopyIn(ctx, c, text, r, name)
	}
	in, err := openFile(f, c.Options.Format, name, interop.Options{Whole: c.Options.Whole, Table: c.Name})
	if err != nil {
		return 0, sqlerr.In(err, text)
	}
	defer in.Close()
	return db.load(ctx, c, text, in, name)
}

// load loads the rows of an open file.
func (db *DB) load(ctx context.Context, c *ast.Copy, text *ast.Text, in interop.Reader, name string) (int64, error) {
	return db.DB.CopyInRows(ctx, c, text, name, func(t *catalog.TableDef) (store.RowSource, error) {
		return rowsOf(in, c, t, name)
	})
}

func openFile(f *os.File, format, name string, o interop.Options) (interop.Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, sqlerr.New(sqlerr.IO, "could not read file \"%s\": %v", name, err)
	}
	if !st.Mode().IsRegular() {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a regular file, which the format %s needs", name,
			format)
	}
	return interop.Open(format, f, st.Size(), name, o)
}

// rowsOf matches a file's columns with a table's. Without a column list each column of the file is loaded into the
// column of its name, and every other column of the table needs a default.
func rowsOf(in interop.Reader, c *ast.Copy, t *catalog.TableDef, file string) (src store.RowSource, err error) {
	src.Cols, err = columnsToLoad(in, c, t, file)
	if err != nil {
		return src, err
	}
	var want []interop.Column
	index := -1
	for i, n := range src.Cols {
		k := t.Column(n)
		switch {
		case k < 0:
			return src, sqlerr.At(int(c.At), sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n,
				t.Name)
		case n == c.Options.Index:
			index = i
		default:
			want = append(want, interop.Column{Name: n, Type: t.Cols[k].Type.String()})
		}
	}
	if len(want) == 0 {
		return src, sqlerr.At(int(c.At), sqlerr.InvalidParameter, "no column of \"%s\" is to be read", file)
	}
	rows, err := in.Rows(want)
	if err != nil {
		return src, err
	}
	if p, ok := rows.(interface{ Place() string }); ok {
		src.Place = p.Place
	}
	n, read := int64(-1), make([]any, len(want))
	src.Next = func(row []any) error {
		if err := rows.Next(read); err != nil {
			return err
		}
		n++
		k := 0
		for i := range row {
			if i == index {
				row[i] = n
				continue
			}
			row[i] = read[k]
			k++
		}
		return nil
	}
	return src, nil
}

// columnsToLoad lists the table's columns that the file and the option INDEX give.
func columnsToLoad(in interop.Reader, c *ast.Copy, t *catalog.TableDef, file string) ([]string, error) {
	have := in.Columns()
	if c.Cols != nil {
		out := slices.Clone(c.Cols)
		if c.Options.Index != "" && !slices.Contains(out, c.Options.Index) {
			out = append(out, c.Options.Index)
		}
		return out, nil
	}
	if c.Options.Format == "npy" { // its array has no name
		return npyColumns(c, t)
	}
	if err := interop.Readable(file, have); err != nil {
		return nil, err
	}
	var out, names []string
	for _, h := range have {
		names = append(names, h.Name)
		if t.Column(h.Name) < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "file \"%s\": column \"%s\" is no column of table \"%s\"", file,
				h.Name, t.Name).
				WithHint("To read only some columns, name them: COPY %s (…) FROM …", print.QualifiedName(c.Schema, t.Name))
		}
	}
	for _, col := range t.Cols {
		switch {
		case col.Name == c.Options.Index || slices.Contains(names, col.Name):
			out = append(out, col.Name)
		case col.Default == "" && col.Identity == nil:
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "file \"%s\": there is no column \"%s\", which table \"%s\" has",
				file, col.Name, t.Name).
				WithHint("To read only some columns, name them: COPY %s (…) FROM …; a column for the row's position is named by "+
					"the option INDEX.", print.QualifiedName(c.Schema, t.Name))
		}
	}
	if i := c.Options.Index; i != "" && t.Column(i) < 0 {
		return nil, sqlerr.At(int(c.At), sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", i, t.Name)
	}
	return out, nil
}

// npyColumns finds the one column that takes the array of an npy file, besides that of INDEX.
func npyColumns(c *ast.Copy, t *catalog.TableDef) ([]string, error) {
	out := lists.Map(t.Cols, func(col catalog.Column) string { return col.Name })
	if n := len(out); n != 1 && (n != 2 || c.Options.Index == "") {
		return nil, sqlerr.At(int(c.At), sqlerr.InvalidParameter, "an npy file holds one array, table \"%s\" has %d columns",
			t.Name, n).
			WithHint("Name the column: COPY %s (v) FROM … WITH (FORMAT npy, INDEX id).", print.QualifiedName(c.Schema, t.Name))
	}
	return out, nil
}

// CopyOut writes rows to w, as COPY … TO does, and returns their number.
func (db *DB) CopyOut(ctx context.Context, c *ast.Copy, text *ast.Text, w io.Writer) (_ int64, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	if !c.Options.IsFile() {
		return db.DB.CopyOut(ctx, c, text, w)
	}
	sink, err := interop.Create(c.Options.Format, w, c.Source, interop.Options{Whole: c.Options.Whole})
	if err != nil {
		return 0, sqlerr.In(err, text)
	}
	n, err := db.writeTo(ctx, sink, "", c, text)
	if err != nil {
		sink.Abort()
		return 0, err
	}
	return n, sqlerr.In(sink.Close(), text)
}

// writeTo writes one relation under a name in the file.
func (db *DB) writeTo(ctx context.Context, sink interop.Sink, name string, c *ast.Copy, text *ast.Text) (int64, error) {
	var key []string
	def := db.Definition(c.Schema, c.Name)
	if c.Query != nil {
		def = nil
	}
	if def != nil && def.PK != nil {
		key = def.PK.Cols
		for _, k := range key {
			if c.Cols != nil && !slices.Contains(c.Cols, k) {
				key = nil
				break
			}
		}
	}
	return db.CopyOutRows(ctx, c, text, func(cols []catalog.ResultCol) error {
		out := make([]interop.Column, len(cols))
		for i, r := range cols {
			out[i] = interop.Column{Name: r.Name, Type: r.Type}
			if def != nil && def.Column(r.Name) >= 0 {
				out[i].Shape = def.Cols[def.Column(r.Name)].Shape
			}
		}
		return sink.Begin(name, out, key)
	}, sink.Write)
}

// copyNamed runs COPY with a file in a format of package interop.
func (db *DB) copyNamed(ctx context.Context, c *ast.Copy, text *ast.Text) (*catalog.Result, error) {
	if c.Options.IsFolder() {
		return db.copyFolder(ctx, c, text)
	}
	var n int64
	f, err := db.openNamed(c)
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	if c.From {
		n, err = db.CopyIn(ctx, c, text, f, c.Source)
	} else {
		n, err = db.CopyOut(ctx, c, text, f)
	}
	if e := f.Close(); err == nil && e != nil {
		err = sqlerr.New(sqlerr.IO, "could not write file \"%s\": %v", c.Source, e)
	}
	if err != nil {
		return nil, err
	}
	return &catalog.Result{Tag: fmt.Sprintf("COPY %d", n), Count: n}, nil
}

func (db *DB) openNamed(c *ast.Copy) (*os.File, error) {
	open, how := os.Create, "writing"
	if c.From {
		open, how = os.Open, "reading"
	}
	f, err := open(places.Resolve(db.Dir, c.Source))
	if err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for %s: %v", c.Source, how,
			errors.Unwrap(err))
	}
	return f, nil
}
