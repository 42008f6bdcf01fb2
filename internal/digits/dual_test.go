package digits

import "github.com/relgrad/relgrad/internal/lists"

// dual is a number with its derivatives in two directions, and the mixed one. The rules for sums, products and
// elementary functions give every derivative from the definition of a kernel.
type dual struct{ v, a, b, ab real }

func constant(x real) dual { return dual{x, fl(), fl(), fl()} }
func num(x float64) dual   { return constant(of(x)) }

func (x dual) add(y dual) dual {
	return dual{add(x.v, y.v), add(x.a, y.a), add(x.b, y.b), add(x.ab, y.ab)}
}

func (x dual) neg() dual       { return dual{neg(x.v), neg(x.a), neg(x.b), neg(x.ab)} }
func (x dual) sub(y dual) dual { return x.add(y.neg()) }

func (x dual) mul(y dual) dual {
	mixed := add(add(mul(x.ab, y.v), mul(x.v, y.ab)), add(mul(x.a, y.b), mul(x.b, y.a)))
	return dual{mul(x.v, y.v), add(mul(x.a, y.v), mul(x.v, y.a)), add(mul(x.b, y.v), mul(x.v, y.b)), mixed}
}

func (x dual) div(y dual) dual {
	r := quo(of(1), y.v)
	d := neg(mul(r, r))
	return x.mul(y.of(r, d, neg(mul(of(2), mul(d, r)))))
}

// of is f(x), where f has this value and these derivatives at x.
func (x dual) of(f, d, dd real) dual {
	return dual{f, mul(d, x.a), mul(d, x.b), add(mul(d, x.ab), mul(dd, mul(x.a, x.b)))}
}

func (x dual) exp() dual {
	e := exp(x.v)
	return x.of(e, e, e)
}

func (x dual) ln() dual {
	r := quo(of(1), x.v)
	return x.of(ln(x.v), r, neg(mul(r, r)))
}

func (x dual) sqrt() dual {
	s := fl().Sqrt(x.v)
	d := quo(of(0.5), s)
	return x.of(s, d, neg(quo(half(d), x.v)))
}

func (x dual) sin() dual {
	s := sin(x.v)
	return x.of(s, cos(x.v), neg(s))
}

func (x dual) cos() dual {
	c := cos(x.v)
	return x.of(c, neg(sin(x.v)), neg(c))
}

func (x dual) atan() dual {
	d := quo(of(1), add(of(1), mul(x.v, x.v)))
	return x.of(atan(x.v), d, neg(mul(mul(of(2), x.v), mul(d, d))))
}

func (x dual) erf() dual {
	d := bell(x.v)
	return x.of(erf(x.v), d, neg(mul(mul(of(2), x.v), d)))
}

func (x dual) expm1() dual { return x.exp().sub(num(1)) }

// abs is right except where x is 0.
func (x dual) abs() dual {
	if x.v.Sign() < 0 {
		return x.neg()
	}
	return x
}

func (x dual) cmp(y dual) int { return x.v.Cmp(y.v) }

// pow is xʸ for positive x.
func (x dual) pow(y dual) dual { return y.mul(x.ln()).exp() }

func largest(x []dual) dual {
	m := x[0]
	for _, v := range x[1:] {
		if v.cmp(m) > 0 {
			m = v
		}
	}
	return m
}

func total(x []dual) dual {
	s := num(0)
	for _, v := range x {
		s = s.add(v)
	}
	return s
}

func each(x []dual, f func(dual) dual) []dual {
	return lists.Map(x, f)
}

func (x dual) lgamma() dual { return x.of(lgamma(x.v), polygamma(0, x.v), polygamma(1, x.v)) }

func (x dual) polygamma(n int) dual {
	return x.of(polygamma(n, x.v), polygamma(n+1, x.v), polygamma(n+2, x.v))
}
