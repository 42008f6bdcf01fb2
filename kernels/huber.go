package kernels

import "math"

// Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35 (1964), equation for ρ.
var _ = Register(&Def{
	Name: "huber", Args: "x, delta", MinArgs: 2,
	Role: RoleDistance,
	Doc: "Huber's loss: x²/2 where |x| ≤ delta, else delta·(|x| - delta/2). The derivative with respect to x is x cut " +
		"off at ±delta.",
	Infer: inferElem("huber"),
	Elem: func(x []float64) float64 {
		if a := math.Abs(x[0]); a > x[1] {
			return x[1] * (a - x[1]/2)
		}
		return x[0] * x[0] / 2
	},
	VJP: func(e, g *Expr) []*Expr {
		x, delta := e.Args[0], e.Args[1]
		cut := Build("minimum", Build("maximum", x, Neg(delta)), delta)
		far := Build("greater", Build("abs", x), delta)
		over := Select(far, Mul(g, Sub(Build("abs", x), delta)), Num(0))
		return []*Expr{SumTo(Mul(g, cut), x.Type), SumTo(over, delta.Type)}
	},
	Flops: perElement(4),
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{3}}, {Kind: Float64}}},
		{Types: []Type{{Kind: Float64}, {Kind: Float64}}},
		{Types: []Type{f64(), f64(3)}},
		{Types: []Type{f64(1), f64(1)}},
		{Types: []Type{f64(2, 3), f64(3)}},
		{Types: []Type{f32(2, 1, 2), f64()}},
		{Types: []Type{f32(1, 2, 1, 2), f32(2, 1, 1)}},
	},
	Lo: 0.2, Hi: 2,
})
