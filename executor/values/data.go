package values

import (
	"slices"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// Kind is the representation of a column or register.
type Kind uint8

const (
	F64 Kind = iota
	F32
	I64 // Int, and Bool as 0 and 1
	Str
)

func KindOf(t kernels.Type) Kind {
	switch t.Kind {
	case kernels.Float64:
		return F64
	case kernels.Float32:
		return F32
	case kernels.Text:
		return Str
	}
	return I64
}

// Bytes returns the size of one element; texts live on the Go heap and count nothing.
func (k Kind) Bytes() int { return [...]int{8, 4, 8, 0}[k] }

// Column is a column: n rows of size elements, in the slice of its kind. In a block, a register.
type Column struct {
	Kind    Kind
	Size, N int
	F64     []float64
	F32     []float32
	I64     []int64
	Texts   []string
	Valid   []byte         // 1: valid, 0: NULL; nil: no NULL
	Buf     *tensor.Buffer // what owns the memory, nil where another does
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

// Place lays the column over a buffer from byte off on.
func Place(buf *tensor.Buffer, off int, k Kind, n, size int, nullable bool) Column {
	d := Column{Kind: k, N: n, Size: size}
	switch k {
	case F64:
		d.F64 = tensor.View[float64](buf, off, n*size)
	case F32:
		d.F32 = tensor.View[float32](buf, off, n*size)
	case I64:
		d.I64 = tensor.View[int64](buf, off, n*size)
	default:
		d.Texts = make([]string, n*size)
	}
	if nullable {
		d.Valid = tensor.View[byte](buf, off+Aligned(n*size*k.Bytes()), n)
		if d.Valid == nil {
			d.Valid = []byte{}
		}
	}
	return d
}

// NewColumn allocates a column of its own.
func NewColumn(k Kind, n, size int, nullable bool) (*Column, error) {
	buf, err := tensor.NewBuffer(Bytes(k, n, size, nullable))
	if err != nil {
		return nil, OutOfMemory(err)
	}
	d := Place(buf, 0, k, n, size, nullable)
	d.Buf = buf
	return &d, nil
}

// OnHeap allocates a column in Go's memory.
func OnHeap(k Kind, n, size int, nullable bool) Column {
	d := Column{Kind: k, N: n, Size: size}
	switch k {
	case F64:
		d.F64 = tensor.Huge(make([]float64, n*size))
	case F32:
		d.F32 = tensor.Huge(make([]float32, n*size))
	case I64:
		d.I64 = tensor.Huge(make([]int64, n*size))
	default:
		d.Texts = make([]string, n*size)
	}
	if nullable {
		d.Valid = make([]byte, n)
	}
	return d
}

// Bytes are the column's numbers.
func (d *Column) Bytes() []byte {
	switch d.Kind {
	case F64:
		return tensor.AsBytes(d.F64)
	case F32:
		return tensor.AsBytes(d.F32)
	case I64:
		return tensor.AsBytes(d.I64)
	}
	return nil
}

func (d *Column) Free() {
	if d != nil {
		d.Buf.Free()
		d.Buf = nil
	}
}

// Rows returns the rows [lo, hi) as a view.
func (d *Column) Rows(lo, hi int) Column {
	v := Column{Kind: d.Kind, Size: d.Size, N: hi - lo}
	a, b := lo*d.Size, hi*d.Size
	switch d.Kind {
	case F64:
		v.F64 = d.F64[a:b]
	case F32:
		v.F32 = d.F32[a:b]
	case I64:
		v.I64 = d.I64[a:b]
	default:
		v.Texts = d.Texts[a:b]
	}
	if d.Valid != nil {
		v.Valid = d.Valid[lo:hi]
	}
	return v
}

// FromVector shares the vector's slices.
func FromVector(v *ra.Vector) *Column {
	d := &Column{Kind: KindOf(v.Type), N: v.N, Size: v.Type.Size(), F64: v.F64, F32: v.F32, I64: v.Ints, Texts: v.Texts}
	if v.Valid != nil {
		d.Valid = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v.Valid))), len(v.Valid))
	}
	return d
}

// Vector copies the column out. The type's kind decides the dtype.
func (d *Column) Vector(t kernels.Type) *ra.Vector {
	v := d.AsVector(t)
	v.F64, v.F32, v.Ints, v.Texts = slices.Clone(v.F64), slices.Clone(v.F32), slices.Clone(v.Ints), slices.Clone(v.Texts)
	return v
}

// AsVector is the column as it lies in memory, but for what tells NULLs.
func (d *Column) AsVector(t kernels.Type) *ra.Vector {
	v := &ra.Vector{Type: t, N: d.N}
	switch d.Kind {
	case F64:
		v.F64 = some(d.F64)
	case F32:
		v.F32 = some(d.F32)
	case I64:
		v.Ints = some(d.I64)
	default:
		v.Texts = some(d.Texts)
	}
	if d.Valid != nil {
		v.Valid = make([]bool, d.N)
		for i, b := range d.Valid {
			v.Valid[i] = b != 0
		}
	}
	return v
}

