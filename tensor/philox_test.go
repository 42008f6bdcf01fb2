package tensor

import (
	"math"
	"testing"
)

// TestPhilox compares with the known answers that Random123 comes with (kat_vectors, philox4x32 10).
func TestPhilox(t *testing.T) {
	const all = 0xffffffff
	for _, c := range []struct {
		key       [2]uint32
		ctr, want [4]uint32
	}{
		{[2]uint32{}, [4]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[2]uint32{all, all}, [4]uint32{all, all, all, all}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := Philox(c.key, c.ctr); got != c.want {
			t.Errorf("Philox(%x, %x) = %x, want %x", c.key, c.ctr, got, c.want)
		}
	}
}

func TestThreshold(t *testing.T) {
	for p, want := range map[float64]uint32{
		0: 0, math.Copysign(0, -1): 0, 5e-324: 1, 1e-12: 1, 0x1p-33: 1, 0x1p-32: 1, 0x1.8p-32: 2, 0.25: 1 << 30, 0.5: 1 << 31,
		0.3: 1288490189, 1 - 0x1p-32: 1<<32 - 1, 1 - 0x1p-33: 1<<32 - 1, math.Nextafter(1, 0): 1<<32 - 1,
	} {
		if got := Threshold(p); got != want {
			t.Errorf("Threshold(%v) = %d, want %d", p, got, want)
		}
	}
}

// TestDropped looks at masks of many rows: the share that is kept, by place in the block too, and the correlation
// between elements up to two blocks apart and between rows. Each of these is within five standard deviations.
func TestDropped(t *testing.T) {
	const rows, size = 256, 1024
	for _, p := range []float64{0.1, 0.5, 0.9} {
		mask, sigma := make([]float64, rows*size), math.Sqrt(p*(1-p))
		for i := range mask { // of mean 0 and variance 1
			x := 1.0
			if Dropped(3, HashKey(int64(i/size)), i%size, p) {
				x = 0
			}
			mask[i] = (x - (1 - p)) / sigma
		}
		within := func(what string, number int, sum float64, n int) {
			if z := sum / math.Sqrt(float64(n)); math.Abs(z) > 5 {
				t.Errorf("p %v: %s %d: %.1f standard deviations", p, what, number, z)
			}
		}
		var share [4]float64
		for i, x := range mask {
			share[i%4] += x
		}
		for w, s := range share {
			within("share of word", w, s, len(mask)/4)
		}
		for _, lag := range []int{1, 2, 3, 4, 5, 6, 7, 8, size} { // the last is the next row
			sum := 0.0
			for i := range len(mask) - lag {
				sum += mask[i] * mask[i+lag]
			}
			within("correlation at lag", lag, sum, len(mask)-lag)
		}
	}
}

// TestBlockWords looks for words of a block, or of a block and the next, that are the same number.
func TestBlockWords(t *testing.T) {
	seen := map[uint32]int{}
	const blocks = 1 << 14
	for i := range blocks {
		b := Block(-7, HashKey(1, 2), i)
		for w := range b {
			for v := range w {
				if b[v] == b[w] {
					t.Errorf("block %d: words %d and %d are both %d", i, v, w, b[w])
				}
			}
			seen[b[w]]++
		}
	}
	// Of n random words about n²/2³³ pairs are equal: 0.5 here.
	if same := 4*blocks - len(seen); same > 5 {
		t.Errorf("%d of %d words occur again", same, 4*blocks)
	}
}
