package functions

import (
	"math"
	"math/rand/v2"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/numeric"
)

// num1 and num2 are functions from numerics to numeric.
func num1(f func(numeric.Num) (numeric.Num, error)) function {
	return nums(1, func(x, _ numeric.Num) (numeric.Num, error) { return f(x) })
}

func num2(f func(x, y numeric.Num) (numeric.Num, error)) function { return nums(2, f) }

// nums is a function of the first n of two numerics.
func nums(n int, f func(x, y numeric.Num) (numeric.Num, error)) function {
	return function{n, true, strict(func(a []lite.Cell, r lite.Result) error {
		x, err := columns.NumericOf(&a[0])
		y := x
		if err == nil && n > 1 {
			y, err = columns.NumericOf(&a[1])
		}
		if err == nil {
			x, err = f(x, y)
		}
		if err == nil {
			x, err = x.Check()
		}
		if err == nil {
			r.Text(x.String())
		}
		return err
	})}
}

func total1(f func(numeric.Num) numeric.Num) function {
	return num1(func(x numeric.Num) (numeric.Num, error) { return f(x), nil })
}

func total2(f func(x, y numeric.Num) numeric.Num) function {
	return num2(func(x, y numeric.Num) (numeric.Num, error) { return f(x, y), nil })
}

func intArg(n numeric.Num) int {
	i, _ := n.Int64()
	return int(max(-1<<20, min(i, 1<<20)))
}

var numericFuncs = map[string]function{
	"nadd": total2(numeric.Num.Add), "nsub": total2(numeric.Num.Sub), "nmul": total2(numeric.Num.Mul),
	"ndiv": num2(numeric.Num.Div), "nquot": num2(numeric.Num.Quotient), "nmod": num2(numeric.Num.Mod),
	"npow": num2(numeric.Num.Pow), "nlog": num2(numeric.Num.Log),
	"nneg": total1(numeric.Num.Neg), "nabs": total1(numeric.Num.Abs), "nfloor": total1(numeric.Num.Floor),
	"nceil": total1(numeric.Num.Ceil),
	"nsqrt": num1(numeric.Num.Sqrt), "nexp": num1(numeric.Num.Exp), "nln": num1(numeric.Num.Ln),
	"nsign":  total1(func(x numeric.Num) numeric.Num { return numeric.Int(int64(x.Sign())) }),
	"nround": total2(func(x, n numeric.Num) numeric.Num { return x.Round(intArg(n)) }),
	"ntrunc": total2(func(x, n numeric.Num) numeric.Num { return x.Trunc(intArg(n)) }),
	"nscale": {1, true, strict(func(a []lite.Cell, r lite.Result) error {
		x, err := columns.NumericOf(&a[0])
		r.Int(int64(x.Scale()))
		return err
	})},
	"nmodify": {3, true, strict(func(a []lite.Cell, r lite.Result) error {
		x, err := columns.NumericOf(&a[0])
		if err != nil {
			return err
		}
		precision, scale := int(a[1].Int()), int(a[2].Int())
		x = x.Round(scale)
		if !x.Within(precision, scale) {
			return sqlerr.New(sqlerr.NumericOutOfRange, "numeric field overflow").
				WithDetail("A field with precision %d, scale %d must round to an absolute value less than 10^%d.", precision, scale,
					precision-scale)
		}
		r.Text(x.String())
		return nil
	})},
	"nseries": {3, true, strict(func(a []lite.Cell, r lite.Result) error {
		var n [3]numeric.Num
		for i := range n {
			x, err := columns.NumericOf(&a[i])
			if err != nil {
				return err
			}
			n[i] = x
		}
		if n[2].Sign() == 0 {
			return sqlerr.New(sqlerr.InvalidParameter, "step size cannot equal zero")
		}
		var list []any
		for x := n[0]; x.Cmp(n[1])*n[2].Sign() <= 0; x = x.Add(n[2]) {
			if list = append(list, x.String()); len(list) > 1e7 {
				return sqlerr.New(sqlerr.ProgramLimit, "generate_series of more than %d numerics", len(list)-1)
			}
		}
		return giveValue(r, list, catalog.ArrayOf(catalog.Numeric))
	})},
	"min_numeric": {-1, true, extreme(func(x, y *lite.Cell) bool { return numeric.Compare(x.Bytes(), y.Bytes()) < 0 })},
	"max_numeric": {-1, true, extreme(func(x, y *lite.Cell) bool { return numeric.Compare(x.Bytes(), y.Bytes()) > 0 })},
	"factorial": {1, true, strict(func(a []lite.Cell, r lite.Result) error {
		x, err := numeric.Factorial(a[0].Int())
		if err == nil {
			r.Text(x.String())
		}
		return err
	})},
}

