package executor

import (
	"slices"
	"unsafe"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// kind is the representation of a column or register.
type kind uint8

const (
	f64 kind = iota
	f32
	i64 // Int, and Bool as 0 and 1
	str
)

func kindOf(t kernels.Type) kind {
	switch t.Kind {
	case kernels.Float64:
		return f64
	case kernels.Float32:
		return f32
	case kernels.Text:
		return str
	}
	return i64
}

// bytes returns the size of one element; texts live on the Go heap and count nothing.
func (k kind) bytes() int { return [...]int{8, 4, 8, 0}[k] }

// data is a column: n rows of size elements, in the slice of its kind. In a block, a register.
type data struct {
	kind    kind
	size, n int
	f64     []float64
	f32     []float32
	i64     []int64
	str     []string
	valid   []byte         // 1: valid, 0: NULL; nil: no NULL
	buf     *tensor.Buffer // what owns the memory, nil where another does
}

// span is a size in bytes, a multiple of a cache line.
func span(n int) int { return (n + 63) &^ 63 }

// need returns the bytes that a column takes in a buffer.
func need(k kind, n, size int, nullable bool) int {
	b := span(n * size * k.bytes())
	if nullable {
		b += span(n)
	}
	return b
}

// place lays the column over a buffer from byte off on.
func place(buf *tensor.Buffer, off int, k kind, n, size int, nullable bool) data {
	d := data{kind: k, n: n, size: size}
	switch k {
	case f64:
		d.f64 = tensor.View[float64](buf, off, n*size)
	case f32:
		d.f32 = tensor.View[float32](buf, off, n*size)
	case i64:
		d.i64 = tensor.View[int64](buf, off, n*size)
	default:
		d.str = make([]string, n*size)
	}
	if nullable {
		d.valid = tensor.View[byte](buf, off+span(n*size*k.bytes()), n)
		if d.valid == nil {
			d.valid = []byte{}
		}
	}
	return d
}

// newData allocates a column of its own.
func newData(k kind, n, size int, nullable bool) (*data, error) {
	buf, err := tensor.NewBuffer(need(k, n, size, nullable))
	if err != nil {
		return nil, outOfMemory(err)
	}
	d := place(buf, 0, k, n, size, nullable)
	d.buf = buf
	return &d, nil
}

// onHeap allocates a column in Go's memory.
func onHeap(k kind, n, size int, nullable bool) data {
	d := data{kind: k, n: n, size: size}
	switch k {
	case f64:
		d.f64 = tensor.Huge(make([]float64, n*size))
	case f32:
		d.f32 = tensor.Huge(make([]float32, n*size))
	case i64:
		d.i64 = tensor.Huge(make([]int64, n*size))
	default:
		d.str = make([]string, n*size)
	}
	if nullable {
		d.valid = make([]byte, n)
	}
	return d
}

// bytes are the column's numbers.
func (d *data) bytes() []byte {
	switch d.kind {
	case f64:
		return tensor.AsBytes(d.f64)
	case f32:
		return tensor.AsBytes(d.f32)
	case i64:
		return tensor.AsBytes(d.i64)
	}
	return nil
}

func (d *data) free() {
	if d != nil {
		d.buf.Free()
		d.buf = nil
	}
}

// rows returns the rows [lo, hi) as a view.
func (d *data) rows(lo, hi int) data {
	v := data{kind: d.kind, size: d.size, n: hi - lo}
	a, b := lo*d.size, hi*d.size
	switch d.kind {
	case f64:
		v.f64 = d.f64[a:b]
	case f32:
		v.f32 = d.f32[a:b]
	case i64:
		v.i64 = d.i64[a:b]
	default:
		v.str = d.str[a:b]
	}
	if d.valid != nil {
		v.valid = d.valid[lo:hi]
	}
	return v
}

// fromVector shares the vector's slices.
func fromVector(v *ra.Vector) *data {
	d := &data{kind: kindOf(v.Type), n: v.N, size: v.Type.Size(), f64: v.F64, f32: v.F32, i64: v.Ints, str: v.Texts}
	if v.Valid != nil {
		d.valid = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v.Valid))), len(v.Valid))
	}
	return d
}

// vector copies the column out. The type's kind decides the dtype.
func (d *data) vector(t kernels.Type) *ra.Vector {
	v := d.asVector(t)
	v.F64, v.F32, v.Ints, v.Texts = slices.Clone(v.F64), slices.Clone(v.F32), slices.Clone(v.Ints), slices.Clone(v.Texts)
	return v
}

