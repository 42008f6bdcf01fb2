package numeric

import (
	"math"
	"math/big"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Sqrt returns the square root with at least 16 significant digits (numeric_sqrt).
func (a Num) Sqrt() (Num, error) {
	if a.Sign() < 0 {
		return Num{}, sqlerr.New("2201F", "cannot take square root of a negative number")
	}
	w, _ := a.group()
	sweight := w*4/2 + 1
	if w < 0 {
		sweight = 1 - (1-w*4)/2 // rounded towards zero
	}
	scale := min(max(minSigDigits-sweight, a.scale, 0), maxDisplayScale)
	return a.sqrtAt(scale), nil
}

func (a Num) sqrtAt(scale int) Num {
	x := Num{a.c(), a.scale}.Round(max(a.scale, 2*scale+2))
	if x.scale%2 == 1 {
		x = x.Round(x.scale + 1)
	}
	return Num{new(big.Int).Sqrt(x.c()), x.scale / 2}.Round(scale)
}

// Spread returns the variance or standard deviation of n values with the given sum and sum of squares
// (numeric_stddev_internal); ok is false where it is NULL.
func Spread(n int64, sum, sum2 Num, sample, variance bool) (Num, bool) {
	if n < 1 || sample && n < 2 {
		return Num{}, false
	}
	cn := Int(n)
	x := cn.Mul(sum2).Sub(sum.Mul(sum))
	if x.Sign() <= 0 {
		return Int(0), true
	}
	d := cn.Mul(cn)
	if sample {
		d = cn.Mul(Int(n - 1))
	}
	scale := divScale(x, d)
	q := x.divAt(d, scale, true)
	if variance {
		return q, true
	}
	return q.sqrtAt(scale), true
}

// bigf returns a as a binary float of prec bits.
func (a Num) bigf(prec uint) *big.Float {
	x := new(big.Float).SetPrec(prec).SetInt(a.c())
	return x.Quo(x, new(big.Float).SetPrec(prec).SetInt(pow10(a.scale)))
}

// fromBig rounds a binary float to scale decimals.
func fromBig(x *big.Float, scale int) Num {
	p := new(big.Float).SetPrec(x.Prec() + 64).SetInt(pow10(scale + 3))
	i, _ := p.Mul(p, x).Int(nil)
	return Num{i, scale + 3}.Round(scale)
}

const log10of2 = 0.30102999566398119521

// expBig is e^x by x/2^k and the Taylor series.
func expBig(x *big.Float, prec uint) *big.Float {
	work := prec + 64
	k := max(0, x.MantExp(nil)+8)
	y := new(big.Float).SetPrec(work).SetMantExp(x, -k)
	sum, term := new(big.Float).SetPrec(work).SetInt64(1), new(big.Float).SetPrec(work).SetInt64(1)
	for i := int64(1); ; i++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetPrec(work).SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < -int(work) {
			break
		}
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return sum
}

// lnBig is ln x by Newton's iteration y += 2(x−e^y)/(x+e^y) (Halley), from a float64 start.
func lnBig(x *big.Float, prec uint) *big.Float {
	work := prec + 64
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := new(big.Float).SetPrec(work).SetFloat64(math.Log(f) + float64(e)*math.Ln2)
	for bits := uint(40); bits < 3*work; bits *= 3 {
		ey := expBig(y, work)
		num := new(big.Float).SetPrec(work).Sub(x, ey)
		den := new(big.Float).SetPrec(work).Add(x, ey)
		num.Quo(num, den)
		y.Add(y, num.Mul(num, big.NewFloat(2)))
	}
	return y
}

// maxResult bounds the decimal digits of exponentials (NUMERIC_MAX_RESULT_SCALE).
const maxResult = 2000

// Exp returns e^a (numeric_exp, exp_var).
func (a Num) Exp() (Num, error) {
	val := a.Float64()
	digits := min(max(val*0.434294481903252, -maxResult), maxResult)
	scale := min(max(minSigDigits-int(digits), a.scale, 0), maxDisplayScale)
	switch {
	case val >= 3*maxResult:
		return Num{}, errOverflow()
	case val <= -3*maxResult:
		return Num{new(big.Int), scale}, nil
	}
	prec := uint(float64(scale+int(math.Abs(val)*0.4343)+20)/log10of2) + 64
	return fromBig(expBig(a.bigf(prec), prec), scale), nil
}

func errOverflow() error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "value overflows numeric format")
}

