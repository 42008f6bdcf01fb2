// Package tensor holds what every layer agrees on about dense arrays: element types, shapes, reference
// tensors, the stored form of a chunk, off-heap buffers and the random generator.
//
// # What
//
// A Tensor is the slow, obvious form used by the oracle and by kernels' reference code: float64 data in
// row-major order, with the dtype that it has in the user's table. Buffers are the executor's form; those of NewSpill
// lie in files that the system pages.
//
// # Invariants
//
// len(Data) == Shape.Size(). A Float32 tensor's data are float32 values held in float64, except inside
// the float64 oracle. A nil Shape is a scalar; a chunk has rank ≥ 1.
//
// # Errors
//
// Decode refuses a malformed chunk with its reason; nothing here panics on data.
//
// # Where to add
//
// A dtype: dtype constants here and the codec.
package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
)

// DType is an element type.
type DType uint8

// Element types.
const (
	Float64 DType = iota
	Float32
)

// Size returns the element's size in bytes.
func (d DType) Size() int {
	if d == Float32 {
		return 4
	}
	return 8
}

// String returns the Postgres name of the type.
func (d DType) String() string {
	if d == Float32 {
		return "real"
	}
	return "double precision"
}

// Shape holds the dimensions of a chunk; nil is a scalar.
type Shape []int

// Size returns the number of elements, 1 for a scalar.
func (s Shape) Size() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Equal reports whether both shapes have the same dimensions.
func (s Shape) Equal(t Shape) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// String prints [3,4]; a scalar prints [].
func (s Shape) String() string {
	p := lists.Map(s, strconv.Itoa)
	return "[" + strings.Join(p, ",") + "]"
}

// Tensor is a dense tensor in row-major order.
type Tensor struct {
	DType DType
	Shape Shape
	Data  []float64
}

// New returns a zero tensor.
func New(d DType, shape ...int) *Tensor {
	return &Tensor{DType: d, Shape: append(Shape{}, shape...), Data: make([]float64, Shape(shape).Size())}
}

// Round rounds the data to the dtype's precision, in place, and returns t.
func (t *Tensor) Round() *Tensor {
	if t.DType == Float32 {
		for i, x := range t.Data {
			t.Data[i] = float64(float32(x))
		}
	}
	return t
}

// Clone returns a deep copy.
func (t *Tensor) Clone() *Tensor {
	return &Tensor{DType: t.DType, Shape: append(Shape(nil), t.Shape...), Data: append([]float64(nil), t.Data...)}
}

// String prints the tensor as a Postgres array literal, {{1,2},{3,4}}.
func (t *Tensor) String() string {
	var b strings.Builder
	t.write(&b, 0, 0)
	return b.String()
}

func (t *Tensor) write(b *strings.Builder, axis, off int) int {
	if axis == len(t.Shape) {
		b.WriteString(FormatFloat(t.Data[off], t.DType))
		return off + 1
	}
	b.WriteByte('{')
	for i := range t.Shape[axis] {
		if i > 0 {
			b.WriteByte(',')
		}
		off = t.write(b, axis+1, off)
	}
	b.WriteByte('}')
	return off
}

// FormatFloat prints x as Postgres does: the shortest text that reads back as the same value of type d.
func FormatFloat(x float64, d DType) string {
	bits := 64
	digits := 15 // Postgres switches to an exponent where %.15g / %.6g would
	if d == Float32 {
		bits, digits = 32, 6
	}
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	case x == 0:
		if math.Signbit(x) {
			return "-0"
		}
		return "0"
	}
	s := strconv.FormatFloat(x, 'e', -1, bits)
	if e, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:]); e < -4 || e >= digits {
		return s
	}
	return strconv.FormatFloat(x, 'f', -1, bits)
}

// MaxRank is the largest rank of a chunk.
const MaxRank = 6

const magic = 0xC7 // first byte of a stored chunk

// Encode returns the stored form of a chunk (store, SQLite BLOB): magic, dtype, rank, a zero byte, the dimensions as
// uint32, then the elements; all little-endian. The header's size is 4+4·rank bytes.
func (t *Tensor) Encode() []byte {
	head := 4 + 4*len(t.Shape)
	b := make([]byte, head+len(t.Data)*t.DType.Size())
	b[0], b[1], b[2] = magic, byte(t.DType), byte(len(t.Shape))
	for i, d := range t.Shape {
		binary.LittleEndian.PutUint32(b[4+4*i:], uint32(d))
	}
	p := b[head:]
	if t.DType == Float32 {
		for i, x := range t.Data {
			binary.LittleEndian.PutUint32(p[4*i:], math.Float32bits(float32(x)))
		}
		return b
	}
	for i, x := range t.Data {
		binary.LittleEndian.PutUint64(p[8*i:], math.Float64bits(x))
	}
	return b
}

// MaxHeader is the size of the largest header of a stored chunk, in bytes.
const MaxHeader = 4 + 4*MaxRank

// Header reads the header of a stored chunk and returns its dtype, shape and the bytes of its elements.
func Header(b []byte) (DType, Shape, []byte, error) {
	d, shape, err := Head(b, len(b))
	if err != nil {
		return 0, nil, nil, err
	}
	return d, shape, b[4+4*len(shape):], nil
}

// Head reads the header of a stored chunk of so many bytes, of which b are the first: the header at least.
func Head(b []byte, size int) (DType, Shape, error) {
	if len(b) < 4 || b[0] != magic || b[1] > byte(Float32) || b[2] > MaxRank || b[2] == 0 || len(b) < 4+4*int(b[2]) {
		return 0, nil, fmt.Errorf("tensor: not a chunk (%d bytes)", size)
	}
	d, shape, n := DType(b[1]), make(Shape, b[2]), uint64(1)
	for i := range shape {
		shape[i] = int(binary.LittleEndian.Uint32(b[4+4*i:]))
		if n *= uint64(shape[i]); n > 1<<40 {
			return 0, nil, fmt.Errorf("tensor: chunk of absurd size")
		}
	}
	if got := size - 4 - 4*len(shape); uint64(got) != n*uint64(d.Size()) {
		return 0, nil, fmt.Errorf("tensor: chunk of shape %v has %d bytes, expected %d", shape, got, n*uint64(d.Size()))
	}
	return d, shape, nil
}

// Decode reads a stored chunk.
func Decode(b []byte) (*Tensor, error) {
	d, shape, p, err := Header(b)
	if err != nil {
		return nil, err
	}
	t := &Tensor{DType: d, Shape: shape, Data: make([]float64, shape.Size())}
	for i := range t.Data {
		if d == Float32 {
			t.Data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(p[4*i:])))
		} else {
			t.Data[i] = math.Float64frombits(binary.LittleEndian.Uint64(p[8*i:]))
		}
	}
	return t, nil
}
