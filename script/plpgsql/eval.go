package plpgsql

import (
	"math"
	"strconv"

	"github.com/relgrad/relgrad/sqlfront/ast"
)

// The fast evaluator computes the arithmetic, comparisons and logic of integers, floats and booleans that loops consist
// of, in well under a microsecond and with exactly Postgres's types and NULLs. For everything else, and for every
// error, ok is false: the Store then evaluates the whole expression, or reports the error. Nothing here has side
// effects.

// numericLiteral is the type of a literal such as 1e-4. Beside a float it becomes a float (promote); it cannot be a
// result.
const numericLiteral = "numeric literal"

// lookup returns the value of a variable named in an expression.
type lookup func(c *ast.ColumnRef) (value, bool)

func eval(x ast.Expr, vars lookup) (value, bool) {
	v, ok := evalPart(x, vars)
	return v, ok && v.typ != numericLiteral
}

func evalPart(x ast.Expr, vars lookup) (value, bool) {
	switch n := x.(type) {
	case *ast.Literal:
		return evalLiteral(n)
	case *ast.Bound:
		return value{n.Value, n.Type}, true
	case *ast.ColumnRef:
		return vars(n)
	case *ast.Unary:
		return evalUnary(n, vars)
	case *ast.Binary:
		l, ok := evalPart(n.L, vars)
		if !ok {
			return l, false
		}
		r, ok := evalPart(n.R, vars)
		if !ok {
			return r, false
		}
		if n.Op == "and" || n.Op == "or" {
			return evalLogic(l, r, n.Op == "or")
		}
		return evalBinary(n.Op, l, r)
	case *ast.IsNull:
		v, ok := evalPart(n.X, vars)
		return boolValue((v.v == nil) != n.Not), ok
	case *ast.Cast:
		if n.Type.Dims > 0 || n.Type.Mods != nil || n.Type.Schema != "" {
			return value{}, false
		}
		v, ok := eval(n.X, vars)
		if !ok {
			return v, false
		}
		if v.v == nil && v.typ != n.Type.Name { // the Store knows whether there is such a cast
			return v, false
		}
		out, ok, err := convert(v, n.Type.Name)
		return out, ok && err == nil
	}
	return value{}, false
}

func evalLiteral(l *ast.Literal) (value, bool) {
	switch l.Kind {
	case ast.LitBool:
		return boolValue(l.Value == "true"), true
	case ast.LitInt:
		i, err := strconv.ParseInt(l.Value, 10, 64)
		if i >= math.MinInt32 && i <= math.MaxInt32 {
			return intValue(i), err == nil
		}
		return value{i, "bigint"}, err == nil
	case ast.LitNumeric:
		return value{l.Value, numericLiteral}, true
	}
	return value{}, false
}

func evalUnary(u *ast.Unary, vars lookup) (value, bool) {
	v, ok := evalPart(u.X, vars)
	if !ok || u.Function() != nil {
		return v, false
	}
	if u.Op == "not" {
		b, isBool := v.v.(bool)
		if v.v == nil {
			return v, v.typ == "boolean"
		}
		return boolValue(!b), isBool
	}
	if v.typ == numericLiteral && u.Op == "-" {
		return value{"-" + v.v.(string), v.typ}, v.v.(string)[0] != '-'
	}
	switch n := v.v.(type) {
	case int64:
		if u.Op == "+" {
			return v, true
		}
		return intOp("-", 0, n, v.typ)
	case float64:
		if u.Op == "-" {
			n = -n
		}
		return value{n, v.typ}, true
	}
	return v, false
}

// evalLogic is AND and OR with three values.
func evalLogic(l, r value, or bool) (value, bool) {
	if l.typ != "boolean" || r.typ != "boolean" {
		return value{}, false
	}
	switch { // true decides OR, false decides AND
	case l.v != nil && l.v.(bool) == or:
		return l, true
	case r.v != nil && r.v.(bool) == or:
		return r, true
	case l.v == nil || r.v == nil:
		return value{nil, "boolean"}, true
	}
	return boolValue(!or), true
}

