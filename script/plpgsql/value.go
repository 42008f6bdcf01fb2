package plpgsql

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/tensor"
)

// value is a datum with its Postgres type. v is nil for NULL; see Result.Rows for the Go types.
type value struct {
	v   any
	typ string
}

func (x value) bound(at ast.Pos) *ast.Bound {
	return &ast.Bound{Node: ast.Node{At: at}, Type: x.typ, Value: x.v}
}

func boolValue(b bool) value { return value{b, "boolean"} }
func intValue(i int64) value { return value{i, "integer"} }

// typeName is the reverse of TypeName.String.
func typeName(s string) ast.TypeName {
	name := strings.TrimSuffix(strings.TrimSuffix(s, "[]"), " without time zone")
	t := ast.TypeName{Node: ast.Node{At: -1}, Name: name}
	if strings.HasSuffix(s, "[]") {
		t.Dims = 1
	}
	return t
}

// Format prints a value as Postgres's output functions do; NULL is "".
func Format(v any, typ string) string {
	switch x := v.(type) {
	case string:
		return x
	case []byte:
		return fmt.Sprintf("\\x%x", x)
	}
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
		v = asList(list)
	}
	return columns.Format(v, typ)
}

// asList makes lists of any of slices of other types; other values stay as they are.
func asList(v reflect.Value) any {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = asList(v.Index(i))
		}
		return out
	}
	return v.Interface()
}

func DtypeOf(typ string) tensor.DType {
	if strings.TrimSuffix(typ, "[]") == "real" {
		return tensor.Float32
	}
	return tensor.Float64
}

// intRange holds the limits of the integer types.
var intRange = map[string][2]int64{
	"smallint": {math.MinInt16, math.MaxInt16}, "integer": {math.MinInt32, math.MaxInt32},
	"bigint": {math.MinInt64, math.MaxInt64},
}

func outOfRange(typ string) *sqlerr.Error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", typ)
}

// convert casts x to a type without modifiers where Go does exactly what Postgres does; ok is false
// for all other casts.
func convert(x value, to string) (out value, ok bool, err error) {
	out = value{x.v, to}
	if x.v == nil || x.typ == to {
		return out, true, nil
	}
	switch v := x.v.(type) {
	case int64:
		if r, isInt := intRange[to]; isInt {
			if v < r[0] || v > r[1] {
				return out, true, outOfRange(to)
			}
			return out, true, nil
		}
		switch to {
		case "double precision":
			return value{float64(v), to}, true, nil
		case "real":
			return value{float64(float32(v)), to}, true, nil
		case "text", "numeric":
			return value{strconv.FormatInt(v, 10), to}, true, nil
		}
	case float64:
		return convertFloat(v, x.typ, to)
	case bool:
		if to == "text" {
			return value{strconv.FormatBool(v), to}, true, nil
		}
	case string:
		if to == "text" && (x.typ == "numeric" || x.typ == "unknown" || x.typ == "character varying") {
			return out, true, nil
		}
	}
	return out, false, nil
}

func convertFloat(v float64, from, to string) (value, bool, error) {
	switch to {
	case "double precision":
		return value{v, to}, true, nil
	case "real":
		f := float64(float32(v))
		if math.IsInf(f, 0) && !math.IsInf(v, 0) {
			return value{}, true, sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: overflow")
		}
		if f == 0 && v != 0 {
			return value{}, true, sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: underflow")
		}
		return value{f, to}, true, nil
	case "text":
		return value{tensor.FormatFloat(v, DtypeOf(from)), to}, true, nil
	}
	if r, isInt := intRange[to]; isInt {
		n := math.RoundToEven(v)
		// -2^63 and 2^63 are exact in float64, so the comparison is too
		if math.IsNaN(n) || n < float64(r[0]) || n >= -float64(r[0]) {
			return value{}, true, outOfRange(to)
		}
		return value{int64(n), to}, true, nil
	}
	return value{}, false, nil
}
