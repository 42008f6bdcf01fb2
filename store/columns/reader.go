package columns

import (
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/tensor"
)

// Reader collects rows into vectors.
type Reader struct {
	types []catalog.Type
	cols  []*column.Column
	heads [][]byte
	nulls [][]int // rows that are NULL, by column
	n     int
	rows  int // expected number; 0: unknown
	room  ra.Room
	Blobs []*lite.Reader // of columns whose cells are row ids: large chunks, which are read into the vector
	since int            // bytes read since the last tensor.Trim
}

// trimBytes is how many bytes are read between two calls of tensor.Trim, which releases pages of files.
const trimBytes = 1 << 20

// NewReader collects rows of these types. rows is their expected number, 0 if unknown. room, unless nil, provides the
// memory of columns.
func NewReader(types []catalog.Type, rows int, room ra.Room) *Reader {
	r := &Reader{types: types, heads: make([][]byte, len(types)), Blobs: make([]*lite.Reader, len(types)),
		nulls: make([][]int, len(types)), rows: rows, room: room}
	for i, t := range types {
		kt, _ := KernelType(t, nil)
		if t.IsChunk() { // it gets memory when its shape is known
			r.cols = append(r.cols, column.New(kt, 0))
		} else {
			r.cols = append(r.cols, r.memory(i, kt))
		}
	}
	return r
}

// memory returns an empty column with capacity for the rows that are expected, because growing it would take twice the
// memory. It is the caller's memory for column i, where he provides some.
func (r *Reader) memory(i int, t kernels.Type) *column.Column {
	if r.room != nil && t.Kind != kernels.Text {
		if x := r.room(i, t, r.rows); x != nil {
			return x
		}
	}
	v := column.New(t, 0)
	v.Reserve(r.rows)
	return v
}

// Add appends a row.
func (r *Reader) Add(cells []lite.Cell) error {
	for i, t := range r.types {
		c, v := &cells[i], r.cols[i]
		if c.IsNull() {
			r.nulls[i] = append(r.nulls[i], r.n)
		}
		switch {
		case t.IsChunk():
			if err := r.chunk(i, c); err != nil {
				return err
			}
		case v.Kind() == column.I64:
			v.AddI64(intOrZero(c))
		case v.Kind() == column.F32:
			v.AddF32(float32(floatOrZero(c, t)))
		case v.Kind() == column.F64:
			v.AddF64(floatOrZero(c, t))
		default:
			v.AddText(c.String())
		}
	}
	r.n++
	if r.since += 8 * len(r.types); r.since > trimBytes {
		r.since = 0
		tensor.Trim()
	}
	return nil
}

func intOrZero(c *lite.Cell) int64 {
	if c.IsNull() {
		return 0
	}
	return c.Int()
}

func floatOrZero(c *lite.Cell, t catalog.Type) float64 {
	switch {
	case c.IsNull():
		return 0
	case t.Is(catalog.Numeric):
		n, _ := NumericOf(c)
		return n.Float64()
	}
	return c.Float()
}

// chunk appends a chunk's elements; NULL rows hold zeros.
func (r *Reader) chunk(i int, c *lite.Cell) error {
	v := r.cols[i]
	if c.IsNull() {
		if r.heads[i] != nil {
			r.zeros(i, 1)
		}
		return nil
	}
	b, size, err := r.begin(i, c)
	if err != nil {
		return err
	}
	if r.heads[i] == nil {
		_, shape, err := tensor.Head(b, size)
		if err != nil {
			return sqlerr.New(sqlerr.DataCorrupted, "%v", err)
		}
		t := v.Type()
		t.Shape = shape
		v = r.memory(i, t)
		r.cols[i], r.heads[i] = v, append([]byte(nil), b[:4+4*len(shape)]...)
		r.zeros(i, r.n) // the rows before it were NULL
	}
	h := r.heads[i]
	if len(b) < len(h) || string(b[:len(h)]) != string(h) {
		return sqlerr.New(sqlerr.ArraySubscript, "column %d of the query has chunks of shapes %v and %v", i+1, v.Type().Shape,
			HeadShape(b)).WithHint("All chunks of a column must have one shape.")
	}
	if want := len(h) + v.Size()*r.types[i].DType().Size(); size != want {
		return sqlerr.New(sqlerr.DataCorrupted, "a chunk of shape %v has %d bytes, not %d", v.Type().Shape, size, want)
	}
	r.since += size - len(h)
	if v.Type().Kind == kernels.Float32 {
		at := len(v.F32())
		v.Extend((size - len(h)) / 4)
		return numbersOf(r.Blobs[i], v.F32()[at:], b, len(h))
	}
	at := len(v.F64())
	v.Extend((size - len(h)) / 8)
	return numbersOf(r.Blobs[i], v.F64()[at:], b, len(h))
}

// begin returns a chunk and its size. Of a chunk that is read later from a blob it returns the header only.
func (r *Reader) begin(i int, c *lite.Cell) (b []byte, size int, err error) {
	if r.Blobs[i] == nil {
		b = c.Bytes()
		return b, len(b), nil
	}
	if size, err = r.Blobs[i].Row(c.Int()); err != nil {
		return nil, 0, err
	}
	b = make([]byte, min(size, tensor.MaxHeader))
	return b, size, r.Blobs[i].Read(b, 0)
}

// numbersOf reads the numbers of a chunk from byte off on. b is the whole chunk, or with a blob its header.
func numbersOf[T float32 | float64](blob *lite.Reader, to []T, b []byte, off int) error {
	if blob == nil {
		tensor.GetFloats(to, b[off:])
		return nil
	}
	err := blob.Read(tensor.AsBytes(to), off)
	tensor.FromStored(to)
	return err
}

func (r *Reader) zeros(i, rows int) { r.cols[i].AddZeros(rows * r.cols[i].Size()) }

// Vectors are the columns of all rows added.
func (r *Reader) Vectors() []*column.Column {
	for i, v := range r.cols {
		v.SetLen(r.n)
		for _, k := range r.nulls[i] {
			v.SetNull(k)
		}
	}
	return r.cols
}
