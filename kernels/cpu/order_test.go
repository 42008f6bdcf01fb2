package cpu

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

// someRows lists n rows below most: runs of one row, rows that follow each other, others and gaps.
func someRows(rng *rand.Rand, n, most int) (at []int32) {
	for len(at) < n {
		r, run := rng.Intn(most), 1+rng.Intn(50)
		how := rng.Intn(4)
		for i := 0; i < run && r < most; i++ {
			switch how {
			case 0:
				at = append(at, int32(r))
			case 1:
				at = append(at, int32(r+i))
			case 2:
				at = append(at, int32(rng.Intn(most)))
			default:
				at = append(at, -1)
			}
			if how == 1 && r+i == most-1 {
				break
			}
		}
	}
	return at[:n]
}

// TestLists: what is read through lists of rows is what each row of them says, whatever runs they have.
func TestLists(t *testing.T) {
	defer limit(9)
	rng := rand.New(rand.NewSource(7))
	for round := range 300 {
		limit(round % 3)
		n, most := rng.Intn(200), 1+rng.Intn(100)
		at := someRows(rng, n, most)
		b, x, y := make([]int32, most), finite[float64](rng, most), finite[float32](rng, most)
		for i := range b {
			b[i] = int32(rng.Intn(1000)) - 1
		}
		got, gx, gy := make([]int32, n), make([]float64, n), make([]float32, n)
		Through(got, at, b)
		Gather(1, x, at, gx)
		Gather(1, y, at, gy)
		own := slices.Clone(at)
		Through(own, own, b)
		for i, r := range at {
			want, wx, wy := int32(-1), 0.0, float32(0)
			if r >= 0 {
				want, wx, wy = b[r], x[r], y[r]
			}
			if got[i] != want || own[i] != want || gx[i] != wx || gy[i] != wy {
				t.Fatalf("round %d, row %d of %v: %d, %d, %v, %v, want %d, %v, %v", round, i, at, got[i], own[i],
					gx[i], gy[i], want, wx, wy)
			}
		}
	}
}

// TestPlaces looks numbers up at the borders of their range, and of what a bigint holds.
func TestPlaces(t *testing.T) {
	defer limit(9)
	for level := range 3 {
		limit(level)
		for _, low := range []int64{-3, 0, math.MinInt64, math.MaxInt64 - 20} {
			var x []int64
			for i := int64(-2); i < 20; i++ {
				x = append(x, low+i) // may overflow: the other end of the range
			}
			p := make([]int32, len(x))
			if !Places(p, x, low, 11, 5) {
				t.Errorf("from %d: nothing is said to be missing", low)
			}
			for i := range p {
				want := int32(i) - 2 + 5
				if i < 2 || i >= 13 {
					want = -1
				}
				if p[i] != want {
					t.Errorf("from %d: %d has place %d, want %d", low, x[i], p[i], want)
				}
			}
			if Places(p[:11], x[2:], low, 11, 0) {
				t.Errorf("from %d: something is said to be missing", low)
			}
		}
	}
}

// TestCross: the rows of a product, from any of them on.
func TestCross(t *testing.T) {
	for _, each := range []int{1, 2, 7, 64, 100} {
		for lo := range 3 * each {
			first, second := make([]int32, 150), make([]int32, 150)
			Cross(lo, each, first, second)
			for i := range first {
				if c, r := (lo+i)/each, (lo+i)%each; int(first[i]) != c || int(second[i]) != r {
					t.Fatalf("%d rows each, row %d: %d and %d, want %d and %d", each, lo+i, first[i], second[i], c, r)
				}
			}
		}
	}
}

// TestOffsets: the places of counted codes, of any number of pieces, with codes that do not occur as groups or not.
func TestOffsets(t *testing.T) {
	rng := rand.New(rand.NewSource(8))
	for round := range 200 {
		span, pieces := rng.Intn(20), 1+rng.Intn(4)
		count := make([]int32, span*pieces)
		for i := range count {
			count[i] = int32(max(rng.Intn(6)-2, 0))
		}
		was := slices.Clone(count)
		start, rank := make([]int32, span+1), []int32(nil)
		if round%2 > 0 {
			rank = make([]int32, span)
		}
		groups, most := Offsets(span, count, start, rank)
		at, g, top := int32(0), 0, 0
		for k := range span {
			rows := int32(0)
			for p := range pieces {
				rows += was[p*span+k]
			}
			if rank != nil {
				want := int32(g)
				if rows == 0 {
					want = -1
				}
				if rank[k] != want {
					t.Fatalf("round %d: code %d is group %d, want %d", round, k, rank[k], want)
				}
				if rows == 0 {
					continue
				}
			}
			if start[g] != at {
				t.Fatalf("round %d: group %d begins at %d, want %d", round, g, start[g], at)
			}
			for p := range pieces {
				if count[p*span+g] != at {
					t.Fatalf("round %d: piece %d of group %d begins at %d, want %d", round, p, g, count[p*span+g], at)
				}
				at += was[p*span+k]
			}
			top = max(top, int(rows))
			g++
		}
		if groups != g || most != top || start[g] != at {
			t.Fatalf("round %d: %d groups of %d rows at most, %d in all; want %d, %d, %d", round, groups, most,
				start[groups], g, top, at)
		}
	}
}
