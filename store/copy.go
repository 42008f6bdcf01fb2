package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/lite"
)

// copyServer is COPY with a file or program, run in the process's working directory.
func copyServer(ctx context.Context, db *DB, s *ast.Copy, text *ast.Text) (*catalog.Result, error) {
	if s.Std {
		return nil, sqlerr.At(int(s.At), sqlerr.FeatureNotSupported, "COPY with STDIN or STDOUT needs a client").
			WithHint("Use \\copy, or name a file.")
	}
	return db.CopyFile(ctx, s, text, "")
}

// CopyFile runs COPY, or a client's \copy, with the statement's file or program; relative names start at dir.
func (db *DB) CopyFile(ctx context.Context, s *ast.Copy, text *ast.Text, dir string) (*catalog.Result, error) {
	n, err := int64(0), error(nil)
	switch {
	case s.Program:
		n, err = copyProgram(ctx, db, s, text, dir)
	case s.From:
		n, err = copyFromFile(ctx, db, s, text, dir)
	default:
		n, err = copyToFile(ctx, db, s, text, dir)
	}
	if err != nil {
		return nil, err
	}
	return &catalog.Result{Tag: fmt.Sprintf("COPY %d", n), Count: n}, nil
}

func inDir(dir, name string) string {
	if dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func copyFromFile(ctx context.Context, db *DB, s *ast.Copy, text *ast.Text, dir string) (int64, error) {
	f, err := os.Open(inDir(dir, s.Source))
	if err != nil {
		return 0, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading: %v", s.Source, unwrapPath(err))
	}
	defer f.Close()
	return db.CopyIn(ctx, s, text, f, s.Source)
}

func unwrapPath(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

func copyToFile(ctx context.Context, db *DB, s *ast.Copy, text *ast.Text, dir string) (n int64, err error) {
	f, err := os.Create(inDir(dir, s.Source))
	if err != nil {
		return 0, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for writing: %v", s.Source, unwrapPath(err))
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = sqlerr.New(sqlerr.IO, "could not write file \"%s\": %v", s.Source, e)
		}
	}()
	return db.CopyOut(ctx, s, text, f)
}

func copyProgram(ctx context.Context, db *DB, s *ast.Copy, text *ast.Text, dir string) (int64, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", s.Source)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	failed := func(err error) error {
		return sqlerr.New("38000", "program \"%s\" failed: %v", s.Source, err).
			WithDetail("%s", strings.TrimSpace(stderr.String()))
	}
	if !s.From {
		in, err := cmd.StdinPipe()
		if err != nil {
			return 0, failed(err)
		}
		if err := cmd.Start(); err != nil {
			return 0, failed(err)
		}
		n, err := db.CopyOut(ctx, s, text, in)
		in.Close()
		if e := ended(cmd); err == nil && e != nil {
			err = failed(e)
		}
		return n, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, failed(err)
	}
	if err := cmd.Start(); err != nil {
		return 0, failed(err)
	}
	// the rows count only if the program succeeds
	return copyIn(ctx, db, s, text, out, s.Source, func() error {
		if err := ended(cmd); err != nil {
			return failed(err)
		}
		return nil
	}, func() { out.Close(); cmd.Process.Kill(); cmd.Wait() }) // the closed pipe ends its children
}

// ended waits for a program whose output has been read. A process that it has left behind may keep its standard error
// open, and a busy machine may be late to read that: neither makes it fail.
func ended(cmd *exec.Cmd) error {
	if err := cmd.Wait(); !errors.Is(err, exec.ErrWaitDelay) {
		return err
	}
	return nil
}

// CopyIn loads rows from r, as COPY … FROM does; errors call the source name. An error loads nothing.
func (db *DB) CopyIn(ctx context.Context, s *ast.Copy, text *ast.Text, r io.Reader, name string) (n int64, err error) {
	defer db.rescue(text, &err)
	return copyIn(ctx, db, s, text, r, name, func() error { return nil }, func() {})
}