// lnDigits estimates the decimal weight of ln a (estimate_ln_dweight).
func lnDigits(a Num) int {
	if d := a.Sub(Int(1)); math.Abs(a.Float64()-1) < 0.1 {
		if d.Sign() == 0 {
			return 0
		}
		return len(new(big.Int).Abs(d.c()).String()) - 1 - d.scale
	}
	return int(log10(a.logAbs()))
}

// log10 is the decimal logarithm of |x|, which may be too large or too small for a double.
func log10(x *big.Float) float64 {
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	return math.Log10(math.Abs(f)) + float64(e)*log10of2
}

// Ln returns the natural logarithm (numeric_ln).
func (a Num) Ln() (Num, error) {
	if err := a.positive(); err != nil {
		return Num{}, err
	}
	scale := min(max(minSigDigits-lnDigits(a), a.scale, 0), maxDisplayScale)
	prec := uint(float64(scale+20)/log10of2) + 128
	return fromBig(lnBig(a.bigf(prec), prec), scale), nil
}

func (a Num) positive() error {
	switch a.Sign() {
	case 0:
		return sqlerr.New("2201E", "cannot take logarithm of zero")
	case -1:
		return sqlerr.New("2201E", "cannot take logarithm of a negative number")
	}
	return nil
}

// Log returns the logarithm of b to the base a (numeric_log).
func (a Num) Log(b Num) (Num, error) {
	for _, x := range []Num{a, b} {
		if err := x.positive(); err != nil {
			return Num{}, err
		}
	}
	if a.Cmp(Int(1)) == 0 {
		return Num{}, sqlerr.New(errZero, "division by zero")
	}
	da, db := lnDigits(a), lnDigits(b)
	scale := min(max(minSigDigits-(db-da), a.scale, b.scale, 0), maxDisplayScale)
	before := max(0, -da, -db) + max(0, db-da) // digits before the leading digits of the logarithms, and of the result
	prec := uint(float64(scale+before+40)/log10of2) + 128
	x := lnBig(b.bigf(prec), prec)
	return fromBig(x.Quo(x, lnBig(a.bigf(prec), prec)), scale), nil
}

// Pow returns a^b (numeric_power).
func (a Num) Pow(b Num) (Num, error) {
	whole := b.Trunc(0).Cmp(b) == 0
	switch {
	case a.Sign() == 0 && b.Sign() < 0:
		return Num{}, sqlerr.New("2201F", "zero raised to a negative power is undefined")
	case a.Sign() < 0 && !whole:
		return Num{}, sqlerr.New("2201F", "a negative number raised to a non-integer power yields a complex result")
	}
	if n, ok := b.Int64(); whole && ok && n == int64(int32(n)) {
		return a.powInt(n)
	}
	if a.Sign() == 0 {
		return Num{new(big.Int), minSigDigits}, nil
	}
	product := b.bigf(64) // each factor may be too large or too small for a double
	val, _ := product.Mul(product, a.logAbs()).Float64()
	switch { // power_var
	case val > 3.01*maxResult:
		return Num{}, errOverflow()
	case val < -3.01*maxResult:
		return Num{new(big.Int), maxDisplayScale}, nil
	}
	val *= 0.434294481903252
	scale := min(max(minSigDigits-int(val), a.scale, b.scale, 0), maxDisplayScale)
	// b multiplies the error of ln a
	prec := uint(float64(scale+int(math.Abs(val))+max(0, b.magnitude())+40)/log10of2) + 128
	x := lnBig(a.Abs().bigf(prec), prec)
	n := fromBig(expBig(x.Mul(x, b.bigf(prec)), prec), scale)
	if a.Sign() < 0 && b.Trunc(0).c().Bit(0) == 1 {
		n = n.Neg()
	}
	return n, nil
}

