package column

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// Column is a column of data, or a register.
type Column struct {
	typ     kernels.Type
	kind    Kind
	size, n int
	f64     []float64
	f32     []float32
	i64     []int64
	texts   []string
	valid   []byte
	buf     *tensor.Buffer
}

// Element is what a column holds.
type Element interface {
	float64 | float32 | int64 | string
}

// New returns a zeroed column of n rows on the Go heap.
func New(t kernels.Type, n int) *Column {
	c := OnHeap(KindOf(t), n, t.Size(), false)
	c.typ = t
	return &c
}

// Of returns the column of these elements, which are not copied. It has as many rows as they are.
func Of[T Element](t kernels.Type, x []T) *Column {
	c := &Column{typ: t, size: t.Size()}
	c.n = len(x) / max(c.size, 1)
	switch x := any(x).(type) {
	case []float64:
		c.kind, c.f64 = F64, x
	case []float32:
		c.kind, c.f32 = F32, x
	case []int64:
		c.kind, c.i64 = I64, x
	case []string:
		c.kind, c.texts = Str, x
	}
	return c
}

// Aligned is a size in bytes, a multiple of a cache line.
func Aligned(n int) int { return (n + 63) &^ 63 }

// Bytes returns the bytes that a column takes in a buffer.
func Bytes(k Kind, n, size int, nullable bool) int {
	b := Aligned(n * size * k.Bytes())
	if nullable {
		b += Aligned(n)
	}
	return b
}

// Place lays a column over a buffer from byte off on. The buffer stays its owner's.
func Place(buf *tensor.Buffer, off int, k Kind, n, size int, nullable bool) Column {
	c := Column{typ: k.plain(), kind: k, n: n, size: size}
	switch k {
	case F64:
		c.f64 = tensor.View[float64](buf, off, n*size)
	case F32:
		c.f32 = tensor.View[float32](buf, off, n*size)
	case I64:
		c.i64 = tensor.View[int64](buf, off, n*size)
	default:
		c.texts = make([]string, n*size)
	}
	if nullable {
		c.valid = tensor.View[byte](buf, off+Aligned(n*size*k.Bytes()), n)
		if c.valid == nil {
			c.valid = []byte{}
		}
	}
	return c
}

// Allocate returns a column that owns a buffer.
func Allocate(k Kind, n, size int, nullable bool) (*Column, error) {
	buf, err := tensor.NewBuffer(Bytes(k, n, size, nullable))
	if err != nil {
		return nil, OutOfMemory(err)
	}
	c := Over(buf, k, n, size, nullable)
	return &c, nil
}

// Over lays a column over a buffer that it owns from now on.
func Over(buf *tensor.Buffer, k Kind, n, size int, nullable bool) Column {
	c := Place(buf, 0, k, n, size, nullable)
	c.buf = buf
	return c
}

// Planned is a column that has no memory yet.
func Planned(k Kind, n, size int) *Column { return &Column{typ: k.plain(), kind: k, n: n, size: size} }

// OutOfMemory is the error of memory that does not suffice.
func OutOfMemory(err error) error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("%v.", err).Wrap(err)
}

// OnHeap returns a column in Go's memory.
func OnHeap(k Kind, n, size int, nullable bool) Column {
	c := Column{typ: k.plain(), kind: k, n: n, size: size}
	switch k {
	case F64:
		c.f64 = tensor.Huge(make([]float64, n*size))
	case F32:
		c.f32 = tensor.Huge(make([]float32, n*size))
	case I64:
		c.i64 = tensor.Huge(make([]int64, n*size))
	default:
		c.texts = make([]string, n*size)
	}
	if nullable {
		c.valid = make([]byte, n)
	}
	return c
}

// Type, Kind, Size and Len are what its values are, how they lie in memory, the elements of a row, and the rows.
func (c *Column) Type() kernels.Type { return c.typ }
func (c *Column) Kind() Kind         { return c.kind }
func (c *Column) Size() int          { return c.size }
func (c *Column) Len() int           { return c.n }

