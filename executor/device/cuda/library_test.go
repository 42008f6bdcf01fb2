package cuda

import (
	"testing"

	"github.com/relgrad/relgrad/executor/device"
)

// TestBatches: products whose matrices lie at equal distances are few calls of cuBLASLt, and each number of each sum is
// in one of them.
func TestBatches(t *testing.T) {
	for _, c := range []struct {
		name               string
		products, k, terms int // how many results, how long the sums of each of so many products of one
		turned             bool
		calls              int
	}{
		{"one product", 1, 700, 1, false, 1},
		{"a gradient over 169,343 rows: whole parts, and the rest", 1, 169343, 1, true, 2},
		{"64 heads", 64, 64, 1, false, 1},
		{"64 heads with long sums: part by part of all, not head by head", 64, 3000, 1, false, 3},
		{"three long sums of whole parts", 3, 1024 * 20, 1, true, 1},
		{"three long sums: sum by sum, and the rests", 3, 1024*20 + 1, 1, true, 6},
		{"sums of blocks that are added in the library: one call for each place", 5, 100, 8, false, 8},
		{"sums of blocks, each a part: result by result", 5, 1024, 4, false, 5},
	} {
		x := &product{p: device.Product{M: 6, N: 4, K: c.k, At: c.turned}}
		for i := range c.products {
			begin := len(x.from)
			for j := range c.terms {
				x.term(int32(i+j*c.products), int32(i))
			}
			x.piece(begin, i)
		}
		calls, sums := fewest(x.items()), 0
		for _, b := range calls {
			sums += b.n * b.k
			if b.k > device.ProductRows {
				t.Errorf("%s: %d numbers are added in single precision", c.name, b.k)
			}
		}
		if len(calls) != c.calls || sums != c.products*c.terms*c.k {
			t.Errorf("%s: %d calls, not %d, for sums of %d numbers, not %d", c.name, len(calls), c.calls, sums,
				c.products*c.terms*c.k)
		}
	}
}
