package kernels

import "math"

// The logarithm of the gamma function and its derivatives. digamma near its zero is a product with the distance from
// it, by the rational approximation of J. Maddock (Boost's digamma.hpp, Boost Software License 1.0).

func init() {
	registerUnary(unary{name: "lgamma", doc: "ln|Γ(x)|, the logarithm of the gamma function; Infinity at 0 and at " +
		"negative integers.", pg: true, flops: 60, lo: 0.3, hi: 4, f: lgamma,
		d: func(x, _, g *Expr) *Expr { return Mul(g, Build("digamma", x)) }})
	registerUnary(unary{name: "digamma", doc: "ψ(x), the derivative of lgamma; NaN at 0 and at negative integers.",
		pg: true, flops: 60, lo: 0.3, hi: 4, f: digamma,
		d: func(x, _, g *Expr) *Expr { return Mul(g, Build("polygamma", Const(IntValue(1)), x)) }})
}

func lgamma(x float64) float64 {
	switch {
	case math.IsInf(x, -1):
		return math.Inf(1)
	case math.Abs(x) < 0x1p-70 && x != 0:
		return -ln(math.Abs(x))
	}
	y, _ := math.Lgamma(x)
	return y
}

var _ = Register(&Def{
	Name: "polygamma", Args: "n, x", MinArgs: 2, Internal: true, Ulps: 16,
	Doc: "The derivative of order n of digamma, n an integer from 1 on.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if a[0].Kind != Int || a[0].Shape != nil {
			return Type{}, wrongType("polygamma", a)
		}
		t, err := inferElem("polygamma")(a[1:], at)
		return widenScalar(t), err
	},
	Elem: func(x []float64) float64 { return polygamma(int(x[0]), x[1]) },
	VJP: func(e, g *Expr) []*Expr {
		next := Build("add", e.Args[0], Const(IntValue(1)))
		if n := e.Args[0]; n.IsConst() {
			next = Const(IntValue(n.Const.I + 1))
		}
		return []*Expr{nil, Mul(g, Build("polygamma", next, e.Args[1]))}
	},
	Flops: perElement(80), Lo: 0.3, Hi: 4,
	Samples: []Sample{
		{Types: []Type{{Kind: Int}, f64()}},
		{Types: []Type{{Kind: Int}, f64(3)}, Ints: []int64{2}},
		{Types: []Type{{Kind: Int}, f32(2, 3)}},
		{Types: []Type{{Kind: Int}, f32(1)}},
		{Types: []Type{{Kind: Int}, f64(2, 1, 2)}},
		{Types: []Type{{Kind: Int}, f32(1, 2, 1, 2)}},
	},
})

// digamma0 are the three parts of the zero of digamma; the first two are short, so that a number near it less these is
// exact.
var digamma0 = [...]float64{1569415565. / (1 << 30), 381566830. / (1 << 30) / (1 << 30),
	0.9016312093258695918615325266959189453125e-19}

var (
	digammaP = []float64{0.25479851061131551, -0.32555031186804491, -0.65031853770896507, -0.28919126444774784,
		-0.045251321448739056, -0.0020713321167745952}
	digammaQ = []float64{1, 2.0767117023730469, 1.4606242909763515, 0.43593529692665969, 0.054151797245674225,
		0.0021284987017821144, -0.55789841321675513e-6}
)

const digammaY = 0.99558162689208984375

// bernoulli are the Bernoulli numbers B2, B4, …
var bernoulli = [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510,
	43867. / 798, -174611. / 330, 854513. / 138, -236364091. / 2730}

// horner is the polynomial with the coefficients c, from the constant on.
func horner(x float64, c []float64) float64 {
	y := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		y = y*x + c[i]
	}
	return y
}

// cotπ is the cotangent of π·x, with all its digits beside its zeros too.
func cotπ(x float64) float64 {
	r := x - math.RoundToEven(x)
	if a := math.Abs(r); a > 0.25 {
		return math.Copysign(math.Tan(math.Pi*(0.5-a)), r)
	}
	return 1 / math.Tan(math.Pi*r)
}

func digamma(x float64) float64 {
	switch {
	case x <= 0 && x == math.Trunc(x):
		return math.NaN()
	case x < 0: // ψ(1-x) - π·cot(πx)
		return digamma(1-x) - math.Pi*cotπ(x)
	case !(x < 10):
		z, s := 1/x, 0.0
		z *= z
		for k := len(bernoulli) - 1; k >= 0; k-- {
			s = (s + bernoulli[k]/float64(2*k+2)) * z
		}
		return math.Log(x) - 1/(2*x) - s
	}
	shift := 0.0
	for ; x > 2; x-- {
		shift += 1 / (x - 1)
	}
	if x < 1 {
		shift, x = -1/x, x+1
	}
	d := x - digamma0[0] - digamma0[1] - digamma0[2]
	return shift + (d*digammaY + d*(horner(x-1, digammaP)/horner(x-1, digammaQ)))
}

// polygamma is the n-th derivative of digamma: by its asymptotic series (Abramowitz and Stegun, 6.4.11) at x raised to
// where this is exact, and for negative x by reflection.
func polygamma(n int, x float64) float64 {
	switch {
	case x <= 0 && x == math.Trunc(x) && n%2 != 0:
		return math.Inf(1) // from both sides
	case x <= 0 && x == math.Trunc(x):
		return math.NaN()
	case x < 0:
		y := polygamma(n, 1-x)
		if n%2 != 0 {
			y = -y
		}
		return y - cotDerivative(n, cotπ(x))
	}
	sum, factor := 0.0, math.Gamma(float64(n)) // (n-1)!
	steps := math.Max(0, math.Ceil(float64(15+n)-x))
	from := x + steps
	for i := steps; i >= 1; i-- { // from the least term on
		sum += math.Pow(1/(x+(i-1)), float64(n+1))
	}
	p := math.Pow(1/from, float64(n))
	series, term := 0.0, factor*float64(n)*float64(n+1)/2*p // (2k+n-1)!/(2k)!·x⁻ⁿ⁻²ᵏ for k = 1, after the factors of z
	z := 1 / from / from
	for k, b := range bernoulli {
		term *= z
		series += b * term
		m := float64(2*k + 2)
		term *= (m + float64(n)) * (m + float64(n) + 1) / ((m + 1) * (m + 2))
	}
	y := sum*factor*float64(n) + (factor*p + (factor*float64(n)/2*p/from + series))
	if n%2 == 0 {
		y = -y
	}
	return y
}

// cotDerivative is the n-th derivative of π·cot(πx), c = cot(πx): a polynomial in c, since that of c is -π(1+c²).
func cotDerivative(n int, c float64) float64 {
	p := []float64{0, 1}
	for range n {
		next := make([]float64, len(p)+1)
		for k := 1; k < len(p); k++ {
			next[k-1] -= float64(k) * p[k]
			next[k+1] -= float64(k) * p[k]
		}
		p = next
	}
	y := p[len(p)-1] // c may be infinite
	for k := len(p) - 2; k >= 0; k-- {
		y = y*c + p[k]
	}
	return y * math.Pow(math.Pi, float64(n+1))
}
