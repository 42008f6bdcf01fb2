package kernels

import "math"

// Functions for which Go's own versions lose digits somewhere in their range; here they are within an ulp or two
// everywhere. They are powers (Go multiplies rounded squares), logarithms to base 10 near 1, sines near multiples of π,
// inverse sines near 1, and hyperbolic functions near the largest number. A server uses those of its C library, which
// are right.

// two is an unrounded sum of two numbers: about 106 bits.
type two struct{ hi, lo float64 }

// sumTwo is a + b (Knuth).
func sumTwo(a, b float64) two {
	s := a + b
	t := s - a
	return two{s, (a - (s - t)) + (b - t)}
}

// prodTwo is a·b.
func prodTwo(a, b float64) two {
	p := float64(a * b)
	return two{p, math.FMA(a, b, -p)}
}

func (a two) add(b two) two {
	s := sumTwo(a.hi, b.hi)
	return sumTwo(s.hi, s.lo+(a.lo+b.lo))
}

func (a two) mul(b two) two {
	p := prodTwo(a.hi, b.hi)
	return sumTwo(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a two) div(b two) two {
	q := a.hi / b.hi
	rest := math.FMA(-q, b.hi, a.hi) + (a.lo - float64(q*b.lo))
	return sumTwo(q, rest/b.hi)
}

var (
	ln2Two    = two{math.Ln2, 2.3190468138462996e-17}
	thirdTwo  = two{1. / 3, 1.850371707708594e-17}
	log10eTwo = two{math.Log10E, 1.098319650216765e-17}
)

// lnTwo is ln x of a positive number: x = m·2ᵏ with m from √½ to √2, and ln m = 2 artanh(s), s = (m-1)/(m+1), as its
// series.
func lnTwo(x float64) two {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := two{m - 1, 0}.div(sumTwo(1, m))
	z := s.mul(s)
	q := 0.0 // 1/5 + z/7 + z²/9 + …
	for i := 39; i >= 5; i -= 2 {
		q = float64(q*z.hi) + 1/float64(i)
	}
	p := z.mul(thirdTwo).add(two{float64(z.hi*z.hi) * q, 0})
	l := s.add(s.mul(p))
	return two{float64(k), 0}.mul(ln2Two).add(two{2 * l.hi, 2 * l.lo})
}

// expTwo is e^(a.hi + a.lo).
func expTwo(a two) float64 {
	switch {
	case a.hi != a.hi || a.hi > 710 || a.hi < -746:
		return math.Exp(a.hi)
	}
	k := math.RoundToEven(a.hi / math.Ln2)
	r := a.add(two{-k, 0}.mul(ln2Two))
	p := 0.0 // r²/2 + r³/6 + …
	for i := 14; i >= 2; i-- {
		p = float64(p*r.hi)/float64(i+1) + 1
	}
	s := sumTwo(1, r.hi)
	y := s.hi + (s.lo + (r.lo + float64(float64(r.hi*r.hi)/2)*p))
	return math.Ldexp(y, int(k))
}

// pow is xʸ. Powers by whole and half numbers are exact where they can be.
func pow(x, y float64) float64 {
	switch {
	case x < 0 && !math.IsInf(x, 0) && y == math.Trunc(y) && !math.IsInf(y, 0):
		if math.Mod(y, 2) != 0 {
			return -pow(-x, y)
		}
		return pow(-x, y)
	case !(x > 0) || math.IsInf(x, 0) || math.IsInf(y, 0) || y != y || y == 0 || x == 1:
		return math.Pow(x, y)
	case math.Abs(y) <= 500 && 2*y == math.Trunc(2*y):
		return powHalves(x, y)
	}
	p := prodTwo(y, 1)
	return expTwo(p.mul(lnTwo(x)))
}

// powHalves computes powers of the mantissa, which stay in range, and takes a square root for the half.
func powHalves(x, y float64) float64 {
	m, k := math.Frexp(x)
	if k%2 != 0 {
		m, k = m/2, k+1
	}
	if m < 0.5 { // from ½ to 2, and k even
		m, k = 4*m, k-2
	}
	n, r := int(math.Abs(y)), two{1, 0}
	for b, bit := (two{m, 0}), 1; bit <= n; bit *= 2 {
		if n&bit != 0 {
			r = r.mul(b)
		}
		if 2*bit <= n {
			b = b.mul(b)
		}
	}
	if math.Abs(y) != float64(n) {
		s := math.Sqrt(m)
		r = r.mul(sumTwo(s, math.FMA(-s, s, m)/(2*s)))
	}
	if y < 0 {
		r = two{1, 0}.div(r)
	}
	return math.Ldexp(r.hi, int(float64(k)*y))
}

// ln is the natural logarithm. Go's logarithm of denormals is wrong on some processors.
func ln(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// log10 is the logarithm to base 10.
func log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log10(x)
	}
	return lnTwo(x).mul(log10eTwo).hi
}

