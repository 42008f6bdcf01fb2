package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// arrowFile is an Arrow IPC file (also called Feather, version 2).
// https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
type arrowFile struct {
	*source
	r     *ipc.FileReader
	cols  []Column
	field []int // the field of each column
	about about
}

func openArrow(s *source) (Reader, error) {
	if err := checkArrow(s); err != nil {
		return nil, err
	}
	r, err := ipc.NewFileReader(io.NewSectionReader(s, 0, s.size), ipc.WithAllocator(newLimited(s)))
	if err != nil {
		return nil, s.malformed("not a readable arrow file: %v", err)
	}
	f := &arrowFile{source: s, r: r}
	if f.about, err = s.aboutOf(r.Schema().Metadata().ToMap()); err != nil {
		return nil, err
	}
	for i, x := range r.Schema().Fields() {
		c := Column{Name: x.Name}
		if c.Type, c.Shape = arrowType(x.Type); c.Type == "" {
			c.Refused = fmt.Sprintf("values of Arrow's type %s", x.Type)
		}
		if t := f.about.Types[x.Name]; t != "" && c.Type == "text" {
			c.Type = t
		}
		f.cols, f.field = append(f.cols, c), append(f.field, i)
	}
	return f, s.someReadable(f.cols)
}

// aboutOf reads what relgrad recorded in a file's metadata.
func (s *source) aboutOf(meta map[string]string) (a about, err error) {
	if t, ok := meta[metaAbout]; ok {
		if err := json.Unmarshal([]byte(t), &a); err != nil {
			return a, s.malformed("metadata %s: %v", metaAbout, err)
		}
	}
	return a, nil
}

func (f *arrowFile) Columns() []Column { return f.cols }
func (f *arrowFile) Key() []string     { return f.about.Key }
func (f *arrowFile) Close() error      { return f.r.Close() }

// arrowType returns the Postgres type that holds a column's values exactly, "" where there is none.
func arrowType(t arrow.DataType) (typ string, shape tensor.Shape) {
	switch x := t.(type) {
	case *arrow.BooleanType:
		return "boolean", nil
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Uint8Type:
		return "smallint", nil
	case *arrow.Int32Type, *arrow.Uint16Type:
		return "integer", nil
	case *arrow.Int64Type, *arrow.Uint32Type, *arrow.Uint64Type:
		return "bigint", nil
	case *arrow.Float16Type, *arrow.Float32Type:
		return "real", nil
	case *arrow.Float64Type:
		return "double precision", nil
	case *arrow.StringType, *arrow.LargeStringType:
		return "text", nil
	case *arrow.Date32Type:
		return "date", nil
	case *arrow.TimestampType:
		if x.TimeZone != "" {
			return "timestamp with time zone", nil
		}
		return "timestamp without time zone", nil
	case *arrow.DictionaryType:
		return arrowType(x.ValueType)
	}
	return listType(t)
}

func listType(t arrow.DataType) (typ string, shape tensor.Shape) {
	switch x := t.(type) {
	case *arrow.FixedSizeListType:
		typ, shape = arrowType(x.Elem())
		_, array := baseType(typ)
		if n := int(x.Len()); n > 0 && n <= maxChunk && (len(shape) > 0 || !array) {
			shape = append(tensor.Shape{n}, shape...)
		} else {
			shape = nil
		}
	case *arrow.ListType:
		typ, _ = arrowType(x.Elem())
	case *arrow.LargeListType:
		typ, _ = arrowType(x.Elem())
	}
	if _, array := baseType(typ); !array && typ != "" {
		typ += "[]"
	}
	return typ, shape
}

// Rows implements Reader.
func (f *arrowFile) Rows(want []Column) (Rows, error) {
	at, err := f.pick(f.cols, want)
	if err != nil {
		return nil, err
	}
	r := &arrowRows{f: f}
	for i, k := range at {
		r.cols = append(r.cols, &arrowColumn{name: want[i].Name, field: f.field[k], b: newBuilder(want[i].Type)})
	}
	return r, nil
}

type arrowRows struct {
	f           *arrowFile
	cols        []*arrowColumn
	batch       arrow.Record
	batchN, row int
}

type arrowColumn struct {
	name  string
	field int
	b     *builder
	seen  int // rank of the value being read
}

// Next implements Rows.
func (r *arrowRows) Next(dst []any) (err error) {
	defer guard(r.f.name, "arrow", &err)
	for r.batch == nil || r.row == int(r.batch.NumRows()) {
		if r.batchN == r.f.r.NumRecords() {
			return io.EOF
		}
		if err := r.f.checkBatch(r.batchN); err != nil {
			return err
		}
		if r.batch, err = r.f.r.Record(r.batchN); err != nil {
			return r.f.malformed("record batch %d: %v", r.batchN+1, err)
		}
		r.batchN, r.row = r.batchN+1, 0
		for _, c := range r.cols {
			if n := r.batch.Column(c.field).Len(); int64(n) != r.batch.NumRows() {
				return r.f.malformed("record batch %d: column \"%s\" has %d rows of %d", r.batchN, c.name, n, r.batch.NumRows())
			}
		}
	}
	for i, c := range r.cols {
		a := r.batch.Column(c.field)
		if a.IsNull(r.row) {
			dst[i] = nil
			continue
		}
		c.b.reset()
		if err = c.read(a, r.row, 0); err == nil {
			dst[i], err = c.b.value()
		}
		if err != nil {
			return within(err,
				fmt.Sprintf("file \"%s\": column \"%s\", row %d of batch %d: ", r.f.name, c.name, r.row+1, r.batchN))
		}
	}
	r.row++
	return nil
}