// logAbs is the natural logarithm of |a| to double precision. Near 1 it may be too small for a double.
func (a Num) logAbs() *big.Float {
	d := a.Abs().Sub(Int(1)).bigf(64) // computed exactly: a double near 1 has lost these digits
	switch x, _ := d.Float64(); {
	case math.Abs(x) < 1e-9:
		half := new(big.Float).Mul(d, d)
		return d.Sub(d, half.Quo(half, big.NewFloat(2)))
	case math.Abs(x) < 0.5:
		return big.NewFloat(math.Log1p(x))
	}
	m := new(big.Float)
	e := new(big.Float).SetInt(a.Abs().c()).MantExp(m)
	f, _ := m.Float64()
	return big.NewFloat(math.Log(f) + float64(e)*math.Ln2 - float64(a.scale)*math.Ln10)
}

// powInt is power_var_int: square and multiply, keeping the digits that the result needs.
func (a Num) powInt(n int64) (Num, error) {
	scale := min(max(minSigDigits, a.scale), maxDisplayScale)
	switch n {
	case 0:
		return Int(1).Round(scale), nil
	case 1:
		return a.Round(scale), nil
	case -1:
		return Int(1).divAt(a, scale, true), nil
	case 2:
		return a.Mul(a).Round(scale), nil
	}
	if a.Sign() == 0 {
		return Num{new(big.Int), scale}, nil
	}
	log, _ := a.logAbs().Float64()
	f := float64(n) * log / math.Ln10
	if f > maxDigits {
		return Num{}, errOverflow()
	}
	if f+1 < -float64(scale) || f+1 < -maxDisplayScale {
		return Num{new(big.Int), scale}, nil
	}
	digits := 1 + scale + int(f) + int(math.Log(math.Abs(float64(n)))) + 8
	base, result := a, Int(1)
	mask := uint64(max(n, -n))
	if mask&1 != 0 {
		result = a
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		base = base.times(base, digits)
		if mask&1 != 0 {
			result = base.times(result, digits)
		}
		if base.tooLarge() || result.tooLarge() {
			if n > 0 {
				return Num{}, errOverflow()
			}
			return Num{new(big.Int), scale}, nil
		}
	}
	if n < 0 {
		return Int(1).divAt(result, scale, true), nil
	}
	return result.Round(scale), nil
}

// times multiplies and rounds to so many significant digits, but to no fewer than 0 decimals.
func (a Num) times(b Num, digits int) Num {
	x := Num{new(big.Int).Mul(a.c(), b.c()), a.scale + b.scale}
	if scale := max(digits-x.magnitude(), 0); scale < x.scale {
		return x.Round(scale)
	}
	return x
}

// magnitude estimates the digits before the decimal point; it is negative below 0.1.
func (a Num) magnitude() int { return int(float64(a.c().BitLen())*log10of2) - a.scale }

// tooLarge reports whether a has more digits before its point than a numeric can hold.
func (a Num) tooLarge() bool { return a.magnitude() > maxDigits }

// Check refuses a result that has too many digits for a numeric.
func (a Num) Check() (Num, error) {
	if a.magnitude() >= maxDigits-1 && a.Digits() > maxDigits {
		return Num{}, errOverflow()
	}
	return a, nil
}

// Quotient is the whole part of a/b (numeric_div_trunc).
func (a Num) Quotient(b Num) (Num, error) {
	if b.Sign() == 0 {
		return Num{}, sqlerr.New(errZero, "division by zero")
	}
	return a.divAt(b, 0, false), nil
}

// maxFactorial is the largest number whose factorial is a numeric.
const maxFactorial = 32177

// Factorial is n!.
func Factorial(n int64) (Num, error) {
	if n < 0 {
		return Num{}, sqlerr.New(sqlerr.NumericOutOfRange, "factorial of a negative number is undefined")
	}
	if n > maxFactorial {
		return Num{}, errOverflow()
	}
	return Num{new(big.Int).MulRange(1, n), 0}, nil
}