func copyIn(ctx context.Context, db *DB, s *ast.Copy, text *ast.Text, r io.Reader, name string, done func() error,
	abort func()) (n int64, err error) {
	return loading(ctx, db, text, func(b *writer) (int64, error) { return copyRows(b, s, r, name) }, done, abort)
}

// loading runs load in a transaction of its own or in a savepoint. Afterwards done may still fail it; abort is called
// where load failed.
func loading(ctx context.Context, db *DB, text *ast.Text, load func(*writer) (int64, error), done func() error,
	abort func()) (n int64, err error) {
	if db.failed {
		abort()
		return 0, errFailed()
	}
	ctx, end := db.Timed(ctx)
	defer end(&err)
	stop := db.watch(ctx)
	defer stop()
	if err := db.refresh(); err != nil {
		abort()
		return 0, err
	}
	err = db.atomically(true, func() (err error) {
		b := newWriter(ctx, db, text)
		defer b.Catch(&err)
		n, err = load(b)
		if err != nil {
			abort()
			return err
		}
		return done()
	})
	if err != nil && db.explicit {
		db.failed = true
	}
	return n, sqlerr.In(err, text)
}

// loader puts the fields of one line into the INSERT's parameters.
type loader struct {
	b    *writer
	t    *catalog.TableDef
	cols []*catalog.Column
	stmt *lite.Stmt
	slot []*columns.Slot
	file string
}

func copyRows(b *writer, s *ast.Copy, r io.Reader, file string) (int64, error) {
	if s.Options.IsFile() || s.Options.IsFolder() {
		return 0, errFileFormat(s)
	}
	l := &loader{b: b, t: targetTable(b, s.At, s.Schema, s.Name), file: file}
	return l.run(s, s.Cols, func() (int64, error) {
		p := columns.NewCopyReader(r, s.Options, len(l.cols), b.db.longestRecord)
		if s.Options.Match {
			p.Names = make([]string, len(l.cols))
			for i, c := range l.cols {
				p.Names[i] = c.Name
			}
		}
		return l.load(p)
	})
}

func errFileFormat(s *ast.Copy) error {
	return sqlerr.At(int(s.At), sqlerr.FeatureNotSupported, "COPY with the format %s needs a file", s.Options.Format).
		WithHint("It is read from any place in the file, so it cannot come from a program or from standard input.")
}

