// Package numeric is Postgres's type numeric: exact decimals with a display scale.
//
// # What
//
// A Num is coef·10^−scale. Arithmetic follows Postgres's rules for the scale of a result
// (src/backend/utils/adt/numeric.c), so that texts come out digit for digit the same.
//
// # Invariants
//
// A Num is immutable; scale is between 0 and 16383. NaN and infinities are not held.
//
// # Errors
//
// Parse refuses malformed text (22P02); Div and Mod by zero, Ln and Sqrt outside their domain are
// *sqlerr.Error with Postgres's codes.
//
// # Where to add
//
// A function: math.go for transcendental ones, here otherwise, with a row in the test.
package numeric

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

const (
	minSigDigits    = 16
	maxDisplayScale = 1000
	maxScale        = 16383
	maxDigits       = 131072
)

// Num is an exact decimal. The zero value is 0.
type Num struct {
	coef  *big.Int // nil is 0
	scale int
}

var ten = big.NewInt(10)

var pows = func() (p [64]*big.Int) {
	for i := range p {
		p[i] = new(big.Int).Exp(ten, big.NewInt(int64(i)), nil)
	}
	return
}()

func pow10(n int) *big.Int {
	if n < len(pows) {
		return pows[n]
	}
	return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil)
}

func (a Num) c() *big.Int {
	if a.coef == nil {
		return new(big.Int)
	}
	return a.coef
}

// Int makes a Num of an integer.
func Int(i int64) Num { return Num{big.NewInt(i), 0} }

// Parse reads decimal text with an optional exponent.
func Parse(s string) (Num, error) {
	t := strings.Trim(s, " \t\n\r\f\v")
	bad := func() (Num, error) {
		switch strings.ToLower(strings.TrimLeft(t, "+-")) {
		case "nan", "inf", "infinity":
			return Num{}, sqlerr.New(sqlerr.FeatureNotSupported, "numeric cannot hold %s in the embedded store", t)
		}
		return Num{}, sqlerr.New(sqlerr.InvalidText, "invalid input syntax for type numeric: \"%s\"", s)
	}
	mant, exp := t, 0
	if i := strings.IndexAny(t, "eE"); i >= 0 {
		e, err := strconv.Atoi(t[i+1:])
		if err != nil {
			return bad()
		}
		mant, exp = t[:i], e
	}
	digits, frac, dot := strings.Cut(mant, ".")
	plain := strings.TrimLeft(digits, "+-")
	if len(digits)-len(plain) > 1 || plain == "" && frac == "" || !onlyDigits(plain) || dot && !onlyDigits(frac) {
		return bad()
	}
	if exp > maxDigits || exp < -maxScale || len(mant) > maxDigits {
		return Num{}, sqlerr.New(sqlerr.NumericOutOfRange, "value overflows numeric format")
	}
	if len(frac)-exp > maxScale {
		return Num{}, errOverflow()
	}
	n := Num{new(big.Int), len(frac) - exp}
	if _, ok := n.coef.SetString(digits+frac, 10); !ok {
		return bad()
	}
	if n.scale < 0 {
		n.coef.Mul(n.coef, pow10(-n.scale))
		n.scale = 0
	}
	return n, nil
}

func onlyDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// Float makes a Num of a float as Postgres does: its 15 (real: 6) leading digits.
func Float(x float64, real bool) (Num, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Num{}, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert %v to numeric in the embedded store", x)
	}
	digits := 15
	if real {
		digits = 6
	}
	return Parse(strconv.FormatFloat(x, 'g', digits, 64))
}

// String prints all digits of the scale.
func (a Num) String() string {
	s := a.c().String()
	if a.scale == 0 {
		return s
	}
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	if len(s) <= a.scale {
		s = strings.Repeat("0", a.scale-len(s)+1) + s
	}
	s = s[:len(s)-a.scale] + "." + s[len(s)-a.scale:]
	if neg {
		s = "-" + s
	}
	return s
}

// Float64 returns the nearest float64.
func (a Num) Float64() float64 {
	f, _ := strconv.ParseFloat(a.String(), 64)
	return f
}

// Int64 rounds to an integer, halves away from zero; false outside int64.
func (a Num) Int64() (int64, bool) {
	c := a.Round(0).c()
	return c.Int64(), c.IsInt64()
}

// Sign returns −1, 0 or 1.
func (a Num) Sign() int { return a.c().Sign() }

// Scale returns the number of decimals printed.
func (a Num) Scale() int { return a.scale }

// Digits returns the number of digits before the decimal point.
func (a Num) Digits() int {
	if a.Sign() == 0 {
		return 0
	}
	return max(0, len(new(big.Int).Abs(a.c()).String())-a.scale)
}

// Within reports whether a, which was rounded to the scale, is less than 10^(precision−scale).
func (a Num) Within(precision, scale int) bool {
	if scale <= precision {
		return a.Digits() <= precision-scale
	}
	return a.Sign() == 0 || len(new(big.Int).Abs(a.c()).String()) <= precision
}

// at returns the coefficient at a scale not smaller than a's.
func (a Num) at(scale int) *big.Int {
	if scale == a.scale {
		return a.c()
	}
	return new(big.Int).Mul(a.c(), pow10(scale-a.scale))
}

// Cmp compares values.
func (a Num) Cmp(b Num) int {
	s := max(a.scale, b.scale)
	return a.at(s).Cmp(b.at(s))
}

// Neg returns −a.
func (a Num) Neg() Num { return Num{new(big.Int).Neg(a.c()), a.scale} }

