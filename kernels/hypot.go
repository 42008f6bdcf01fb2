package kernels

import "math"

// over is t / h, 0 where h is 0.
func over(t, h *Expr) *Expr { return Select(Build("eq_mask", h, Num(0)), Num(0), Div(t, nonzero(h))) }

var _ = Register(&Def{
	Name: "hypot", Args: "x, y", MinArgs: 2,
	Doc:   "√(x² + y²), element by element, without overflow of the squares.",
	Kink:  "Where x and y are 0 both derivatives are 0.",
	Infer: inferElem("hypot"),
	Elem:  func(x []float64) float64 { return math.Hypot(x[0], x[1]) },
	VJP: func(e, g *Expr) []*Expr {
		x, y := e.Args[0], e.Args[1]
		return []*Expr{SumTo(Mul(g, Build("hypot_slope", x, y)), x.Type), SumTo(Mul(g, Build("hypot_slope", y, x)), y.Type)}
	},
	Flops: perElement(15), Lo: 0.3, Hi: 2,
})

// hypot_slope is the derivative of hypot. Those of hypot_slope are y²/h³ and -xy/h³, h = hypot(x, y), as products of
// quotients that stay in range.
var _ = Register(&Def{
	Name: "hypot_slope", Args: "x, y", MinArgs: 2, Internal: true,
	Doc:   "x / √(x² + y²), 0 where both are 0.",
	Infer: inferElem("hypot_slope"),
	Elem:  func(x []float64) float64 { return hypotSlope(x[0], x[1]) },
	VJP: func(e, g *Expr) []*Expr {
		x, y := e.Args[0], e.Args[1]
		h, other := Build("hypot", x, y), Build("hypot_slope", y, x)
		return []*Expr{SumTo(Mul(g, over(Build("square", other), h)), x.Type),
			Neg(SumTo(Mul(g, over(Mul(e, other), h)), y.Type))}
	},
	Flops: perElement(20), Lo: 0.3, Hi: 2,
})

func hypotSlope(x, y float64) float64 {
	a, b := math.Abs(x), math.Abs(y)
	switch {
	case a == 0 && b == 0:
		return 0
	case a >= b:
		r := b / a
		return math.Copysign(1/math.Sqrt(1+r*r), x)
	}
	r := x / b
	return r / math.Sqrt(1+r*r)
}

var _ = Register(&Def{
	Name: "atan2", Args: "y, x", MinArgs: 2,
	Doc:  "The angle in radians, from -π to π, of the point with the coordinates x and y; scalars give double precision.",
	Kink: "Where x and y are 0 both derivatives are 0.",
	Infer: func(a []Type, at Attr) (Type, error) {
		t, err := inferElem("atan2")(a, at)
		return widenScalar(t), err
	},
	Elem: func(x []float64) float64 { return math.Atan2(x[0], x[1]) },
	VJP: func(e, g *Expr) []*Expr {
		y, x := e.Args[0], e.Args[1]
		h := Build("hypot", x, y)
		return []*Expr{SumTo(Mul(g, over(Build("hypot_slope", x, y), h)), y.Type),
			Neg(SumTo(Mul(g, over(Build("hypot_slope", y, x), h)), x.Type))}
	},
	Flops: perElement(25), Lo: 0.3, Hi: 2,
})
