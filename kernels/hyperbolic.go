package kernels

import "math"

// Inverse hyperbolic functions, and their derivatives, which as expressions of other kernels would square what is out
// of range or subtract what is almost equal.
var hyperbolic = []unary{
	{name: "asinh", doc: "The inverse hyperbolic sine.", pg: true, flops: 25,
		f: math.Asinh, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("asinh_slope", x)) }},
	{name: "acosh", doc: "The inverse hyperbolic cosine; NaN below 1.", pg: true, flops: 25, lo: 1.2, hi: 3,
		f: math.Acosh, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("acosh_slope", x)) }},
	{name: "atanh", doc: "The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.", pg: true, open: true,
		flops: 25, lo: -0.8, hi: 0.8, f: math.Atanh, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("atanh_slope", x)) }},

	{name: "asinh_slope", doc: "1 / √(1 + x²).", internal: true, flops: 10, ulps: 12,
		f: func(x float64) float64 { return hypotSlope(1, x) },
		d: func(x, e, g *Expr) *Expr { return Neg(Mul(Mul(g, Mul(x, e)), Build("square", e))) }},
	{name: "acosh_slope", doc: "1 / √(x² - 1).", internal: true, flops: 15, ulps: 12, lo: 1.2, hi: 3,
		f: func(x float64) float64 { return 1 / math.Sqrt(x-1) / math.Sqrt(x+1) },
		d: func(x, e, g *Expr) *Expr { return Neg(Mul(Mul(g, Mul(x, e)), Build("square", e))) }},
	{name: "atanh_slope", doc: "1 / (1 - x²).", internal: true, flops: 8, lo: -0.8, hi: 0.8,
		f: func(x float64) float64 { return 1 / ((1 - x) * (1 + x)) },
		d: func(x, e, g *Expr) *Expr { return Mul(Mul(Num(2), Mul(g, x)), Build("square", e)) }},
}

func init() {
	for _, u := range hyperbolic {
		registerUnary(u)
	}
}
