package kernels

import "math"

// registerMaximum registers maximum (sign 1) and minimum (sign -1).
func registerMaximum(name, doc string, f func(a, b float64) float64, first func(a, b *Expr) *Expr) {
	Register(&Def{
		Name: name, Args: "a, b", MinArgs: 2,
		Doc: doc, Kink: "Where a = b each side receives half of the gradient.",
		Infer: inferElem(name),
		Elem:  func(x []float64) float64 { return f(x[0], x[1]) },
		VJP: func(e, g *Expr) []*Expr {
			a, b := e.Args[0], e.Args[1]
			part := func(a, b *Expr) *Expr {
				half := Select(Build("eq_mask", a, b), Mul(Num(0.5), g), Num(0))
				return SumTo(Select(first(a, b), g, half), a.Type)
			}
			return []*Expr{part(a, b), part(b, a)}
		},
		Flops: perElement(1),
	})
}

// larger is NaN where one is; math.Max(Inf, NaN) is Inf.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Max(a, b)
}

// smaller is NaN where one is.
func smaller(a, b float64) float64 { return -larger(-a, -b) }

func init() {
	registerMaximum("maximum", "The larger of a and b, element by element; NaN where one is.", larger,
		func(a, b *Expr) *Expr { return Build("greater", a, b) })
	registerMaximum("minimum", "The smaller of a and b, element by element; NaN where one is.", smaller,
		func(a, b *Expr) *Expr { return Build("greater", b, a) })
}

var _ = Register(&Def{
	Name: "clip", Args: "x, lo, hi", MinArgs: 3,
	Doc:  "x held between lo and hi, element by element: minimum(maximum(x, lo), hi).",
	Kink: "Where x equals a bound, both receive half of the gradient.",
	Bind: func(args []*Expr) (*Expr, error) {
		lower, err := Call(Lookup("maximum"), Attr{}, args[0], args[1])
		if err != nil {
			return nil, err
		}
		return Call(Lookup("minimum"), Attr{}, lower, args[2])
	},
	Samples: []Sample{
		{Types: []Type{f32(3), f64(), f64()}},
		{Types: []Type{f64(), f64(), f64()}},
		{Types: []Type{f64(1), f64(1), f64()}},
		{Types: []Type{f64(2, 3), f64(3), f64(2, 1)}},
		{Types: []Type{f32(2, 1, 2), f32(2, 1, 2), f64()}},
		{Types: []Type{f64(1, 2, 1, 2), f64(), f64(2)}},
	},
})

var _ = Register(&Def{
	Name: "leaky_relu", Args: "x, slope DEFAULT 0.01", MinArgs: 1, MaxArgs: 2,
	Doc:   "x where x > 0, else slope·x.",
	Kink:  "At 0 the derivative is the slope.",
	Infer: inferElem("leaky_relu"),
	Elem: func(x []float64) float64 {
		switch {
		case x[0] > 0:
			return x[0]
		case len(x) == 2:
			return x[1] * x[0]
		}
		return 0.01 * x[0]
	},
	VJP: func(e, g *Expr) []*Expr {
		x, slope := e.Args[0], Num(0.01)
		if len(e.Args) == 2 {
			slope = e.Args[1]
		}
		out := []*Expr{SumTo(positive(x, g, Mul(g, slope)), x.Type)}
		if len(e.Args) == 2 {
			out = append(out, SumTo(positive(x, Num(0), Mul(g, x)), slope.Type))
		}
		return out
	},
	Flops: perElement(2),
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{3}}}},
		{Types: []Type{{Kind: Float64, Shape: []int{3}}, {Kind: Float64}}},
		{Types: []Type{f64()}},
		{Types: []Type{f64(), f64(3)}},
		{Types: []Type{f64(1)}},
		{Types: []Type{f32(2, 3), f32(3)}},
		{Types: []Type{f64(2, 1, 2)}},
		{Types: []Type{f32(1, 2, 1, 2), f32(2, 1)}},
	},
})

var _ = Register(&Def{
	Name: "bce_with_logits", Args: "z, y", MinArgs: 2, Role: RoleLikelihood,
	Doc: "The binary cross-entropy of the logit z against the target y in [0,1], element by element, without " +
		"overflow: max(z,0) - z·y + ln(1 + e^-|z|).",
	Infer: inferElem("bce_with_logits"),
	Elem: func(x []float64) float64 {
		z, y := x[0], x[1]
		if z > 0 { // z - z·y would round
			return z*(1-y) + math.Log1p(math.Exp(-z))
		}
		return math.Log1p(math.Exp(z)) - z*y
	},
	VJP: func(e, g *Expr) []*Expr {
		z, y := e.Args[0], e.Args[1]
		return []*Expr{SumTo(Mul(g, Build("bce_slope", z, y)), z.Type), Neg(SumTo(Mul(g, z), y.Type))}
	},
	Flops: perElement(32),
})

var _ = Register(&Def{
	Name: "bce_slope", Args: "z, y", MinArgs: 2, Internal: true,
	Doc:   "sigmoid(z) - y, with all its digits where y is 0 or 1.",
	Infer: inferElem("bce_slope"),
	Elem: func(x []float64) float64 {
		z, y := x[0], x[1]
		e := math.Exp(-math.Abs(z))
		if z < 0 {
			return ((1-y)*e - y) / (1 + e)
		}
		return (1 - y - y*e) / (1 + e)
	},
	VJP: func(e, g *Expr) []*Expr {
		z, y := e.Args[0], e.Args[1]
		return []*Expr{SumTo(Mul(g, Build("sigmoid_slope", z)), z.Type), Neg(SumTo(g, y.Type))}
	},
	Flops: perElement(20),
})
