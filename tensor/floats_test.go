package tensor

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// TestFloats writes and reads elements at any byte, as the encoding of a chunk has them.
func TestFloats(t *testing.T) {
	x := []float64{1.5, -2, math.Inf(1), 0, 1e-300}
	b := append([]byte{9}, (&Tensor{DType: Float64, Shape: Shape{len(x)}, Data: x}).Encode()[8:]...)
	p, y := make([]byte, len(b)), make([]float64, len(x))
	PutFloats(p[1:], x)
	if GetFloats(y, b[1:]); !bytes.Equal(p[1:], b[1:]) || !slices.Equal(x, y) {
		t.Fatalf("%v, %v of %v, %v", p[1:], y, b[1:], x)
	}
	single, back := []float32{1.5, -2}, make([]float32, 2)
	PutFloats(p, single)
	if GetFloats(back, p); !slices.Equal(single, back) || !bytes.Equal(p[:4], []byte{0, 0, 0xc0, 0x3f}) {
		t.Fatalf("%v, %v", back, p[:4])
	}
	PutFloats[float32](nil, nil)
}
