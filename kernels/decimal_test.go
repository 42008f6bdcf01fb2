package kernels

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestRoundDecimal compares the rounding with that of the decimal text, for numbers of all sizes, short decimals and
// quotients of them.
func TestRoundDecimal(t *testing.T) {
	check := func(x float64) {
		t.Helper()
		want, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 14, 64), 64)
		if got := roundDecimal(x); got != want && !(math.IsNaN(x) && math.IsNaN(got)) ||
			math.Signbit(got) != math.Signbit(want) {
			t.Fatalf("%v is rounded to %v, its text to %v", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1e-7, 9.99999999999999e-8, 1e14, 1e15, 999999999999999,
		999999999999999.4, 9.999999999999995, 1e300, 5e-324,
		math.Inf(1), math.Inf(-1), math.NaN(), 0.1 + 0.2, 3 * 1.1, 1e22, 1e23} {
		check(x)
		check(-x)
	}
	fast, r := 0, rand.New(rand.NewPCG(1, 2))
	for range 300000 {
		x := math.Ldexp(r.Float64()-0.5, r.IntN(60)-25)
		short := math.Round(x*1e4) / 1e4
		for _, x := range []float64{x, short, short * 1.1, 1 / float64(1+r.IntN(1000)), short / float64(1+r.IntN(99)),
			float64(r.IntN(1000)) + 0.5} {
			check(x)
			check(math.Nextafter(x, 2*x))
			if _, ok := roundScaled(x); ok {
				fast++
			}
		}
	}
	if fast < 500000 {
		t.Fatalf("only %d of 1800000 numbers took the short way", fast)
	}
}