// asVector is the column as it lies in memory, but for what tells NULLs.
func (d *data) asVector(t kernels.Type) *ra.Vector {
	v := &ra.Vector{Type: t, N: d.n}
	switch d.kind {
	case f64:
		v.F64 = some(d.f64)
	case f32:
		v.F32 = some(d.f32)
	case i64:
		v.Ints = some(d.i64)
	default:
		v.Texts = some(d.str)
	}
	if d.valid != nil {
		v.Valid = make([]bool, d.n)
		for i, b := range d.valid {
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

// value returns row i in the reference representation, as type t.
func (d *data) value(i int, t kernels.Type) kernels.Value {
	v := kernels.Value{Type: t}
	if d.valid != nil && d.valid[i] == 0 {
		v.Null = true
		return v
	}
	lo, hi := i*d.size, (i+1)*d.size
	switch {
	case d.kind == str:
		v.T = d.str[i]
	case d.kind == i64 && t.Shape != nil:
		v.Ints = append([]int64{}, d.i64[lo:hi]...)
	case d.kind == i64:
		v.I = d.i64[i]
		if t.IsFloat() {
			v.I, v.X = 0, float64(d.i64[i])
		}
	case t.Shape == nil && d.kind == f32:
		v.X = float64(d.f32[i])
	case t.Shape == nil:
		v.X = d.f64[i]
	case d.kind == f32:
		v.F = make([]float64, d.size)
		for j, x := range d.f32[lo:hi] {
			v.F[j] = float64(x)
		}
	default:
		v.F = append([]float64(nil), d.f64[lo:hi]...)
	}
	return v
}

// setValue writes row i; a NULL zeroes the data. It reports whether a NULL had no place.
func (d *data) setValue(i int, v kernels.Value) (ok bool) {
	if d.valid != nil {
		d.valid[i] = 1
	}
	if v.Null {
		d.zeroRow(i)
		if d.valid == nil {
			return false
		}
		d.valid[i] = 0
		return true
	}
	lo := i * d.size
	switch d.kind {
	case str:
		d.str[i] = v.T
	case i64:
		if d.size == 1 && v.Ints == nil {
			d.i64[i] = v.I
		}
		copy(d.i64[lo:], v.Ints)
	case f32:
		if d.size == 1 && v.F == nil {
			d.f32[i] = float32(v.Float())
		}
		for j, x := range v.F {
			d.f32[lo+j] = float32(x)
		}
	default:
		if d.size == 1 && v.F == nil {
			d.f64[i] = v.Float()
		}
		copy(d.f64[lo:], v.F)
	}
	return true
}

func (d *data) zeroRow(i int) {
	lo, hi := i*d.size, (i+1)*d.size
	switch d.kind {
	case f64:
		clear(d.f64[lo:hi])
	case f32:
		clear(d.f32[lo:hi])
	case i64:
		clear(d.i64[lo:hi])
	default:
		clear(d.str[lo:hi])
	}
}

func outOfMemory(err error) error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("%v.", err).Wrap(err)
}

// float is an element type of chunks.
type float interface{ float32 | float64 }

// of returns the elements of a cell whose kind is T's.
func of[T float](d *data) []T {
	var t T
	if unsafe.Sizeof(t) == 4 {
		return *(*[]T)(unsafe.Pointer(&d.f32))
	}
	return *(*[]T)(unsafe.Pointer(&d.f64))
}

// bits are whole numbers as what has as many bits.
func bits(x []int64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// float is element i of a float column.
func (d *data) float(i int) float64 {
	if d.kind == f32 {
		return float64(d.f32[i])
	}
	return d.f64[i]
}

// numbers are a vector's numbers as bytes.
func numbers(v *ra.Vector) []byte {
	switch {
	case v.F64 != nil:
		return tensor.AsBytes(v.F64)
	case v.F32 != nil:
		return tensor.AsBytes(v.F32)
	}
	return tensor.AsBytes(v.Ints)
}

// shared is a column on the heap as a vector with the same memory.
func (d *data) shared(t kernels.Type) *ra.Vector {
	return &ra.Vector{Type: t, N: d.n, Ints: d.i64, F32: d.f32, F64: d.f64, Texts: d.str, Valid: bools(d.valid)}
}

// over reports whether a vector's numbers are the data's.
func (d *data) over(v *ra.Vector) bool {
	a, b := d.bytes(), numbers(v)
	return len(b) > 0 && len(a) >= len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

func (d *data) fill(v *ra.Vector) {
	copy(d.f64, v.F64)
	copy(d.f32, v.F32)
	if d.f64 != nil {
		for i, x := range v.F32 {
			d.f64[i] = float64(x)
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