// Abs returns |a|.
func (a Num) Abs() Num { return Num{new(big.Int).Abs(a.c()), a.scale} }

// Add returns a+b at the larger scale.
func (a Num) Add(b Num) Num {
	s := max(a.scale, b.scale)
	return Num{new(big.Int).Add(a.at(s), b.at(s)), s}
}

// Sub returns a−b at the larger scale.
func (a Num) Sub(b Num) Num { return a.Add(b.Neg()) }

// Mul returns a·b at the sum of the scales.
func (a Num) Mul(b Num) Num {
	n := Num{new(big.Int).Mul(a.c(), b.c()), a.scale + b.scale}
	if n.scale > maxScale {
		return n.Round(maxScale)
	}
	return n
}

// Round rounds to n decimals, halves away from zero; n may be negative. The scale becomes max(n, 0).
func (a Num) Round(n int) Num { return a.cut(n, true) }

// Trunc truncates to n decimals.
func (a Num) Trunc(n int) Num { return a.cut(n, false) }

func (a Num) cut(n int, round bool) Num {
	n = max(-maxDigits-1, min(n, maxScale))
	if n >= a.scale {
		return Num{a.at(n), n}
	}
	q := quo(a.c(), pow10(a.scale-n), round)
	if n < 0 {
		return Num{q.Mul(q, pow10(-n)), 0}
	}
	return Num{q, n}
}

// quo divides, truncating or rounding halves away from zero.
func quo(a, b *big.Int, round bool) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if round {
		r.Abs(r).Lsh(r, 1)
		if r.CmpAbs(b) >= 0 {
			if a.Sign()*b.Sign() < 0 {
				q.Sub(q, big.NewInt(1))
			} else {
				q.Add(q, big.NewInt(1))
			}
		}
	}
	return q
}

// Floor returns the largest integer not above a.
func (a Num) Floor() Num {
	t := a.Trunc(0)
	if t.Cmp(a) > 0 {
		return t.Sub(Int(1))
	}
	return t
}

// Ceil returns the smallest integer not below a.
func (a Num) Ceil() Num { return a.Neg().Floor().Neg() }

// group returns the weight of the first non-zero base-10000 digit and that digit, Postgres's internal form.
func (a Num) group() (weight, digit int) {
	if a.Sign() == 0 {
		return 0, 0
	}
	s := new(big.Int).Abs(a.c()).String()
	e := len(s) - a.scale - 1 // decimal exponent of the first digit
	weight = floorDiv(e, 4)
	n := e - 4*weight + 1 // digits of s in the first group
	for len(s) < n {
		s += "0"
	}
	digit, _ = strconv.Atoi(s[:n])
	return weight, digit
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// divScale is select_div_scale of numeric.c.
func divScale(a, b Num) int {
	wa, da := a.group()
	wb, db := b.group()
	q := wa - wb
	if da <= db {
		q--
	}
	return min(max(minSigDigits-q*4, a.scale, b.scale), maxDisplayScale)
}

var errZero = sqlerr.DivisionByZero

// Div returns a/b with at least 16 significant digits.
func (a Num) Div(b Num) (Num, error) {
	if b.Sign() == 0 {
		return Num{}, sqlerr.New(errZero, "division by zero")
	}
	return a.divAt(b, divScale(a, b), true), nil
}

func (a Num) divAt(b Num, scale int, round bool) Num {
	n, d := a.c(), b.c()
	if shift := scale + b.scale - a.scale; shift >= 0 {
		n = new(big.Int).Mul(n, pow10(shift))
	} else {
		d = new(big.Int).Mul(d, pow10(-shift))
	}
	return Num{quo(n, d, round), scale}
}

// Mod returns the remainder of truncated division, with the sign of a.
func (a Num) Mod(b Num) (Num, error) {
	if b.Sign() == 0 {
		return Num{}, sqlerr.New(errZero, "division by zero")
	}
	s := max(a.scale, b.scale)
	return Num{new(big.Int).Rem(a.at(s), b.at(s)), s}, nil
}

// Compare orders two texts made by String, without parsing them.
func Compare(a, b []byte) int {
	na, nb := len(a) > 0 && a[0] == '-', len(b) > 0 && b[0] == '-'
	switch {
	case na && nb:
		return magnitude(b[1:], a[1:])
	case na:
		if zero(a[1:]) && zero(b) {
			return 0
		}
		return -1
	case nb:
		if zero(a) && zero(b[1:]) {
			return 0
		}
		return 1
	}
	return magnitude(a, b)
}

func zero(s []byte) bool {
	for _, c := range s {
		if c != '0' && c != '.' {
			return false
		}
	}
	return true
}

func magnitude(a, b []byte) int {
	ia, fa := split(a)
	ib, fb := split(b)
	if len(ia) != len(ib) {
		if len(ia) < len(ib) {
			return -1
		}
		return 1
	}
	if c := strings.Compare(string(ia), string(ib)); c != 0 {
		return c
	}
	return strings.Compare(string(fa), string(fb))
}

// split removes leading zeros of the integer part and trailing zeros of the fraction.
func split(s []byte) (i, f []byte) {
	for len(s) > 0 && s[0] == '0' {
		s = s[1:]
	}
	for k, c := range s {
		if c == '.' {
			f = s[k+1:]
			for len(f) > 0 && f[len(f)-1] == '0' {
				f = f[:len(f)-1]
			}
			return s[:k], f
		}
	}
	return s, nil
}
