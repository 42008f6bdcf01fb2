package kernels

import "math"

// unary is an element-wise kernel of one argument.
type unary struct {
	name, doc, kink string
	pg              bool // Postgres has it for scalars: real gives double precision
	internal        bool // a derivative, which SQL does not call
	open            bool // infinite at 1, the integer of the samples
	role            Role
	f               func(float64) float64
	d               func(x, e, g *Expr) *Expr // the contribution; nil: piecewise constant
	flops, lo, hi   float64
	ulps            int
}

const (
	invSqrt2    = 1 / math.Sqrt2
	invSqrt2Low = -4.833646656726457e-17 // what invSqrt2 lacks
	twoOverRtπ  = 2 / math.SqrtPi
)

// nonzero is x with 1 in place of 0, for denominators and logarithms in a branch of Select that is not taken
// there: Select keeps their value out, this keeps their derivative out.
func nonzero(x *Expr) *Expr { return Select(Build("eq_mask", x, Num(0)), Num(1), x) }

// positive selects a where x > 0, else b.
func positive(x, a, b *Expr) *Expr { return Select(Build("greater", x, Num(0)), a, b) }

// sigmoid is exact for large |x|.
func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

var unaries = []unary{
	{name: "exp", doc: "eˣ; underflows to 0 and overflows to Infinity without an error.", pg: true, flops: 15,
		f: math.Exp, d: func(_, e, g *Expr) *Expr { return Mul(g, e) }},
	{name: "ln", role: RoleLogarithm, doc: "The natural logarithm; -Infinity at 0, NaN below.", pg: true, flops: 15,
		lo: 0.3, hi: 3, f: ln, d: func(x, _, g *Expr) *Expr { return Div(g, x) }},
	{name: "log", doc: "The logarithm to base 10.", pg: true, flops: 15, lo: 0.3, hi: 3,
		f: log10, d: func(x, _, g *Expr) *Expr { return Div(Mul(Num(math.Log10E), g), x) }},
	{name: "sqrt", doc: "The square root; NaN below 0.", kink: "At 0 the derivative is 0.", pg: true, flops: 8, lo: 0.3,
		hi: 3, f: math.Sqrt, d: func(_, e, g *Expr) *Expr {
			return Select(Build("eq_mask", e, Num(0)), Num(0), Div(g, Mul(Num(2), nonzero(e))))
		}},
	{name: "sin", doc: "The sine of x radians.", pg: true, flops: 20,
		f: sin, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("cos", x)) }},
	{name: "cos", doc: "The cosine of x radians.", pg: true, flops: 20,
		f: cos, d: func(x, _, g *Expr) *Expr { return Neg(Mul(g, Build("sin", x))) }},
	{name: "tan", doc: "The tangent of x radians.", pg: true, flops: 25, lo: -1, hi: 1,
		f: tan, d: func(_, e, g *Expr) *Expr { return Mul(g, Build("add", Num(1), Build("square", e))) }},
	{name: "tanh", doc: "The hyperbolic tangent.", pg: true, flops: 20,
		f: math.Tanh, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("sech2", x)) }},
	{name: "sinh", doc: "The hyperbolic sine.", pg: true, flops: 20,
		f: sinh, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("cosh", x)) }},
	{name: "cosh", doc: "The hyperbolic cosine.", pg: true, flops: 20,
		f: cosh, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("sinh", x)) }},
	{name: "asin", doc: "The inverse sine, in radians; NaN outside [-1,1].", pg: true, flops: 20, lo: -0.8, hi: 0.8,
		f: asin, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("asin_slope", x)) }},
	{name: "acos", doc: "The inverse cosine, in radians; NaN outside [-1,1].", pg: true, flops: 20, lo: -0.8, hi: 0.8,
		f: acos, d: func(x, _, g *Expr) *Expr { return Neg(Mul(g, Build("asin_slope", x))) }},
	{name: "atan", doc: "The inverse tangent, in radians.", pg: true, flops: 20,
		f: math.Atan, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("atan_slope", x)) }},
	{name: "erf", doc: "The error function.", pg: true, flops: 20,
		f: math.Erf, d: func(x, _, g *Expr) *Expr { return Mul(Mul(Num(twoOverRtπ), g), Build("gauss", x)) }},
	{name: "erfc", doc: "1 - erf(x), with all its digits where it is small.", pg: true, flops: 20,
		f: math.Erfc, d: func(x, _, g *Expr) *Expr { return Mul(Mul(Num(-twoOverRtπ), g), Build("gauss", x)) }},
	{name: "log1p", doc: "ln(1 + x), with all its digits where x is small; -Infinity at -1, NaN below.", pg: true,
		flops: 20, lo: -0.7, hi: 3, f: math.Log1p, d: func(x, _, g *Expr) *Expr { return Div(g, Build("add", Num(1), x)) }},
	{name: "expm1", doc: "eˣ - 1, with all its digits where x is small.", pg: true, flops: 20,
		f: math.Expm1, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("exp", x)) }},
	{name: "sigmoid", doc: "1 / (1 + e⁻ˣ), without overflow.", flops: 18,
		f: sigmoid, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("sigmoid_slope", x)) }},
	{name: "relu", doc: "x where x > 0, else 0; NaN stays NaN.",
		kink: "At 0 the derivative is 0, as in ML frameworks.", flops: 1,
		f: func(x float64) float64 {
			if x <= 0 {
				return 0
			}
			return x
		}, d: func(x, _, g *Expr) *Expr { return positive(x, g, Num(0)) }},
	{name: "elu", doc: "x where x > 0, else eˣ - 1.", flops: 18,
		f: func(x float64) float64 {
			if x > 0 {
				return x
			}
			return math.Expm1(x)
		}, d: func(x, _, g *Expr) *Expr { return positive(x, g, Mul(g, Build("exp", positive(x, Num(0), x)))) }},
	{name: "gelu", doc: "x·Φ(x), Φ the normal distribution function by erf.", flops: 25,
		f: func(x float64) float64 { return x * normalCDF(x) },
		d: func(x, _, g *Expr) *Expr {
			return Mul(g, Build("add", Build("normal_cdf", x), Mul(x, Build("normal_pdf", x))))
		}},
	{name: "silu", doc: "x·sigmoid(x).", flops: 20,
		f: func(x float64) float64 { return x * sigmoid(x) },
		d: func(x, e, g *Expr) *Expr {
			return Mul(g, Build("add", Build("sigmoid", x), Mul(e, Build("sigmoid", Neg(x)))))
		}},
	{name: "softplus", doc: "ln(1 + eˣ), without overflow.", flops: 30,
		f: softplus, d: func(x, _, g *Expr) *Expr { return Mul(g, Build("sigmoid", x)) }},
	{name: "square", role: RoleDistance, doc: "x².", flops: 1,
		f: func(x float64) float64 { return x * x }, d: func(x, _, g *Expr) *Expr { return Mul(g, Mul(Num(2), x)) }},
	{name: "sign", doc: "-1, 0 or 1 (NaN for NaN).", pg: true, flops: 1,
		f: func(x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return x
		}},

	// Derivatives that would cancel as an expression of other kernels, 1 - tanh² where tanh is almost 1.
	{name: "sech2", doc: "1 / cosh²(x).", internal: true, flops: 18,
		f: func(x float64) float64 { return 4 * logistic(2*x) },
		d: func(x, e, g *Expr) *Expr { return Mul(Mul(Num(-2), g), Mul(Build("tanh", x), e)) }},
	{name: "sigmoid_slope", doc: "sigmoid(x)·sigmoid(-x).", internal: true, flops: 18, f: logistic,
		d: func(x, e, g *Expr) *Expr { return Neg(Mul(g, Mul(Build("tanh", Mul(Num(0.5), x)), e))) }},
	{name: "asin_slope", doc: "1 / √(1 - x²).", internal: true, flops: 10, lo: -0.8, hi: 0.8,
		f: func(x float64) float64 { return 1 / math.Sqrt((1-x)*(1+x)) },
		d: func(x, e, g *Expr) *Expr { return Mul(Mul(g, x), Mul(e, Build("square", e))) }},
	{name: "atan_slope", doc: "1 / (1 + x²).", internal: true, flops: 8,
		f: func(x float64) float64 {
			if math.Abs(x) > 1 {
				x = 1 / x
				return x * x / (1 + x*x)
			}
			return 1 / (1 + x*x)
		},
		d: func(x, e, g *Expr) *Expr { return Mul(Mul(Num(-2), g), Mul(Mul(x, e), e)) }},
	{name: "gauss", doc: "e^(-x²).", internal: true, flops: 30,
		f: func(x float64) float64 { return gauss(x, 1) },
		d: func(x, e, g *Expr) *Expr { return Mul(Mul(Num(-2), g), Mul(x, e)) }},
	{name: "normal_pdf", doc: "The density of the standard normal distribution.", internal: true, flops: 30,
		f: func(x float64) float64 { return gauss(x, 0.5) / math.Sqrt(2*math.Pi) },
		d: func(x, e, g *Expr) *Expr { return Neg(Mul(g, Mul(x, e))) }},
	{name: "normal_cdf", doc: "The distribution function of the standard normal distribution.", internal: true, flops: 40,
		f: normalCDF,
		d: func(x, _, g *Expr) *Expr { return Mul(g, Build("normal_pdf", x)) }},
}

