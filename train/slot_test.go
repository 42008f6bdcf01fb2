package train

import (
	"errors"
	"math"
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestLargeGradient: a gradient that several workers look through and lay out lands in the rows it is of, zero in the
// others, and one number that is not finite is found wherever it stands, with its row.
func TestLargeGradient(t *testing.T) {
	const rows, size = 5000, 40 // more than a worker's share of elements
	if rows*size < 3*updateShare {
		t.Fatalf("%d elements are one worker's", rows*size)
	}
	rng := rand.New(rand.NewSource(5))
	for _, single := range []bool{true, false} {
		floats := func(n int) (f Floats) {
			if single {
				f.F32 = make([]float32, n)
			} else {
				f.F64 = make([]float64, n)
			}
			return f
		}
		var reached []int32
		for r := range int32(rows) {
			if rng.Intn(10) > 0 {
				reached = append(reached, r)
			}
		}
		rng.Shuffle(len(reached), func(i, j int) { reached[i], reached[j] = reached[j], reached[i] })
		grad := floats(len(reached) * size)
		set := func(i int, x float64) {
			if single {
				grad.F32[i] = float32(x)
			} else {
				grad.F64[i] = x
			}
		}
		want := make([]float64, rows*size)
		for i, row := range reached {
			for j := range size {
				x := float64(1 + rng.Intn(1000))
				set(i*size+j, x)
				want[int(row)*size+j] = x
			}
		}
		s := &Slot{Name: "w.v", Size: size, Param: floats(rows * size), Key: func(int) string { return "7" }}
		s.Grad = func() (Floats, []int32, error) { return grad, reached, nil }
		for range 2 { // into memory that still holds what it held
			if err := s.gather(1); err != nil {
				t.Fatal(err)
			}
			s.spread()
			for i, x := range want {
				if got := at(s.dense, i); got != x {
					t.Fatalf("element %d is %v, not %v", i, got, x)
				}
			}
		}
		for range 20 {
			i := rng.Intn(len(reached) * size)
			set(i, math.Inf(1))
			var e *sqlerr.Error
			if err := s.gather(1); !errors.As(err, &e) {
				t.Fatalf("an infinite element %d of %d gives %v", i, len(reached)*size, err)
			}
			set(i, 1)
		}
	}
}

func at(f Floats, i int) float64 {
	if f.F32 != nil {
		return float64(f.F32[i])
	}
	return f.F64[i]
}
