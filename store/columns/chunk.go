package columns

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// HeadShape reads the shape from the beginning of a stored chunk.
func HeadShape(b []byte) tensor.Shape {
	if len(b) < 4 || len(b) < 4+4*int(b[2]) {
		return nil
	}
	s := make(tensor.Shape, b[2])
	for i := range s {
		s[i] = int(binary.LittleEndian.Uint32(b[4+4*i:]))
	}
	return s
}

// Slot collects the shapes that the running statement writes to a chunk column.
type Slot struct {
	Table, Col string
	Rank       int
	Shape      tensor.Shape // of the first chunk written
	Head       []byte       // its header
	Mixed      tensor.Shape // a different shape that was also written
}

// Note checks a chunk that is written to the column.
func (s *Slot) Note(b []byte) error {
	if s.Head != nil && len(b) > len(s.Head) && bytes.Equal(b[:len(s.Head)], s.Head) {
		return nil
	}
	_, shape, _, err := tensor.Header(b)
	switch {
	case err != nil:
		return sqlerr.New(sqlerr.DataCorrupted, "%v", err)
	case shape.Size() == 0:
		return sqlerr.New(sqlerr.DataException, "table \"%s\", column \"%s\": a chunk must not be empty", s.Table, s.Col)
	case s.Rank > 1 && len(shape) != s.Rank:
		return sqlerr.New(sqlerr.ArraySubscript,
			"table \"%s\", column \"%s\": a chunk of shape %v has %d dimensions, the column is declared with %d",
			s.Table, s.Col, shape, len(shape), s.Rank)
	case s.Head == nil:
		s.Shape, s.Head = shape, append([]byte(nil), b[:4+4*len(shape)]...)
	case s.Mixed == nil:
		s.Mixed = shape
	}
	return nil
}

// EncodeChunk writes a chunk into b as tensor.Encode does.
func EncodeChunk(b []byte, d tensor.DType, shape tensor.Shape, f []float64) {
	p := encodeHead(b, d, shape)
	if d == tensor.Float32 {
		for i, x := range f {
			binary.LittleEndian.PutUint32(p[4*i:], math.Float32bits(float32(x)))
		}
		return
	}
	for i, x := range f {
		binary.LittleEndian.PutUint64(p[8*i:], math.Float64bits(x))
	}
}

// encodeHead writes a chunk's header and returns the rest of b.
func encodeHead(b []byte, d tensor.DType, shape tensor.Shape) []byte {
	head := (&tensor.Tensor{DType: d, Shape: shape}).Encode()
	copy(b, head)
	return b[len(head):]
}

// ChunkBytes is the size of a column's chunk as it is stored.
func ChunkBytes(v *column.Column, t catalog.Type) int {
	return 4 + 4*len(v.Type().Shape) + v.Size()*t.DType().Size()
}

func vectorFloat(v *column.Column, k int) float64 {
	if v.Kind() == column.F32 {
		return float64(v.F32()[k])
	}
	return v.F64()[k]
}

// PutChunk encodes row k of a chunk vector.
func PutChunk(b []byte, v *column.Column, k int, d tensor.DType) {
	p := encodeHead(b, d, v.Type().Shape)
	n := v.Size()
	switch {
	case v.Kind() == column.F32 && d == tensor.Float32:
		tensor.PutFloats(p, v.F32()[k*n:(k+1)*n])
		return
	case v.Kind() != column.F32 && d == tensor.Float64:
		tensor.PutFloats(p, v.F64()[k*n:(k+1)*n])
		return
	}
	for i := range n {
		x := vectorFloat(v, k*n+i)
		if d == tensor.Float32 {
			binary.LittleEndian.PutUint32(p[4*i:], math.Float32bits(float32(x)))
		} else {
			binary.LittleEndian.PutUint64(p[8*i:], math.Float64bits(x))
		}
	}
}

// EachFloat calls f for every element of a chunk's bytes.
func EachFloat(p []byte, d tensor.DType, f func(i int, x float64)) {
	if d == tensor.Float32 {
		for i := range len(p) / 4 {
			f(i, float64(math.Float32frombits(binary.LittleEndian.Uint32(p[4*i:]))))
		}
		return
	}
	for i := range len(p) / 8 {
		f(i, math.Float64frombits(binary.LittleEndian.Uint64(p[8*i:])))
	}
}
