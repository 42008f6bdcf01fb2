package kernels

import (
	"math"
	"strconv"
)

var _ = Register(&Def{
	Name: "decimal", Args: "a", MinArgs: 1, Internal: true,
	Doc: "a rounded to 15 significant decimal digits, which double precision holds: the result of a cast to numeric, " +
		"and of arithmetic with numeric values where no parameter is read, so that 3 * 1.1 = 3.3 as in Postgres. The " +
		"gradient passes, as through other casts.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if a[0].Kind != Float64 || a[0].Shape != nil {
			return Type{}, wrongType("decimal", a)
		}
		return Type{Kind: Float64}, nil
	},
	Elem:    func(x []float64) float64 { return roundDecimal(x[0]) },
	VJP:     func(_, g *Expr) []*Expr { return []*Expr{g} },
	Samples: []Sample{{Types: []Type{{Kind: Float64}}}},
})

// roundDecimal rounds x to 15 significant decimal digits, ties to even as strconv does.
func roundDecimal(x float64) float64 {
	if y, ok := roundScaled(x); ok {
		return y
	}
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 14, 64), 64) // never malformed; infinity and NaN stay
	return y
}

// roundScaled is roundDecimal without digits: the quotient of two whole numbers that double precision holds is the
// double nearest to the decimal. It is not sure of numbers beyond 1e-7 … 1e15, nor of those so near to a tie that the
// product's own rounding decides.
func roundScaled(x float64) (float64, bool) {
	a := math.Abs(x)
	if !(a >= 1e-7 && a < 1e15) {
		return x, x == 0
	}
	scale := 1.0
	for a*scale < 1e14 {
		scale *= 10 // at most 1e22, which is exact
	}
	scaled := a * scale
	whole := math.RoundToEven(scaled)
	if d := math.Abs(scaled - whole); whole >= 1e15 || d > 0.25 {
		return 0, false
	}
	return math.Copysign(whole/scale, x), true
}