// run prepares the INSERT of a row and calls load, which runs it for each row.
func (l *loader) run(s *ast.Copy, names []string, load func() (int64, error)) (int64, error) {
	b, t := l.b, l.t
	l.cols = insertColumns(b, &ast.Insert{Node: s.Node, Cols: names}, t)
	list, exprs, given := []string{}, []string{}, map[string]bool{}
	for _, c := range l.cols {
		if given[c.Name] {
			b.Fail(s.At, sqlerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
		given[c.Name] = true
		x := "?"
		if len(c.Mods) > 0 && c.Type.Is(catalog.Text) {
			x = fmt.Sprintf("rg_varchar(?, %d)", c.Mods[0])
		} else if len(c.Mods) > 0 {
			x = bind.ModifyType(b.Binder, x, c.Type, c.Mods)
		}
		var sl *columns.Slot
		if c.Type.IsChunk() {
			sl = b.Slots[b.Slot(t, c)]
			if err := startShape(b.db, t, c, sl); err != nil {
				return 0, err
			}
		}
		list, exprs, l.slot = append(list, definitions.Ident(c.Name)), append(exprs, x), append(l.slot, sl)
	}
	missing, values := bind.NotGiven(b.Binder, t, given)
	list, exprs = append(list, missing...), append(exprs, values...)
	stmt, err := b.db.c.Prepare("INSERT INTO " + definitions.SQL(t) + " (" + strings.Join(list, ", ") + ") VALUES (" +
		strings.Join(exprs, ", ") + ")")
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	l.stmt = stmt
	b.db.run = &statement{Writes: &b.Writes, outer: b.db.run}
	defer func() { b.db.run = b.db.run.outer }()
	n, err := load()
	if err != nil {
		return 0, err
	}
	b.db.bump(definitions.KeyOf(t), true)
	return n, checkSlots(b, t, n)
}

// startShape gives the slot the shape of the stored chunks, so that a chunk of another shape is refused with its line.
func startShape(db *DB, t *catalog.TableDef, c *catalog.Column, s *columns.Slot) error {
	if c.Shape == nil {
		return nil
	}
	col := definitions.Ident(c.Name)
	return db.rows("SELECT substr("+col+", 1, 28) FROM "+definitions.SQL(t)+" WHERE "+col+" IS NOT NULL LIMIT 1",
		func(r row) error {
			if b := r[0].Bytes(); len(b) >= 4 && len(b) >= 4+4*int(b[2]) {
				s.Shape, s.Head = columns.HeadShape(b), append([]byte(nil), b[:4+4*int(b[2])]...)
			}
			return nil
		})
}

func (l *loader) load(p *columns.CopyReader) (int64, error) {
	n := int64(0)
	for {
		fields, err := p.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return 0, l.context(p, -1, err)
		}
		if len(fields) > len(l.cols) {
			return 0, l.context(p, -1, sqlerr.New(sqlerr.BadCopy, "extra data after last expected column"))
		}
		if len(fields) < len(l.cols) {
			return 0, l.context(p, -1, sqlerr.New(sqlerr.BadCopy, "missing data for column \"%s\"", l.cols[len(fields)].Name))
		}
		for i := range fields {
			if err := l.field(i, &fields[i]); err != nil {
				return 0, l.context(p, i, err)
			}
		}
		if err := l.insert(func(i int) string { return string(p.Fields[i].Text) }); err != nil {
			return 0, l.context(p, -1, err)
		}
		n++
		if err := l.canceled(n); err != nil {
			return 0, err
		}
	}
}

// insert runs the INSERT for one row. text returns field i for the message that its key exists already.
func (l *loader) insert(text func(i int) string) error {
	err := l.stmt.Run()
	if err == nil {
		return nil
	}
	return keyValues(l.b, l.b.db.translate(err), l.t, func(name string) (string, bool) {
		i := slices.IndexFunc(l.cols, func(c *catalog.Column) bool { return c.Name == name })
		if i < 0 {
			return "", false
		}
		return text(i), true
	})
}

// canceled checks the context after every 1024 of the n rows done.
func (l *loader) canceled(n int64) error {
	if n&1023 != 0 || l.b.Context.Err() == nil {
		return nil
	}
	return sqlerr.Canceled(l.b.Context.Err())
}

// keyValues adds the values of a key that exists already to an error, where they are known.
func keyValues(b *writer, err error, t *catalog.TableDef, value func(col string) (string, bool)) error {
	e, ok := err.(*sqlerr.Error)
	if !ok || e.Code != sqlerr.UniqueViolation {
		return err
	}
	for _, cols := range t.Keys() {
		var vals []string
		for _, c := range cols {
			if v, ok := value(c); ok {
				vals = append(vals, v)
			}
		}
		key := strings.Join(cols, ", ")
		if len(vals) == len(cols) && strings.Contains(e.Detail, "("+key+")") {
			e.Detail = fmt.Sprintf("Key (%s)=(%s) already exists.", key, strings.Join(vals, ", "))
		}
	}
	return e
}

// context tells an error its place in the data.
func (l *loader) context(p *columns.CopyReader, col int, err error) error {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		return err
	}
	c := *e
	c.Context = fmt.Sprintf("COPY %s", l.t.Name)
	if p.Line > 0 {
		c.Context += fmt.Sprintf(", line %d", p.Line)
	}
	if col >= 0 {
		c.Context += fmt.Sprintf(", column %s", l.cols[col].Name)
		if f := &p.Fields[col]; !f.Null {
			c.Context += fmt.Sprintf(": \"%s\"", clipText(f.Text))
		} else {
			c.Context += ": null input"
		}
	} else if len(p.Raw) > 0 {
		c.Context += fmt.Sprintf(": \"%s\"", clipText(bytes.TrimRight(p.Raw, "\r\n")))
	}
	if l.file != "" {
		c.Context += ", source " + l.file
	}
	return &c
}

