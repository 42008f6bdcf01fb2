package digits

import "math/big"

// bits is the precision of the truth: 60 digits remain where a factor of 10^400 cancels.
const bits = 1600

// real is a number of that precision; nil: undefined.
type real = *big.Float

func fl() real           { return new(big.Float).SetPrec(bits) }
func of(x float64) real  { return fl().SetFloat64(x) }
func add(a, b real) real { return fl().Add(a, b) }
func sub(a, b real) real { return fl().Sub(a, b) }
func mul(a, b real) real { return fl().Mul(a, b) }
func quo(a, b real) real { return fl().Quo(a, b) }
func neg(a real) real    { return fl().Neg(a) }
func half(a real) real   { return fl().SetMantExp(a, -1) }

// exp halves x until it is small, sums the series and squares the result. It is 0 or infinite far from 0.
func exp(x real) real {
	if x.MantExp(nil) > 20 {
		if x.Sign() < 0 {
			return fl()
		}
		return fl().SetInf(false)
	}
	k := max(0, x.MantExp(nil)+24)
	r := fl().SetMantExp(x, -k)
	s, term := of(1), of(1)
	for i := 1; i == 1 || term.Sign() != 0 && term.MantExp(nil) > -bits-8; i++ {
		term = mul(term, quo(r, of(float64(i))))
		s = add(s, term)
	}
	for range k {
		s = mul(s, s)
	}
	return s
}

// expm1 is eˣ - 1; the precision allows to subtract.
func expm1(x real) real { return sub(exp(x), of(1)) }

var ln2 = lnNear1(of(2))

// ln splits off the exponent.
func ln(x real) real {
	if x.Sign() == 0 || x.IsInf() {
		return fl().SetInf(x.Sign() == 0)
	}
	m := fl()
	k := x.MantExp(m)
	return add(lnNear1(m), mul(of(float64(k)), ln2))
}

// lnNear1 is 2 artanh((x-1)/(x+1)) of four square roots of x.
func lnNear1(x real) real {
	const roots = 40
	for range roots {
		x = fl().Sqrt(x)
	}
	s := quo(sub(x, of(1)), add(x, of(1)))
	z, term, sum := mul(s, s), s, fl()
	for i := 1; term.Sign() != 0 && term.MantExp(nil) > -bits-8; i += 2 {
		sum = add(sum, quo(term, of(float64(i))))
		term = mul(term, z)
	}
	return fl().SetMantExp(sum, roots+1)
}

// series sums xᵏ/k! from k = first, every second term, with alternating signs. It uses as many more bits as x has
// before the point.
func series(x real, first int) real {
	s, term, z := fl(), of(1), neg(mul(x, x))
	if first == 1 {
		term = fl().Set(x)
	}
	for i := first + 1; term.Sign() != 0 && term.MantExp(nil) > -bits-8; i += 2 {
		s = add(s, term)
		term = mul(term, quo(z, of(float64(i*(i+1)))))
	}
	return s
}

var pi = func() real { // Machin's formula
	at := func(n float64) real { return atanSmall(quo(of(1), of(n))) }
	return mul(of(4), sub(mul(of(4), at(5)), at(239)))
}()

func atanSmall(x real) real {
	s, term, z := fl(), fl().Set(x), neg(mul(x, x))
	for i := 1; term.Sign() != 0 && term.MantExp(nil) > -bits-8; i += 2 {
		s = add(s, quo(term, of(float64(i))))
		term = mul(term, z)
	}
	return s
}

// atan halves the angle until the series is short.
func atan(x real) real {
	const halves = 12
	if x.MantExp(nil) > 20 { // π/2 - atan(1/x)
		h := half(pi)
		if x.Sign() < 0 {
			h = neg(h)
		}
		return sub(h, atan(quo(of(1), x)))
	}
	for range halves {
		x = quo(x, add(of(1), fl().Sqrt(add(of(1), mul(x, x)))))
	}
	return fl().SetMantExp(atanSmall(x), halves)
}

// turn is x minus a multiple of 2π.
func turn(x real) real {
	n, _ := quo(x, mul(of(2), pi)).Int(nil)
	return sub(x, mul(fl().SetInt(n), mul(of(2), pi)))
}

func sin(x real) real { return series(turn(x), 1) }
func cos(x real) real { return series(turn(x), 0) }

// erf is 2/√π·e^(-x²)·Σ 2ⁿx²ⁿ⁺¹/(1·3·…·(2n+1)), whose terms have one sign. Far from 0 it is ±1.
func erf(x real) real {
	if x.MantExp(nil) > 6 {
		return of(float64(x.Sign()))
	}
	z := mul(of(2), mul(x, x))
	s, term := fl(), fl().Set(x)
	for i := 3; term.Sign() != 0 && (term.MantExp(nil) > s.MantExp(nil)-bits-8); i += 2 {
		s = add(s, term)
		term = mul(term, quo(z, of(float64(i))))
	}
	return mul(bell(x), s)
}

// bell is the derivative of erf.
func bell(x real) real { return mul(quo(of(2), fl().Sqrt(pi)), exp(neg(mul(x, x)))) }
