// Package csvfile reads csv files as relations: it finds the types of their columns, and a key.
//
// # What
//
// Open reads all records of some files, which are one relation, and gives each column the first of the types of
// kinds.go that holds every value of it without loss. A Reader then gives the rows, as package interop's readers do.
// Key finds columns that tell the rows apart. Files whose names end in .gz or .zst are uncompressed as they are read,
// and compressed as they are written.
//
// # Invariants
//
// No digit is lost: a type holds a value only if the value's text, but for zeros that end a fraction, follows from what
// is stored. The types do not depend on the order of the rows. Memory holds one record, and for Key eight bytes of each
// row. Files are read again for every pass; one that has changed in between is an error, or gives its new rows.
//
// # Errors
//
// *sqlerr.Error, whose context names the file and the line.
//
// # Where to add
//
// A type that is found: a row of types and its test in kinds.go. A compression: a case of Uncompressed and of
// Compressed.
package csvfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
)

// Options tell how fields are read.
type Options struct {
	Null  string            // a field that is NULL too, as one without any character is; "": none is
	Types map[string]string // types of columns that are not to be found
	// Delimiter separates the fields; "": what a file's name tells.
	Delimiter string
}

// Reader is a relation in csv files.
type Reader struct {
	files []string
	opt   Options
	cols  []interop.Column
	found []*finder
}

var _ interop.Reader = (*Reader)(nil)

// longest bounds a record in bytes.
const longest = 256 << 20

// Is reports whether a name is that of a csv file, which may be compressed.
func Is(name string) bool {
	name = strings.ToLower(name)
	if ext := filepath.Ext(name); ext == ".gz" || ext == ".zst" {
		name = strings.TrimSuffix(name, ext)
	}
	return filepath.Ext(name) == ".csv" || filepath.Ext(name) == ".tsv"
}

// Matching lists the files of a name, or of a pattern as filepath.Match has it, in the order of their names. There is
// one at least.
func Matching(name string) ([]string, error) {
	if _, err := os.Stat(name); err == nil || !strings.ContainsAny(name, "*?[") {
		return []string{name}, nil
	}
	files, err := filepath.Glob(name)
	if err != nil || len(files) == 0 {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "no file matches \"%s\"", name)
	}
	return files, nil
}

// Delimiter is what separates the fields of a file of that name: a tab in .tsv, else a comma.
func Delimiter(name string) string {
	if name = strings.ToLower(name); strings.HasSuffix(name, ".tsv") || strings.Contains(filepath.Base(name), ".tsv.") {
		return "\t"
	}
	return ","
}

// Uncompressed opens a file and uncompresses what is read of it, if its name says that it is compressed.
func Uncompressed(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open file \"%s\" for reading: %v", name, err)
	}
	out := &opened{Reader: f, close: f.Close}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		var z *gzip.Reader
		if z, err = gzip.NewReader(f); err == nil {
			out.Reader = z
		}
	case ".zst":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(f, zstd.WithDecoderConcurrency(1)); err == nil {
			out.Reader, out.close = z, func() error { z.Close(); return f.Close() }
		}
	}
	if err != nil {
		f.Close()
		return nil, sqlerr.New(sqlerr.BadCopy, "could not uncompress file \"%s\": %v", name, err)
	}
	return out, nil
}

// Compressed compresses what is written to a file, if its name says so. Close writes the end, and leaves w open.
func Compressed(w io.Writer, name string) (io.WriteCloser, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		return gzip.NewWriter(w), nil
	case ".zst":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return plain{w}, nil
}

// plain is a file that is not compressed.
type plain struct{ io.Writer }

// Close implements io.Closer.
func (plain) Close() error { return nil }

// opened is an open file.
type opened struct {
	io.Reader
	close func() error
}

// Close implements io.Closer.
func (o *opened) Close() error { return o.close() }

