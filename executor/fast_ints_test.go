package executor

import (
	"math"
	"testing"

	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/kernels"
)

// TestFastInts compares the loops with the reference code, at the borders of what a bigint holds.
func TestFastInts(t *testing.T) {
	t.Parallel()
	borders := []int64{
		0,
		1,
		-1,
		2,
		-7,
		33,
		1 << 31,
		1<<31 - 1,
		-1 << 31,
		-1<<31 - 1,
		1 << 32,
		math.MaxInt64,
		math.MinInt64,
		math.MaxInt64 - 1,
	}
	for name, fast := range cpu.FastInts {
		slow := kernels.Lookup(name).Ints
		for _, x := range borders {
			for _, y := range borders {
				out := make([]int64, 2)
				if !fast(out, []int64{x, 1}, []int64{y, 1}, 1, 1) {
					continue
				}
				if want, err := slow([]int64{x, y}); err != nil || out[0] != want {
					t.Errorf("%s(%d, %d) is %d, want %d, %v", name, x, y, out[0], want, err)
				}
			}
		}
		if out := make([]int64, 3); !fast(out, []int64{1, 2, 3}, []int64{5}, 1, 0) {
			t.Errorf("%s leaves small numbers to the reference code", name)
		}
	}
}