// F64, F32, I64 and Texts are the elements, of the kind of that name: else nil.
func (c *Column) F64() []float64  { return c.f64 }
func (c *Column) F32() []float32  { return c.f32 }
func (c *Column) I64() []int64    { return c.i64 }
func (c *Column) Texts() []string { return c.texts }

// Float is an element of a chunk.
type Float interface{ float32 | float64 }

// Numbers are the elements of a column whose kind is T's.
func Numbers[T Float](c *Column) []T {
	var t T
	if unsafe.Sizeof(t) == 4 {
		return *(*[]T)(unsafe.Pointer(&c.f32))
	}
	return *(*[]T)(unsafe.Pointer(&c.f64))
}

// Bytes are the numbers as they lie in memory.
func (c *Column) Bytes() []byte {
	switch c.kind {
	case F64:
		return tensor.AsBytes(c.f64)
	case F32:
		return tensor.AsBytes(c.f32)
	case I64:
		return tensor.AsBytes(c.i64)
	}
	return nil
}

// Buffer is the buffer that the column owns, nil where another does.
func (c *Column) Buffer() *tensor.Buffer { return c.buf }

// Free gives the column's memory back.
func (c *Column) Free() {
	if c != nil {
		c.buf.Free()
		c.buf = nil
	}
}

// Valid has a byte for each row: 1, or 0 where it is NULL. It is nil where no row can be.
func (c *Column) Valid() []byte { return c.valid }

// IsNull reports whether row i is NULL.
func (c *Column) IsNull(i int) bool { return c.valid != nil && c.valid[i] == 0 }

// SetNull makes row i NULL.
func (c *Column) SetNull(i int) {
	if c.valid == nil {
		c.SetValid(ones(c.n))
	}
	c.valid[i] = 0
}

// SetValid says which rows are NULL: nil, none is.
func (c *Column) SetValid(valid []byte) { c.valid, c.typ.Nullable = valid, valid != nil }

func ones(n int) []byte { return bytes.Repeat([]byte{1}, n) }

// Rows returns the rows [lo, hi) as a view.
func (c *Column) Rows(lo, hi int) Column {
	v := Column{typ: c.typ, kind: c.kind, size: c.size, n: hi - lo}
	a, b := lo*c.size, hi*c.size
	switch c.kind {
	case F64:
		v.f64 = c.f64[a:b]
	case F32:
		v.f32 = c.f32[a:b]
	case I64:
		v.i64 = c.i64[a:b]
	default:
		v.texts = c.texts[a:b]
	}
	if c.valid != nil {
		v.valid = c.valid[lo:hi]
	}
	return v
}

// As is the same memory as a column of type t.
func (c *Column) As(t kernels.Type) *Column {
	v := *c
	v.typ, v.buf = t, nil
	return &v
}

// Shaped is the same memory as n rows of size elements, of which none is NULL.
func (c *Column) Shaped(n, size int) Column {
	v := *c
	v.n, v.size, v.buf, v.valid = n, size, nil, nil
	return v
}

// Clone is a copy on the Go heap.
func (c *Column) Clone() *Column {
	v := *c
	v.f64, v.f32, v.i64 = slices.Clone(c.f64), slices.Clone(c.f32), slices.Clone(c.i64)
	v.texts, v.valid, v.buf = slices.Clone(c.texts), slices.Clone(c.valid), nil
	return &v
}

// SameMemory reports whether o's numbers are the first of c's.
func SameMemory(c, o *Column) bool {
	a, b := c.Bytes(), o.Bytes()
	return len(b) > 0 && len(a) >= len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// Equal reports whether two columns have the same elements and the same NULLs.
func Equal(a, b *Column) bool {
	return a.n == b.n && slices.Equal(a.i64, b.i64) && slices.Equal(a.texts, b.texts) && slices.Equal(a.f64, b.f64) &&
		slices.Equal(a.f32, b.f32) && slices.Equal(a.valid, b.valid)
}
