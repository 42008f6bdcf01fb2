package interop

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// Column is a column of a file or table. Type is a Postgres type name ("real[]"); Shape is the shape of each row's
// chunk, if known. A file's column that cannot be read has no Type, and Refused says what it holds.
type Column struct {
	Name, Type string
	Shape      tensor.Shape
	Refused    string
}

// Readable returns an error for the first column of a file that cannot be read. Whoever reads all columns must call it.
func Readable(file string, cols []Column) error {
	for _, c := range cols {
		if c.Refused != "" {
			return refused(file, c)
		}
	}
	return nil
}

func refused(file string, c Column) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "file \"%s\": column \"%s\" holds %s, which are not readable", file,
		c.Name, c.Refused).WithHint("%s To leave the column out, name the others: TABLE (…).", readable)
}

const readable = "Readable are booleans, integers, floats, texts, dates, timestamps and lists of these."

// someReadable refuses a file of which nothing can be read.
func (s *source) someReadable(cols []Column) error {
	switch {
	case len(cols) == 0:
		return s.unsupported("it has no columns")
	case !slices.ContainsFunc(cols, func(c Column) bool { return c.Refused == "" }):
		return s.unsupported("none of its columns is readable").
			WithDetail("Column \"%s\" holds %s.", cols[0].Name, cols[0].Refused).WithHint(readable)
	}
	return nil
}

// Reader is an open file, read as a relation.
type Reader interface {
	// Columns lists the file's columns with the types that hold their values exactly.
	Columns() []Column
	// Key names the primary key of the table that was written, nil where the file does not tell.
	Key() []string
	// Rows reads columns of the file, by name, as values of the given types.
	Rows(want []Column) (Rows, error)
	Close() error
}

// Rows are a file's rows, in its order.
type Rows interface {
	// Next writes the next row to dst, one value for each wanted column; io.EOF after the last row. The values are
	// valid until the next call.
	Next(dst []any) error
}

// Sink writes a file, which is complete only when Close returns nil.
type Sink interface {
	// Begin begins a relation. name is the table's, "" for the result of a query; key names the columns of its primary
	// key.
	Begin(name string, cols []Column, key []string) error
	// Write adds a row of the relation.
	Write(row []any) error
	// Close completes the file, Abort gives it up.
	Close() error
	Abort()
}

// Options of a file.
type Options struct {
	// Whole reads and writes each array as the chunk of a single row, instead of rows along its first dimension.
	Whole bool
	// Table chooses, in a file with arrays named table.column, the table to read.
	Table string
}

// File is the data of a file.
type File interface {
	io.ReaderAt
	io.Reader
}

// source is the file being read.
type source struct {
	File
	name string
	size int64
	opt  Options
}

type format struct {
	extensions []string
	arrays     bool // a file of named arrays: Options apply
	open       func(*source) (Reader, error)
	create     func(*target) (Sink, error)
}

// target is the file being written.
type target struct {
	io.Writer
	name string
	opt  Options
}

// formats are the formats by their names in COPY's option FORMAT.
var formats map[string]*format

func init() {
	formats = map[string]*format{
		"npy":         {[]string{".npy"}, true, openNpy, createNpy},
		"npz":         {[]string{".npz"}, true, openNpz, createNpz},
		"safetensors": {[]string{".safetensors"}, true, openSafetensors, createSafetensors},
		"arrow":       {[]string{".arrow", ".feather"}, false, openArrow, createArrow},
		"parquet":     {[]string{".parquet", ".pq"}, false, openParquet, createParquet},
	}
}

// Formats lists the names of the formats.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// FormatOf returns a file's format by its extension, "" for other extensions.
func FormatOf(path string) string {
	ext := strings.ToLower(filepath.Ext(path))
	for n, f := range formats {
		if slices.Contains(f.extensions, ext) {
			return n
		}
	}
	return ""
}

// Arrays reports whether files of the format are sets of arrays, for which Whole has a meaning.
func Arrays(name string) bool { return formats[name] != nil && formats[name].arrays }

// Open reads the beginning of a file of size bytes. name is for errors.
func Open(format string, f File, size int64, name string, o Options) (r Reader, err error) {
	x, err := find(format, o)
	if err != nil {
		return nil, err
	}
	defer guard(name, format, &err)
	return x.open(&source{f, name, size, o})
}

// Create begins a file, which is written to w when the sink is closed.
func Create(format string, w io.Writer, name string, o Options) (Sink, error) {
	x, err := find(format, o)
	if err != nil {
		return nil, err
	}
	return x.create(&target{w, name, o})
}

func find(name string, o Options) (*format, error) {
	f := formats[name]
	if f == nil {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "format \"%s\" not recognized", name).
			WithHint("The formats are %s.", strings.Join(Formats(), ", "))
	}
	if o.Whole && !f.arrays {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "WHOLE has no meaning for the format %s", name).
			WithHint("It is for files of arrays: npy, npz and safetensors.")
	}
	return f, nil
}

// malformed is the error of a file that violates its format.
func (s *source) malformed(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.BadCopy, "file \"%s\": %s", s.name, fmt.Sprintf(format, args...))
}

// unsupported is the error of a well-formed file with content that relgrad does not read.
func (s *source) unsupported(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "file \"%s\": %s", s.name, fmt.Sprintf(format, args...))
}

func (t *target) refuse(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "file \"%s\": %s", t.name, fmt.Sprintf(format, args...))
}

func (t *target) failed(err error) error {
	if err == nil {
		return nil
	}
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return err
	}
	return sqlerr.New(sqlerr.IO, "could not write file \"%s\": %v", t.name, err).Wrap(err)
}

// guard turns a panic of a library over a malformed file into an error.
func guard(file, format string, err *error) {
	switch p := recover().(type) {
	case nil:
	case *sqlerr.Error:
		*err = p
	default:
		*err = sqlerr.New(sqlerr.BadCopy, "file \"%s\": not a readable %s file: %s", file, format, firstLine(fmt.Sprint(p)))
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.ToValidUTF8(s, "?")
}

// pick finds the wanted columns among those of the file.
func (s *source) pick(have, want []Column) ([]int, error) {
	out := make([]int, len(want))
	for i, w := range want {
		out[i] = slices.IndexFunc(have, func(c Column) bool { return c.Name == w.Name })
		if out[i] < 0 {
			names := lists.Map(have, func(c Column) string { return c.Name })
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "file \"%s\": there is no column \"%s\"", s.name, w.Name).
				WithHint("It has %s.", list(names))
		}
		if c := have[out[i]]; c.Refused != "" {
			return nil, refused(s.name, c)
		}
	}
	return out, nil
}

// list prints names for a hint.
func list(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// maxChunk is the largest chunk in bytes: SQLite's limit of a value minus the chunk's header.
const maxChunk = 1_000_000_000 - 64

// baseType splits "real[]" into "real" and whether it is an array.
func baseType(t string) (elem string, array bool) { return strings.CutSuffix(t, "[]") }

// chunkType gives the dtype of a chunk's type name.
func chunkType(t string) (tensor.DType, bool) {
	switch t {
	case "real[]":
		return tensor.Float32, true
	case "double precision[]":
		return tensor.Float64, true
	}
	return 0, false
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// within prefixes an error's message with its place.
func within(err error, where string) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return sqlerr.New(sqlerr.BadCopy, "%s%v", where, err).Wrap(err)
	}
	c := *e
	c.Message = where + e.Message
	return &c
}
