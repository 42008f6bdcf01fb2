package column

import (
	"math"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// TestPacked: a column comes back as it was, or some rows of it, with what follows it; what is cut off is refused.
func TestPacked(t *testing.T) {
	real, double := kernels.Type{Kind: kernels.Float32, Shape: tensor.Shape{2}}, kernels.Type{Kind: kernels.Float64}
	cols := []*Column{
		Of(real, []float32{1, 2, 3, float32(math.Inf(1)), -0.5, 7}),
		Of(double, []float64{1, math.NaN(), -3}),
		Of(kernels.Type{Kind: kernels.Int}, []int64{math.MinInt64, 0, 5}),
		Of(kernels.Type{Kind: kernels.Bool}, []int64{1, 0, 1}),
		Of(kernels.Type{Kind: kernels.Text}, []string{"", "é", "two words"}),
		New(double, 0),
	}
	withNull := Of(double, []float64{1, 2, 3})
	withNull.SetNull(1)
	texts := Of(kernels.Type{Kind: kernels.Text}, []string{"a", "", "c"})
	texts.SetNull(1)
	for _, c := range append(cols, withNull, texts) {
		for _, rows := range [][]int32{nil, {}, {2, 0, 0}} {
			if c.Len() == 0 && len(rows) > 0 {
				continue
			}
			b := append(Pack([]byte("before"), c, rows), "after"...)[len("before"):]
			got, rest, err := Unpack(b, c.Type())
			if err != nil || string(rest) != "after" {
				t.Fatalf("%v: %v, rest %q", c.Type(), err, rest)
			}
			want := c
			if rows != nil {
				want = Gather(c, rows)
			}
			if got.Len() != want.Len() || (got.Valid() == nil) != (c.Valid() == nil) {
				t.Fatalf("%v: %d rows, not %d", c.Type(), got.Len(), want.Len())
			}
			for r := range want.Len() {
				if a, b := got.Value(r), want.Value(r); a.String() != b.String() {
					t.Errorf("%v: row %d is %v, not %v", c.Type(), r, a, b)
				}
			}
			packed := b[:len(b)-len("after")]
			for cut := range packed {
				if _, _, err := Unpack(packed[:cut], c.Type()); err == nil {
					t.Errorf("%v: %d bytes of %d are taken for a column", c.Type(), cut, len(packed))
				}
			}
		}
	}
	if _, _, err := Unpack([]byte{0, 0, 255, 255, 255, 255, 7, 255, 255, 255, 255, 7}, double); err == nil {
		t.Error("a column larger than its bytes is read")
	}
	if _, _, err := Unpack(Pack(nil, cols[4], nil), double); err == nil {
		t.Error("texts are read as numbers")
	}
}