// Open reads the files, of which there is at least one, and finds the types of their columns. All files must have the
// columns of the first.
func Open(ctx context.Context, files []string, o Options) (*Reader, error) {
	r := &Reader{files: files, opt: o}
	records := r.records()
	defer records.close()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, sqlerr.Canceled(ctx.Err())
		}
		fields, err := records.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if r.found == nil {
			r.found = lists.Map(records.header, func(string) *finder { return newFinder() })
		}
		for i := range fields {
			if r.null(&fields[i]) {
				r.found[i].nulls = true
			} else {
				r.found[i].add(fields[i].Text, records)
			}
		}
	}
	for i, name := range records.header {
		c := interop.Column{Name: name, Type: "text"}
		if r.found != nil {
			c.Type = r.found[i].typeName()
		}
		if t, ok := o.Types[name]; ok {
			c.Type = t
		}
		r.cols = append(r.cols, c)
	}
	for name := range o.Types {
		if !slices.Contains(records.header, name) {
			e := sqlerr.New(sqlerr.UndefinedColumn, "file \"%s\": there is no column \"%s\"", files[0], name)
			if near := sqlerr.Nearest(name, records.header); near != "" {
				return nil, e.WithHint("Perhaps you meant %q.", near)
			}
			return nil, e.WithHint("It has %s.", strings.Join(records.header, ", "))
		}
	}
	return r, nil
}

func (r *Reader) null(f *columns.Field) bool {
	return f.Null || r.opt.Null != "" && string(f.Text) == r.opt.Null
}

// Columns implements interop.Reader.
func (r *Reader) Columns() []interop.Column { return r.cols }

// Close implements interop.Reader.
func (r *Reader) Close() error { return nil }

// Empty reports whether the files have no rows, so that the types of their columns are not known.
func (r *Reader) Empty() bool { return r.found == nil }

// Remarks say, for columns whose values have no common type but a wide one, which value is the reason.
func (r *Reader) Remarks() (out []string) {
	for i, c := range r.cols {
		if _, given := r.opt.Types[c.Name]; given || r.found == nil {
			continue
		}
		if why := r.found[i].why(); why != "" {
			out = append(out, fmt.Sprintf("column \"%s\" is %s because of %s", c.Name, c.Type, why))
		}
	}
	return out
}

// Rows implements interop.Reader.
func (r *Reader) Rows(want []interop.Column) (interop.Rows, error) {
	out := &Rows{r: r, records: r.records()}
	for _, w := range want {
		i := slices.IndexFunc(r.cols, func(c interop.Column) bool { return c.Name == w.Name })
		if i < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "file \"%s\": there is no column \"%s\"", r.files[0], w.Name).
				WithHint("It has %s.", strings.Join(lists.Map(r.cols, func(c interop.Column) string { return c.Name }), ", "))
		}
		out.at, out.types = append(out.at, i), append(out.types, catalog.TypeOf(w.Type))
	}
	return out, nil
}

// Rows are the rows of the files.
type Rows struct {
	r       *Reader
	records *records
	at      []int
	types   []catalog.Type
}

// Place tells where the last row lies.
func (w *Rows) Place() string { return w.records.place() }

// Next implements interop.Rows.
func (w *Rows) Next(dst []any) error {
	fields, err := w.records.next()
	if err != nil {
		w.records.close()
		return err
	}
	for i, k := range w.at {
		if w.r.null(&fields[k]) {
			dst[i] = nil
		} else if dst[i], err = value(string(fields[k].Text), w.types[i]); err != nil {
			return w.records.in(err, k)
		}
	}
	return nil
}

// value reads a field in the form of interop.Rows.
func value(s string, t catalog.Type) (any, error) {
	v, err := columns.TextIn(s, t)
	if err == nil && t.IsChunk() {
		return columns.ToStored(v, t)
	}
	if x, ok := v.(float64); ok && math.IsNaN(x) {
		return nil, columns.ErrNaN().WithHint("Use NULL for a missing value: relgrad import --null %s makes it one in a "+
			"new table.", s)
	}
	return v, err
}

// records are those of all files.
type records struct {
	r      *Reader
	header []string
	file   int // of the files; -1 before the first
	open   io.ReadCloser
	csv    *columns.CopyReader
}

func (r *Reader) records() *records { return &records{r: r, file: -1} }

func (s *records) close() {
	if s.open != nil {
		s.open.Close()
		s.open = nil
	}
}