func clipText(b []byte) string {
	if len(b) > 100 {
		return strings.ToValidUTF8(string(b[:100]), "") + "..."
	}
	return string(b)
}

func (l *loader) field(i int, f *columns.Field) error {
	c := l.cols[i]
	if f.Null {
		if c.NotNull {
			return definitions.ErrNull(l.t.Name, c.Name)
		}
		l.stmt.SetNull(i)
		return nil
	}
	switch {
	case c.Type.IsInt():
		if n, ok := quickInt(f.Text); ok && columns.CheckRange(n, c.Type) == nil {
			l.stmt.SetInt(i, n)
			return nil
		}
	case c.Type.Is(catalog.Text):
		l.stmt.SetBytes(i, lite.Text, f.Text)
		return nil
	}
	x, err := columns.TextIn(string(f.Text), c.Type)
	if err != nil {
		return err
	}
	return l.store(i, x)
}

// store puts a value of column i's type into the INSERT.
func (l *loader) store(i int, v any) error {
	y, err := columns.ToStored(v, l.cols[i].Type)
	if err != nil {
		return err
	}
	if b, ok := y.([]byte); ok && l.slot[i] != nil {
		if err := l.note(i, b); err != nil {
			return err
		}
	}
	return l.stmt.Set(i, y)
}

// note checks a chunk on its way into column i.
func (l *loader) note(i int, b []byte) error {
	s := l.slot[i]
	if err := s.Note(b); err != nil {
		return err
	}
	if s.Mixed != nil {
		return sqlerr.New(sqlerr.ArraySubscript, "table \"%s\", column \"%s\": a chunk of shape %v, others have shape %v",
			l.t.Name, l.cols[i].Name, s.Mixed, s.Shape).
			WithDetail("All chunks of a column have one shape at the end of a statement.")
	}
	return nil
}