var floatSamples = []Sample{{Types: []Type{f64()}}, {Types: []Type{f64(3)}}, {Types: []Type{f32(2, 3)}},
	{Types: []Type{f32()}}, {Types: []Type{f32(1)}},
	{Types: []Type{f64(2, 1, 2)}}, {Types: []Type{f32(1, 2, 1, 2)}}}

// logistic is the density of the logistic distribution, sigmoid(x)·sigmoid(-x).
func logistic(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	return e / (1 + e) / (1 + e)
}

func init() {
	for _, u := range unaries {
		registerUnary(u)
	}
}

func registerUnary(u unary) {
	elem := inferElem(u.name)
	d := &Def{
		Name: u.name, Args: "x", MinArgs: 1, Zero: u.d == nil, Internal: u.internal, Role: u.role, Ulps: u.ulps,
		Doc: u.doc, Kink: u.kink,
		Infer: func(a []Type, at Attr) (Type, error) {
			t, err := elem(a, at)
			if u.pg {
				t = widenScalar(t)
			}
			return t, err
		},
		Elem:  func(x []float64) float64 { return u.f(x[0]) },
		Flops: perElement(u.flops), Lo: u.lo, Hi: u.hi,
	}
	if u.internal || u.open { // derivatives are of floats
		d.Samples = floatSamples
	}
	if u.d != nil {
		d.VJP = func(e, g *Expr) []*Expr { return []*Expr{u.d(e.Args[0], e, g)} }
	}
	Register(d)
}

