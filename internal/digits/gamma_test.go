package digits

import "math/big"

// bernoulli are the Bernoulli numbers B2, B4, …, from the tangent numbers (Brent and Harvey, 2013).
var bernoulli = func() (out []real) {
	const n = 200
	t := make([]*big.Int, n+1)
	t[1] = big.NewInt(1)
	for k := 2; k <= n; k++ {
		t[k] = new(big.Int).Mul(big.NewInt(int64(k-1)), t[k-1])
	}
	for k := 2; k <= n; k++ {
		for j := k; j <= n; j++ {
			a := new(big.Int).Mul(big.NewInt(int64(j-k)), t[j-1])
			t[j] = a.Add(a, new(big.Int).Mul(big.NewInt(int64(j-k+2)), t[j]))
		}
	}
	for k := 1; k <= n; k++ { // B2k = ±2k·T(k) / (4ᵏ·(4ᵏ-1))
		four := new(big.Int).Lsh(big.NewInt(1), uint(2*k))
		b := fl().SetInt(new(big.Int).Mul(big.NewInt(int64(2*k)), t[k]))
		b = quo(b, fl().SetInt(new(big.Int).Mul(four, new(big.Int).Sub(four, big.NewInt(1)))))
		if k%2 == 0 {
			b = neg(b)
		}
		out = append(out, b)
	}
	return out
}()

// raised is the least number from which the asymptotic series have 150 digits.
const raised = 80

// below reports whether x is an integer that is not positive, at which the gamma function is not defined.
func below(x real) bool { return x.Sign() <= 0 && x.IsInt() }

// lgamma is ln|Γ(x)| by Stirling's series.
func lgamma(x real) real {
	if below(x) {
		panic(big.ErrNaN{})
	}
	if x.Cmp(of(1)) == 0 || x.Cmp(of(2)) == 0 { // but for roundings
		return fl()
	}
	if x.Sign() < 0 { // Γ(x)Γ(1-x) = π / sin(πx)
		return sub(ln(quo(pi, fl().Abs(sin(mul(pi, nearest(x)))))), lgamma(sub(of(1), x)))
	}
	product := of(1)
	for x.Cmp(of(raised)) < 0 {
		product, x = mul(product, x), add(x, of(1))
	}
	s := add(mul(sub(x, of(0.5)), ln(x)), sub(half(ln(mul(of(2), pi))), x))
	return sub(add(s, tail(x, func(k int) real { return of(float64(2*k - 1)) }, x)), ln(product))
}

// nearest is x less the nearest integer, with its sign: sin and cot of π times it are those of πx, but for signs.
func nearest(x real) real {
	n, _ := add(fl().Abs(x), of(0.5)).Int(nil)
	r := sub(fl().Abs(x), fl().SetInt(n))
	if x.Sign() < 0 {
		r = neg(r)
	}
	return r
}

// tail is Σ B2k / (2k·factor(k)) · x / x²ᵏ, up to its least term or 2^-1600.
func tail(x real, factor func(k int) real, power real) real {
	s, z := fl(), quo(of(1), mul(x, x))
	for k := 1; k <= len(bernoulli); k++ {
		power = mul(power, z)
		term := mul(quo(bernoulli[k-1], mul(of(float64(2*k)), factor(k))), power)
		if term.Sign() == 0 || term.MantExp(nil) < -bits {
			break
		}
		s = add(s, term)
	}
	return s
}

// polygamma is the n-th derivative of digamma.
func polygamma(n int, x real) real {
	if below(x) {
		panic(big.ErrNaN{})
	}
	if x.Sign() < 0 {
		y := polygamma(n, sub(of(1), x))
		if n%2 != 0 {
			y = neg(y)
		}
		return sub(y, cotangent(n, x))
	}
	sum, order, sign := fl(), of(float64(n)), of(1)
	fact := fl().SetInt(new(big.Int).MulRange(1, int64(n)))
	if n%2 == 0 {
		sign = of(-1)
	}
	for ; x.Cmp(of(raised)) < 0; x = add(x, of(1)) {
		sum = add(sum, quo(fact, whole(x, n+1)))
	}
	if n == 0 { // ln x - 1/2x - Σ B2k / (2k x²ᵏ), and sign is -1
		s := sub(quo(of(0.5), x), ln(x))
		return mul(sign, add(sum, add(s, tail(x, func(int) real { return of(1) }, of(1)))))
	}
	s := add(quo(quo(fact, order), whole(x, n)), quo(half(fact), whole(x, n+1)))
	s = add(s, tail(x, func(k int) real { // (2k-1)! / (2k+n-1)!
		return quo(of(1), fl().SetInt(new(big.Int).MulRange(int64(2*k), int64(2*k+n-1))))
	}, quo(of(1), whole(x, n))))
	return mul(sign, add(sum, s))
}

func whole(x real, n int) real {
	y := of(1)
	for range n {
		y = mul(y, x)
	}
	return y
}

// cotangent is the n-th derivative of π·cot(πx).
func cotangent(n int, x real) real {
	at := mul(pi, nearest(x))
	c, p := quo(cos(at), sin(at)), []real{fl(), of(1)}
	for range n { // the derivative of c is -π(1+c²)
		next := make([]real, len(p)+1)
		for k := range next {
			next[k] = fl()
		}
		for k := 1; k < len(p); k++ {
			d := mul(of(float64(k)), p[k])
			next[k-1], next[k+1] = sub(next[k-1], d), sub(next[k+1], d)
		}
		p = next
	}
	y := fl()
	for k := len(p) - 1; k >= 0; k-- {
		y = add(mul(y, c), p[k])
	}
	return mul(y, whole(pi, n+1))
}