// halfπ is π/2 in four parts. The products of the first three with whole numbers below 2²⁰ are exact.
var halfπ = [...]float64{0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104}

// reduced is x minus the nearest multiple n·π/2, as two numbers. ok is false for large x, which Go itself reduces well.
func reduced(x float64) (r two, n int, ok bool) {
	if !(math.Abs(x) < 1<<19) {
		return two{}, 0, false
	}
	k := math.RoundToEven(x * (2 / math.Pi))
	r = two{x, 0}
	for _, part := range halfπ {
		r = r.add(prodTwo(-k, part))
	}
	return r, int(k) & 3, true
}

// turned is the sine of r plus n quarter turns.
func turned(r two, n int) float64 {
	s, c := math.Sin(r.hi), math.Cos(r.hi)
	switch n & 3 {
	case 0:
		return s + r.lo*c
	case 1:
		return c - r.lo*s
	case 2:
		return -(s + r.lo*c)
	}
	return -(c - r.lo*s)
}

func sin(x float64) float64 {
	if r, n, ok := reduced(x); ok && n|int(math.Abs(x)) != 0 {
		return turned(r, n)
	}
	return math.Sin(x)
}

func cos(x float64) float64 {
	if r, n, ok := reduced(x); ok {
		return turned(r, n+1)
	}
	return math.Cos(x)
}

func tan(x float64) float64 {
	if r, n, ok := reduced(x); ok && n|int(math.Abs(x)) != 0 {
		return turned(r, n) / turned(r, n+1)
	}
	return math.Tan(x)
}

func cot(x float64) float64 {
	if r, n, ok := reduced(x); ok && n|int(math.Abs(x)) != 0 {
		return turned(r, n+1) / turned(r, n)
	}
	return 1 / math.Tan(x)
}

// asin and acos compute 1 - x² as a product (Kahan, "Branch cuts for complex elementary functions", 1987).
func asin(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }

func acos(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }

// sinh and cosh are finite up to 710.47.
func sinh(x float64) float64 {
	if a := math.Abs(x); a > 700 && a < 712 {
		return math.Copysign(halfExp(a), x)
	}
	return math.Sinh(x)
}

func cosh(x float64) float64 {
	if a := math.Abs(x); a > 700 && a < 712 {
		return halfExp(a)
	}
	return math.Cosh(x)
}

// halfExp is eˣ / 2 without overflow of eˣ.
func halfExp(x float64) float64 {
	h := math.Exp(x / 2)
	return h / 2 * h
}

// gauss is e^(-c·x²) for c = 1 or ½, with x² unrounded: rounding it would cost as many digits as it has before the
// point.
func gauss(x, c float64) float64 {
	x = math.Min(math.Abs(x), 64)
	hi := math.Float64frombits(math.Float64bits(x) &^ (1<<27 - 1))
	return math.Exp(-c*hi*hi) * math.Exp(-c*(x-hi)*(x+hi))
}

// normalCDF is erfc(-x/√2) / 2, with the quotient in two parts.
func normalCDF(x float64) float64 {
	z := -x * invSqrt2
	lo := math.FMA(-x, invSqrt2, -z) - x*invSqrt2Low
	y := math.Erfc(z) / 2
	if math.Abs(x) < 40 {
		y -= gauss(z, 1) * lo / math.Sqrt(math.Pi)
	}
	return y
}
