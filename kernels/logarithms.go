package kernels

import "math"

var log2eTwo = two{math.Log2E, 2.0355273740931033e-17}

// log2 is the logarithm to base 2, exact for powers of 2.
func log2(x float64) float64 {
	if m, k := math.Frexp(x); m == 0.5 {
		return float64(k - 1)
	}
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log2(x)
	}
	return lnTwo(x).mul(log2eTwo).hi
}

func init() {
	registerUnary(unary{name: "log2", doc: "The logarithm to base 2; -Infinity at 0, NaN below.", pg: true, flops: 15,
		lo: 0.3, hi: 3, f: log2, d: func(x, _, g *Expr) *Expr { return Div(Mul(Num(math.Log2E), g), x) }})
	registerUnary(unary{name: "cbrt", doc: "The cube root, of negative numbers too.",
		kink: "At 0 the derivative is 0, as that of sqrt.", pg: true, flops: 20, ulps: 14, lo: 0.3, hi: 3, f: math.Cbrt,
		d: func(x, e, g *Expr) *Expr {
			zero := Build("eq_mask", x, Num(0))
			return Select(zero, Num(0), Div(g, Mul(Num(3), Build("square", Select(zero, Num(1), e)))))
		}})
}

var _ = Register(&Def{
	Name: "log10", Args: "x", MinArgs: 1,
	Doc:     "The logarithm to base 10, as log.",
	Bind:    func(args []*Expr) (*Expr, error) { return Call(Lookup("log"), Attr{}, args[0]) },
	Samples: floatSamples, Lo: 0.3, Hi: 3,
})

var _ = Register(&Def{
	Name: "logsigmoid", Args: "x", MinArgs: 1,
	Doc: "ln(sigmoid(x)) = -ln(1 + e⁻ˣ), without overflow and with all its digits for large x.",
	Bind: func(args []*Expr) (*Expr, error) {
		x, err := Call(Lookup("neg"), Attr{}, args[0])
		if err != nil {
			return nil, err
		}
		if x, err = Call(Lookup("softplus"), Attr{}, x); err != nil {
			return nil, err
		}
		return Neg(x), nil
	},
	Samples: floatSamples,
})