func evalBinary(op string, l, r value) (value, bool) {
	l, r, typ, ok := promote(l, r)
	if !ok {
		return value{}, false
	}
	if l.v == nil || r.v == nil {
		if _, compares := compareOp(op, 0); compares {
			return value{nil, "boolean"}, true
		}
		known := op == "+" || op == "-" || op == "*" || op == "/" || op == "%" && intRange[typ][1] > 0
		return value{nil, typ}, known && typ != "boolean"
	}
	switch x := l.v.(type) {
	case int64:
		return intOp(op, x, r.v.(int64), typ)
	case float64:
		return floatOp(op, x, r.v.(float64), typ)
	case bool:
		if y := r.v.(bool); op == "=" || op == "<>" {
			return boolValue((x == y) == (op == "=")), true
		}
	}
	return value{}, false
}

// Classes of operand types, from narrow to wide.
const (
	notMine = iota // smallint, text, arrays, dates: left to the Store
	classInt
	classBig
	classNumeric
	classFloat
	classBool
)

var classes = map[string]int{"integer": classInt, "bigint": classBig, "numeric": classNumeric,
	numericLiteral: classNumeric,
	"real":         classFloat, "double precision": classFloat, "boolean": classBool}

// promote casts two operands to the types of the operator that Postgres would choose: integers become the wider one,
// anything with a float becomes double precision, except real with real.
func promote(l, r value) (value, value, string, bool) {
	a, b := classes[l.typ], classes[r.typ]
	switch {
	case a == notMine || b == notMine || (a == classBool) != (b == classBool):
		return l, r, "", false
	case a == classBool:
		return l, r, "boolean", true
	case a < classNumeric && b < classNumeric:
		if a < b {
			return l, r, r.typ, true
		}
		return l, r, l.typ, true
	case a < classFloat && b < classFloat:
		return l, r, "", false
	}
	typ := "double precision"
	if l.typ == "real" && r.typ == "real" {
		typ = "real"
	}
	fl, ok1 := toFloat(l)
	fr, ok2 := toFloat(r)
	return fl, fr, typ, ok1 && ok2
}

func toFloat(x value) (value, bool) {
	switch v := x.v.(type) {
	case nil:
		return value{nil, "double precision"}, true
	case int64:
		return value{float64(v), "double precision"}, true
	case float64:
		return x, true
	case string: // numeric
		f, err := strconv.ParseFloat(v, 64)
		return value{f, "double precision"}, err == nil
	}
	return x, false
}

func intOp(op string, a, b int64, typ string) (value, bool) {
	order := 0
	if a < b {
		order = -1
	} else if a > b {
		order = 1
	}
	if c, ok := compareOp(op, order); ok {
		return boolValue(c), true
	}
	var n int64
	ok := true
	switch op {
	case "+":
		n = a + b
		ok = (n > a) == (b > 0) || b == 0
	case "-":
		n = a - b
		ok = (n < a) == (b > 0) || b == 0
	case "*":
		n = a * b
		ok = a == 0 || n/a == b && !(a == -1 && b == math.MinInt64)
	case "/":
		if ok = b != 0 && !(a == math.MinInt64 && b == -1); ok {
			n = a / b
		}
	case "%":
		if ok = b != 0; ok && b != -1 {
			n = a % b
		}
	default:
		ok = false
	}
	r := intRange[typ]
	return value{n, typ}, ok && n >= r[0] && n <= r[1]
}

func floatOp(op string, a, b float64, typ string) (value, bool) {
	if c, ok := compareOp(op, cmpFloat(a, b)); ok {
		return boolValue(c), true
	}
	var f float64
	switch op {
	case "+":
		f = a + b
	case "-":
		f = a - b
	case "*":
		f = a * b
	case "/":
		f = a / b
	default:
		return value{}, false
	}
	if typ == "real" {
		f = float64(float32(f))
	}
	// division by zero, overflow and underflow are errors in Postgres
	finite := !math.IsInf(f, 0) && !math.IsNaN(f)
	vanished := f == 0 && a != 0 && op != "+" && op != "-"
	return value{f, typ}, finite && !vanished
}

// cmpFloat orders as Postgres does: NaN equals NaN and is greater than everything else.
func cmpFloat(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a) || a > b:
		return 1
	case math.IsNaN(b) || a < b:
		return -1
	}
	return 0
}

// compareOp applies a comparison operator to the result of a comparison (-1, 0, 1); ok is false for other operators.
func compareOp(op string, c int) (result, ok bool) {
	switch op {
	case "=":
		return c == 0, true
	case "<>":
		return c != 0, true
	case "<":
		return c < 0, true
	case "<=":
		return c <= 0, true
	case ">":
		return c > 0, true
	case ">=":
		return c >= 0, true
	}
	return false, false
}