// next returns the next record; io.EOF after the last one of the last file.
func (s *records) next() ([]columns.Field, error) {
	for {
		if s.open == nil {
			if s.file+1 == len(s.r.files) {
				return nil, io.EOF
			}
			s.file++
			if err := s.begin(); err != nil {
				return nil, err
			}
		}
		fields, err := s.csv.Next()
		if err == io.EOF {
			s.close()
			continue
		}
		switch {
		case err != nil:
		case len(fields) > len(s.header):
			err = sqlerr.New(sqlerr.BadCopy, "extra data after last expected column")
		case len(fields) < len(s.header):
			err = sqlerr.New(sqlerr.BadCopy, "missing data for column \"%s\"", s.header[len(fields)])
		default:
			return fields, nil
		}
		return nil, s.in(err, -1)
	}
}

// begin opens the next file and reads its header.
func (s *records) begin() (err error) {
	name := s.r.files[s.file]
	if s.open, err = Uncompressed(name); err != nil {
		return err
	}
	delimiter := cmp.Or(s.r.opt.Delimiter, Delimiter(name))
	s.csv = columns.NewCopyReader(s.open, ast.CopyOptions{Format: "csv", Delimiter: delimiter}, 1, longest)
	fields, err := s.csv.Next()
	if err == io.EOF {
		return sqlerr.New(sqlerr.BadCopy, "file \"%s\" is empty", name).
			WithHint("Its first line must have the names of the columns.")
	} else if err != nil {
		return s.in(err, -1)
	}
	if err := separated(s.csv.Raw, len(fields), delimiter); err != nil {
		return s.in(err, -1)
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = strings.TrimSpace(strings.TrimPrefix(string(f.Text), "\ufeff"))
	}
	if s.header == nil {
		if s.header = names; s.file == 0 {
			return s.in(named(names, delimiter), -1)
		}
	}
	if !slices.Equal(names, s.header) {
		return sqlerr.New(sqlerr.BadCopy, "the files have different columns").
			WithDetail("File \"%s\" has %s; file \"%s\" has %s.", s.r.files[0], strings.Join(s.header, ", "), name,
				strings.Join(names, ", "))
	}
	return nil
}

// separators are what csv files are separated by, with their names in messages and on the command line.
var separators = []struct{ char, name, flag string }{{",", "comma", "','"}, {";", "semicolon", "';'"},
	{"\t", "tab", "tab"}, {"|", "bar", "'|'"}}

func separatorName(delimiter string) string {
	for _, s := range separators {
		if s.char == delimiter {
			return s.name
		}
	}
	return strconv.Quote(delimiter)
}

// separated refuses a first line that is one name because another character separates its fields.
func separated(line []byte, fields int, delimiter string) error {
	if fields != 1 || bytes.IndexByte(line, '"') >= 0 {
		return nil
	}
	most, flag := 0, ""
	for _, s := range separators {
		if n := bytes.Count(line, []byte(s.char)); n > most {
			most, flag = n, s.flag
		}
	}
	if most == 0 {
		return nil
	}
	return sqlerr.New(sqlerr.BadCopy, "the first line has no %s: \"%s\"", separatorName(delimiter),
		strings.ToValidUTF8(strings.TrimSpace(string(line)), "?")).
		WithHint("relgrad import --delimiter %s reads the file.", flag)
}

// named checks the names of columns.
func named(names []string, delimiter string) error {
	hint := "The first line must have the names of the columns, separated by " + separatorName(delimiter) + "s."
	for i, n := range names {
		switch {
		case n == "" && i == 0:
			return sqlerr.New(sqlerr.BadCopy, "column 1 has no name").
				WithHint("%s pandas writes a frame's index as such a column: to_csv(…, index=False) leaves it out.", hint)
		case n == "":
			return sqlerr.New(sqlerr.BadCopy, "column %d has no name", i+1).WithHint("%s", hint)
		case isNumber(n):
			return sqlerr.New(sqlerr.BadCopy, "\"%s\" in the first line is a number, not the name of a column", n).
				WithHint("%s", hint)
		case slices.Contains(names[:i], n):
			return sqlerr.New(sqlerr.DuplicateColumn, "two columns are named \"%s\"", n)
		}
	}
	return nil
}

// place tells where the last record lies.
func (s *records) place() string {
	return fmt.Sprintf("line %d, source %s", s.csv.Line, s.r.files[s.file])
}

// in tells an error its place: the last record, and a column unless that is -1.
func (s *records) in(err error, col int) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Context = s.place()
	if col >= 0 {
		c.Context = fmt.Sprintf("line %d, column %s, source %s", s.csv.Line, s.header[col], s.r.files[s.file])
	}
	return &c
}