// extreme is GREATEST or LEAST: NULLs are skipped.
func extreme(better func(x, y *lite.Cell) bool) lite.Scalar {
	return func(a []lite.Cell, r lite.Result) error {
		var best *lite.Cell
		for i := range a {
			if !a[i].IsNull() && (best == nil || better(&a[i], best)) {
				best = &a[i]
			}
		}
		if best != nil {
			giveCell(r, best)
		}
		return nil
	}
}

func giveCell(r lite.Result, c *lite.Cell) {
	switch c.Kind() {
	case lite.Integer:
		r.Int(c.Int())
	case lite.Float:
		r.Float(c.Float())
	case lite.Text:
		copy(r.Room(lite.Text, len(c.Bytes())), c.Bytes())
	case lite.Blob:
		r.Blob(c.Bytes())
	}
}

// compareCells orders two cells of one type.
func compareCells(x, y *lite.Cell) int {
	if x.Kind() == lite.Text {
		return compareBytes(x.Bytes(), y.Bytes())
	}
	if x.Kind() == lite.Integer && y.Kind() == lite.Integer {
		return int(min(1, max(-1, cmp(x.Int(), y.Int()))))
	}
	return cmp(x.Float(), y.Float())
}

func cmp[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareBytes(a, b []byte) int {
	switch x, y := string(a), string(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func floatResult(r lite.Result, y float64, args ...float64) error {
	inf := false
	for _, x := range args {
		inf = inf || math.IsInf(x, 0)
	}
	switch {
	case math.IsNaN(y):
		return columns.ErrNaN()
	case math.IsInf(y, 0) && !inf:
		return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: overflow")
	}
	r.Float(y)
	return nil
}

// mathFuncs are rg_math(name, x).
var mathFuncs = map[string]func(float64) float64{
	"floor": math.Floor, "ceil": math.Ceil, "round": math.RoundToEven, "trunc": math.Trunc, "sqrt": math.Sqrt,
	"cbrt": math.Cbrt, "exp": math.Exp,
	"ln": math.Log, "log10": math.Log10, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin,
	"acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	"degrees": func(x float64) float64 { return x / (math.Pi / 180) },
	"radians": func(x float64) float64 { return x * (math.Pi / 180) },
	"cot":     func(x float64) float64 { return 1 / math.Tan(x) },
	"sind":    ofKernel("sind"), "cosd": ofKernel("cosd"), "tand": ofKernel("tand"), "cotd": ofKernel("cotd"),
}

// ofKernel is the element-wise kernel of that name.
func ofKernel(name string) func(float64) float64 {
	d := kernels.Lookup(name)
	return func(x float64) float64 { return d.Elem([]float64{x}) }
}

func mathCall(a []lite.Cell, r lite.Result) error {
	name, x := string(a[0].Bytes()), a[1].Float()
	switch name {
	case "sqrt":
		if x < 0 {
			return sqlerr.New("2201F", "cannot take square root of a negative number")
		}
	case "ln", "log10":
		if x == 0 {
			return sqlerr.New("2201E", "cannot take logarithm of zero")
		}
		if x < 0 {
			return sqlerr.New("2201E", "cannot take logarithm of a negative number")
		}
	}
	y := mathFuncs[name](x)
	if math.IsNaN(y) {
		return sqlerr.New(sqlerr.NumericOutOfRange, "input is out of range")
	}
	if name == "exp" && y == 0 && !math.IsInf(x, -1) {
		return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: underflow")
	}
	return floatResult(r, y, x)
}

func powCall(a []lite.Cell, r lite.Result) error {
	x, y := a[0].Float(), a[1].Float()
	if x == 0 && y < 0 {
		return sqlerr.New("2201F", "zero raised to a negative power is undefined")
	}
	if x < 0 && y != math.Floor(y) {
		return sqlerr.New("2201F", "a negative number raised to a non-integer power yields a complex result")
	}
	z := math.Pow(x, y)
	if z == 0 && x != 0 && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: underflow")
	}
	return floatResult(r, z, x, y)
}

var floatFuncs = map[string]function{
	"math": {2, true, strict(mathCall)},
	"fpow": {2, true, strict(powCall)},
	"fsign": {1, true, strict(func(a []lite.Cell, r lite.Result) error {
		r.Float(float64(cmp(a[0].Float(), 0)))
		return nil
	})},
	"atan2": {2, true, strict(func(a []lite.Cell, r lite.Result) error {
		r.Float(math.Atan2(a[0].Float(), a[1].Float()))
		return nil
	})},
	"gen_random_uuid": {0, false, randomUUID},
	"row_count":       {2, true, rowCount},
	"fsum":            {3, true, checkSum},
	"window_count":    {2, true, windowCount},
	"random":          {0, false, func(a []lite.Cell, r lite.Result) error { r.Float(rand.Float64()); return nil }},
	"xor": {2, true,
		strict(func(a []lite.Cell, r lite.Result) error { r.Int(a[0].Int() ^ a[1].Int()); return nil })},
	"gcd4":    gcdCall(catalog.Int4),
	"gcd8":    gcdCall(catalog.Int8),
	"lcm4":    lcmCall(catalog.Int4),
	"lcm8":    lcmCall(catalog.Int8),
	"min_any": {-1, true, extreme(func(x, y *lite.Cell) bool { return compareCells(x, y) < 0 })},
	"max_any": {-1, true, extreme(func(x, y *lite.Cell) bool { return compareCells(x, y) > 0 })},
	"width_bucket": {4, true, strict(func(a []lite.Cell, r lite.Result) error {
		x, lo, hi, n := a[0].Float(), a[1].Float(), a[2].Float(), a[3].Int()
		switch {
		case n <= 0:
			return sqlerr.New("2201G", "count must be greater than zero")
		case math.IsInf(lo, 0) || math.IsInf(hi, 0):
			return sqlerr.New("2201G", "lower and upper bounds must be finite")
		case lo == hi:
			return sqlerr.New("2201G", "lower bound cannot equal upper bound")
		}
		k := math.Floor((x-lo)/(hi-lo)*float64(n)) + 1
		r.Int(int64(max(0, min(k, float64(n)+1))))
		return nil
	})},
}

func gcd(a, b int64) int64 {
	for b != 0 {
		if b == -1 { // the result of math.MinInt64 % -1 depends on the machine
			return 1
		}
		a, b = b, a%b
	}
	return max(a, -a)
}

// wholeNumber returns an integer if type t holds it.
func wholeNumber(r lite.Result, x int64, t catalog.Type) error {
	if err := columns.CheckRange(x, t); err != nil {
		return err
	}
	r.Int(x)
	return nil
}

// gcdCall and lcmCall are for integers of one type: the result must be one.
func gcdCall(t catalog.Type) function {
	return function{2, true, strict(func(a []lite.Cell, r lite.Result) error {
		x := gcd(a[0].Int(), a[1].Int())
		if x < 0 { // gcd(-2^63, 0) is 2^63
			return sqlerr.New(sqlerr.NumericOutOfRange, "bigint out of range")
		}
		return wholeNumber(r, x, t)
	})}
}

func lcmCall(t catalog.Type) function {
	return function{2, true, strict(func(a []lite.Cell, r lite.Result) error {
		x, y := a[0].Int(), a[1].Int()
		if x == 0 || y == 0 {
			r.Int(0)
			return nil
		}
		g := gcd(x, y)
		if g < 0 {
			return sqlerr.New(sqlerr.NumericOutOfRange, "bigint out of range")
		}
		z := x / g
		if p := z * y; p/y == z && p != math.MinInt64 {
			return wholeNumber(r, max(p, -p), t)
		}
		return sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", t)
	})}
}

// rowCount checks a computed number of LIMIT or OFFSET. NULL sets no bound.
func rowCount(a []lite.Cell, r lite.Result) error {
	what, state, none := a[1].String(), "2201W", int64(-1)
	if what == "OFFSET" {
		state, none = "2201X", 0
	}
	switch {
	case a[0].IsNull():
		r.Int(none)
	case a[0].Int() < 0:
		return sqlerr.New(state, "%s must not be negative", what)
	default:
		r.Int(a[0].Int())
	}
	return nil
}

// checkSum returns a sum or average of floats, the first argument, as Postgres does: it fails if the result is infinite
// although the least and the greatest value, the other arguments, are finite. SQLite's sum is NULL where Postgres's is
// NaN.
func checkSum(a []lite.Cell, r lite.Result) error {
	if a[1].IsNull() {
		return nil
	}
	infinite := !finite(a[1].Float()) || !finite(a[2].Float())
	if a[0].IsNull() {
		return giveStatistic(r, 0, true)
	}
	if err := overflowed(infinite, a[0].Float()); err != nil {
		return err
	}
	r.Float(a[0].Float())
	return nil
}

// windowCount checks an argument of ntile or nth_value that is not constant.
func windowCount(a []lite.Cell, r lite.Result) error {
	name := a[1].String()
	if a[0].IsNull() {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"%s of a number that is NULL in some rows is not supported by the embedded store", name).
			WithHint("Leave out these rows, or use coalesce.")
	}
	if a[0].Int() <= 0 {
		return sqlerr.New(WindowStates[name], "argument of %s must be greater than zero", name)
	}
	r.Int(a[0].Int())
	return nil
}

// WindowStates are the SQLSTATEs of window functions whose argument must be positive.
var WindowStates = map[string]string{"ntile": "22014", "nth_value": "22016"}