// read adds element i of an array to the value being built; for lists it recurses.
func (c *arrowColumn) read(a arrow.Array, i, depth int) error {
	if a.IsNull(i) {
		return sqlerr.New(sqlerr.NullNotAllowed, "a list with a NULL element").
			WithHint("A chunk is dense: use 0, or leave the row out.")
	}
	if l, ok := a.(array.ListLike); ok {
		child := l.ListValues()
		from, to := l.ValueOffsets(i)
		if from < 0 || to < from || to > int64(child.Len()) {
			return sqlerr.New(sqlerr.BadCopy, "a list from element %d to %d of %d", from, to, child.Len())
		}
		n := int(to - from)
		if len(c.b.dims) == depth {
			c.b.dims = append(c.b.dims, n)
		}
		if c.b.dims[depth] != n || n == 0 {
			return sqlerr.New(sqlerr.ArraySubscript, "lists of %d and %d elements side by side", c.b.dims[depth], n).
				WithHint("Lists must be of one length, and not empty.")
		}
		for k := range n {
			if err := c.read(child, int(from)+k, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return c.leaf(a, i)
}

// leaf adds one scalar.
func (c *arrowColumn) leaf(a arrow.Array, i int) error {
	if v, ok := integer(a, i); ok {
		return c.b.int(v)
	}
	switch x := a.(type) {
	case *array.Boolean:
		return c.b.bool(x.Value(i))
	case *array.Uint64:
		if x.Value(i) > math.MaxInt64 {
			return outOfRange(x.Value(i), "bigint")
		}
		return c.b.int(int64(x.Value(i)))
	case *array.Float16:
		return c.float32(halfBits(x.Value(i).Uint16()))
	case *array.Float32:
		return c.float32(math.Float32bits(x.Value(i)))
	case *array.Float64:
		return c.b.float(x.Value(i), 0, false)
	case *array.String:
		return c.b.text(x.Value(i))
	case *array.LargeString:
		return c.b.text(x.Value(i))
	case *array.Date32:
		return c.b.date(int64(x.Value(i)))
	case *array.Timestamp:
		t := x.DataType().(*arrow.TimestampType)
		return c.b.timestamp(int64(x.Value(i)), t.Unit.Multiplier(), t.TimeZone != "")
	case *array.Dictionary:
		k := x.GetValueIndex(i)
		if k < 0 || k >= x.Dictionary().Len() || x.Dictionary().IsNull(k) {
			return sqlerr.New(sqlerr.BadCopy, "entry %d of a dictionary of %d", k, x.Dictionary().Len())
		}
		return c.leaf(x.Dictionary(), k)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "values of type %s", a.DataType())
}

// integer is entry i of an array of integers. ok is false for other types, and for values beyond bigint.
func integer(a arrow.Array, i int) (v int64, ok bool) {
	switch x := a.(type) {
	case *array.Int8:
		return int64(x.Value(i)), true
	case *array.Int16:
		return int64(x.Value(i)), true
	case *array.Int32:
		return int64(x.Value(i)), true
	case *array.Int64:
		return x.Value(i), true
	case *array.Uint8:
		return int64(x.Value(i)), true
	case *array.Uint16:
		return int64(x.Value(i)), true
	case *array.Uint32:
		return int64(x.Value(i)), true
	}
	return 0, false
}

func (c *arrowColumn) float32(bits uint32) error {
	return c.b.float(float64(math.Float32frombits(bits)), bits, true)
}

// limited allocates at most what a file may need: its own size, and what decompressing may make of it.
type limited struct {
	memory.Allocator
	s *source
}

func newLimited(s *source) memory.Allocator { return limited{memory.NewGoAllocator(), s} }

// maxExpand is the memory that any file may take; expand is how many times its size a larger one may take.
const (
	maxExpand = 256 << 20
	expand    = 1100
)

func (s *source) check(size int) {
	if size < 0 || int64(size) > max(maxExpand, min(expand*s.size, 2<<30)) {
		panic(s.malformed("it asks for %d bytes of memory for a file of %d", size, s.size))
	}
}

// Allocate implements memory.Allocator.
func (l limited) Allocate(size int) []byte {
	l.s.check(size)
	return l.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (l limited) Reallocate(size int, b []byte) []byte {
	l.s.check(size)
	return l.Allocator.Reallocate(size, b)
}
