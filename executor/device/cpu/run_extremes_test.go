package cpu

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestByKey: places are sorted by their keys, and those of one key stay in order, few and many, in a part of all rows.
func TestByKey(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 3))
	for _, n := range []int{1, 100, byDigits - 1, byDigits, 20000} {
		for name, draw := range map[string]func() int64{
			"numbers": func() int64 { return floatKey(r.NormFloat64()) }, "few": func() int64 { return r.Int64N(5) - 2 },
			"one": func() int64 { return -7 }, "all bits": func() int64 { return int64(r.Uint64()) },
			"ends": func() int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1}[r.IntN(4)] },
		} {
			x := &extremes{}
			s := &search{extremes: x}
			x.spare, x.spareKeys = make([]int32, n), make([]int64, n)
			for range n {
				x.keys = append(x.keys, draw())
			}
			var q []int32
			for k := n / 7; k < n-n/9; k++ { // some rows have no value
				if n < 10 || r.IntN(5) > 0 {
					q = append(q, int32(k))
				}
			}
			want := slices.Clone(q)
			slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(x.keys[a], x.keys[b]) })
			if s.byKey(q); !slices.Equal(q, want) {
				t.Errorf("%d %s are in the wrong order", n, name)
			}
		}
	}
}