// some is x, not nil: which of a vector's slices is set tells its kind.
func some[T any](x []T) []T {
	if x == nil {
		return []T{}
	}
	return x
}

// Value returns row i in the reference representation, as type t.
func (d *Column) Value(i int, t kernels.Type) kernels.Value {
	v := kernels.Value{Type: t}
	if d.Valid != nil && d.Valid[i] == 0 {
		v.Null = true
		return v
	}
	lo, hi := i*d.Size, (i+1)*d.Size
	switch {
	case d.Kind == Str:
		v.T = d.Texts[i]
	case d.Kind == I64 && t.Shape != nil:
		v.Ints = append([]int64{}, d.I64[lo:hi]...)
	case d.Kind == I64:
		v.I = d.I64[i]
		if t.IsFloat() {
			v.I, v.X = 0, float64(d.I64[i])
		}
	case t.Shape == nil && d.Kind == F32:
		v.X = float64(d.F32[i])
	case t.Shape == nil:
		v.X = d.F64[i]
	case d.Kind == F32:
		v.F = make([]float64, d.Size)
		for j, x := range d.F32[lo:hi] {
			v.F[j] = float64(x)
		}
	default:
		v.F = append([]float64(nil), d.F64[lo:hi]...)
	}
	return v
}

// SetValue writes row i; a NULL zeroes the data. It reports whether a NULL had no place.
func (d *Column) SetValue(i int, v kernels.Value) (ok bool) {
	if d.Valid != nil {
		d.Valid[i] = 1
	}
	if v.Null {
		d.ZeroRow(i)
		if d.Valid == nil {
			return false
		}
		d.Valid[i] = 0
		return true
	}
	lo := i * d.Size
	switch d.Kind {
	case Str:
		d.Texts[i] = v.T
	case I64:
		if d.Size == 1 && v.Ints == nil {
			d.I64[i] = v.I
		}
		copy(d.I64[lo:], v.Ints)
	case F32:
		if d.Size == 1 && v.F == nil {
			d.F32[i] = float32(v.Float())
		}
		for j, x := range v.F {
			d.F32[lo+j] = float32(x)
		}
	default:
		if d.Size == 1 && v.F == nil {
			d.F64[i] = v.Float()
		}
		copy(d.F64[lo:], v.F)
	}
	return true
}

func (d *Column) ZeroRow(i int) {
	lo, hi := i*d.Size, (i+1)*d.Size
	switch d.Kind {
	case F64:
		clear(d.F64[lo:hi])
	case F32:
		clear(d.F32[lo:hi])
	case I64:
		clear(d.I64[lo:hi])
	default:
		clear(d.Texts[lo:hi])
	}
}

func OutOfMemory(err error) error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("%v.", err).Wrap(err)
}

// Float is an element type of chunks.
type Float interface{ float32 | float64 }

// Numbers returns the elements of a cell whose kind is T's.
func Numbers[T Float](d *Column) []T {
	var t T
	if unsafe.Sizeof(t) == 4 {
		return *(*[]T)(unsafe.Pointer(&d.F32))
	}
	return *(*[]T)(unsafe.Pointer(&d.F64))
}

// Bits are whole numbers as what has as many bits.
func Bits(x []int64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// Float is element i of a float column.
func (d *Column) Float(i int) float64 {
	if d.Kind == F32 {
		return float64(d.F32[i])
	}
	return d.F64[i]
}

// SetFloat writes element i of a float column, rounded to its kind.
func (d *Column) SetFloat(i int, x float64) {
	if d.Kind == F32 {
		d.F32[i] = float32(x)
		return
	}
	d.F64[i] = x
}

// NumbersOf are a vector's numbers as bytes.
func NumbersOf(v *ra.Vector) []byte {
	switch {
	case v.F64 != nil:
		return tensor.AsBytes(v.F64)
	case v.F32 != nil:
		return tensor.AsBytes(v.F32)
	}
	return tensor.AsBytes(v.Ints)
}

// Shared is a column on the heap as a vector with the same memory.
func (d *Column) Shared(t kernels.Type) *ra.Vector {
	return &ra.Vector{Type: t, N: d.N, Ints: d.I64, F32: d.F32, F64: d.F64, Texts: d.Texts, Valid: bools(d.Valid)}
}

// Over reports whether a vector's numbers are the data's.
func (d *Column) Over(v *ra.Vector) bool {
	a, b := d.Bytes(), NumbersOf(v)
	return len(b) > 0 && len(a) >= len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

func (d *Column) Fill(v *ra.Vector) {
	copy(d.F64, v.F64)
	copy(d.F32, v.F32)
	if d.F64 != nil {
		for i, x := range v.F32 {
			d.F64[i] = float64(x)
		}
	}
}

func bools(b []byte) []bool {
	if b == nil {
		return nil
	}
	out := make([]bool, len(b))
	for i, x := range b {
		out[i] = x != 0
	}
	return out
}