var _ = Register(&Def{
	Name: "abs", Args: "x", MinArgs: 1,
	Role:  RoleDistance,
	Doc:   "The absolute value; bigint and real keep their type.",
	Kink:  "At 0 the derivative is 0.",
	Infer: inferArith("abs"),
	Elem:  func(x []float64) float64 { return math.Abs(x[0]) },
	Ints: func(x []int64) (int64, error) {
		if x[0] < 0 {
			return -x[0], overflow(x[0] == math.MinInt64)
		}
		return x[0], nil
	},
	VJP: func(e, g *Expr) []*Expr { return []*Expr{Mul(g, Build("sign", e.Args[0]))} },
	Lo:  0.2, Hi: 2,
})

// registerRounding registers a rounding of scalars.
func registerRounding(name, doc string, f func(float64) float64) {
	Register(&Def{
		Name: name, Args: "x", MinArgs: 1, Zero: true,
		Doc: doc,
		Infer: func(a []Type, _ Attr) (Type, error) {
			if a[0].Shape != nil || !a[0].IsFloat() && a[0].Kind != Int {
				return Type{}, wrongType(name, a)
			}
			return Type{Kind: Float64}, nil
		},
		Elem:    func(x []float64) float64 { return f(x[0]) },
		Samples: []Sample{{Types: []Type{{Kind: Float32}}}, {Types: []Type{{Kind: Int}}, Ints: []int64{3}}},
	})
}

func init() {
	registerRounding("floor", "The nearest integer not above a scalar, in double precision.", math.Floor)
	registerRounding("ceil", "The nearest integer not below a scalar, in double precision.", math.Ceil)
	registerRounding("round", "The nearest integer of a scalar, in double precision; halves go to the even one.",
		math.RoundToEven)
	registerRounding("trunc", "The integer part of a scalar, in double precision.", math.Trunc)
}