// quickInt reads plain decimal digits.
func quickInt(b []byte) (int64, bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// CopyOut writes rows to w, as COPY … TO does, and returns their number.
func (db *DB) CopyOut(ctx context.Context, s *ast.Copy, text *ast.Text, w io.Writer) (_ int64, err error) {
	defer db.rescue(text, &err)
	if db.failed {
		return 0, errFailed()
	}
	if s.Options.IsFile() || s.Options.IsFolder() {
		return 0, sqlerr.In(errFileFormat(s), text)
	}
	ctx, end := db.Timed(ctx)
	defer end(&err)
	sel, err := copyQuery(db, s)
	if err != nil {
		return 0, sqlerr.In(err, text)
	}
	stop := db.watch(ctx)
	defer stop()
	out := columns.NewCopyWriter(w, s.Options)
	n := int64(0)
	var types []catalog.Type
	err = selectEach(ctx, db, sel, text, func(cols []bind.OutputColumn) error {
		types = bind.TypesOfColumns(cols)
		if s.Options.Header {
			names := lists.Map(cols, func(c bind.OutputColumn) any { return c.Name })
			return out.Row(names, nil)
		}
		return nil
	}, func(cols []bind.OutputColumn, row []lite.Cell) error {
		n++
		vals, err := values(cols, row)
		if err != nil {
			return err
		}
		return out.Row(vals, types)
	})
	if err == nil {
		err = out.W.Flush()
	}
	if err != nil && db.explicit {
		db.failed = true
	}
	return n, sqlerr.In(db.translate(err), text)
}

// copyQuery is the query whose rows COPY … TO writes. Of a name it must be a table's.
func copyQuery(db *DB, s *ast.Copy) (*ast.Select, error) {
	if s.Query != nil {
		return s.Query, nil
	}
	kind := ""
	switch t, v := db.cat.Relation(db.searchPath(), s.Schema, s.Name); {
	case v != nil:
		kind = "view"
	case t != nil && t.Matview != nil:
		kind = definitions.KindOf(t)
	}
	if kind != "" && !s.Options.IsFile() && !s.Options.IsFolder() { // the formats of files are relgrad's own
		return nil, sqlerr.At(int(s.At), sqlerr.WrongObjectType, "cannot copy from %s \"%s\"", kind, s.Name).
			WithHint("Try the COPY (SELECT ...) TO variant.")
	}
	sel := &ast.Select{Node: s.Node, From: []ast.FromItem{&ast.TableRef{Node: s.Node, Schema: s.Schema, Name: s.Name}}}
	if s.Cols == nil {
		sel.Targets = []ast.Target{{Node: s.Node, X: &ast.ColumnRef{Node: s.Node, Star: true}}}
	}
	for _, c := range s.Cols {
		sel.Targets = append(sel.Targets, ast.Target{Node: s.Node, X: &ast.ColumnRef{Node: s.Node, Names: []string{c}}})
	}
	return sel, nil
}

// CopyInRows loads rows, as COPY … FROM does. Inside the transaction it calls open with the table that s names; errors
// call the source name. An error loads nothing.
func (db *DB) CopyInRows(ctx context.Context, s *ast.Copy, text *ast.Text, name string,
	open func(*catalog.TableDef) (RowSource, error)) (_ int64, err error) {
	defer db.rescue(text, &err)
	return loading(ctx, db, text, func(b *writer) (int64, error) {
		l := &loader{b: b, t: targetTable(b, s.At, s.Schema, s.Name), file: name}
		from, err := open(l.t)
		if err != nil {
			return 0, err
		}
		return l.run(s, from.Cols, func() (int64, error) { return l.loadRows(from) })
	}, func() error { return nil }, func() {})
}

// CopyOutRows runs the query of COPY … TO: start gets its columns, each gets its rows in the form of RowSource, with
// values other than booleans, integers, floats and chunks as text. A table's rows come in the order of its primary key.
func (db *DB) CopyOutRows(ctx context.Context, s *ast.Copy, text *ast.Text, start func([]catalog.ResultCol) error,
	each func(row []any) error) (_ int64, err error) {
	defer db.rescue(text, &err)
	if db.failed {
		return 0, sqlerr.In(errFailed(), text)
	}
	sel, err := copyQuery(db, s)
	if err != nil {
		return 0, sqlerr.In(err, text)
	}
	if t, _ := db.cat.Relation(db.searchPath(), s.Schema, s.Name); s.Query == nil && t != nil {
		if keys := t.Keys(); len(keys) > 0 {
			for _, k := range keys[0] {
				sel.OrderBy = append(sel.OrderBy, ast.SortKey{X: &ast.ColumnRef{Node: s.Node, Names: []string{k}}})
			}
		}
	}
	stop := db.watch(ctx)
	defer stop()
	n := int64(0)
	var vals []any
	err = selectEach(ctx, db, sel, text, func(cols []bind.OutputColumn) error {
		vals = make([]any, len(cols))
		return start(resultCols(cols))
	}, func(cols []bind.OutputColumn, row []lite.Cell) error {
		n++
		for i, c := range cols {
			if c.Type.IsChunk() && !row[i].IsNull() {
				vals[i] = row[i].Bytes()
				continue
			}
			v, err := columns.FromCell(&row[i], c.Type)
			if err != nil {
				return err
			}
			vals[i] = sinkValue(v, c.Type, s.Options.IsFolder())
		}
		return each(vals)
	})
	if err != nil && db.explicit {
		db.failed = true
	}
	return n, sqlerr.In(db.translate(err), text)
}

// longestRecord bounds a record of COPY in bytes. Values of the store are at most as long, and memory holds several.
const longestRecord = 256 << 20
