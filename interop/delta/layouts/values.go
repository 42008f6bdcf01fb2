package layouts

import (
	"errors"
	"fmt"
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

func corrupt(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.DataCorrupted, format, args...)
}

// within puts a place before the message of an error; nil stays nil.
func within(err error, format string, args ...any) error {
	var e *sqlerr.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Message = fmt.Sprintf(format, args...) + e.Message
	return &c
}

// guard turns a panic into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = sqlerr.FromPanic(p)
	}
}

// scalar is an element as a value of its column.
func scalar(dtype string, u uint64) any {
	switch dtype {
	case "float32":
		return math.Float32frombits(uint32(u))
	case "float64":
		return math.Float64frombits(u)
	}
	return int64(u)
}

// array are elements as a value of a column of arrays.
func array(dtype string, bits []uint64) any {
	switch dtype {
	case "float32":
		return each(bits, func(u uint64) float32 { return math.Float32frombits(uint32(u)) })
	case "float64":
		return each(bits, math.Float64frombits)
	}
	return each(bits, func(u uint64) int64 { return int64(u) })
}

func each[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}

// limits are the smallest and largest integers of element types that are stored in larger ones.
var limits = map[string][2]int64{"int8": {-1 << 7, 1<<7 - 1}, "int16": {-1 << 15, 1<<15 - 1},
	"int32": {-1 << 31, 1<<31 - 1}, "int64": {math.MinInt64, math.MaxInt64}, "uint8": {0, 1<<8 - 1},
	"uint16": {0, 1<<16 - 1}, "uint32": {0, 1<<32 - 1}}

// bitsOf reads an element.
func bitsOf(dtype string, v any) (uint64, error) {
	switch x := v.(type) {
	case float32:
		if dtype == "float32" {
			return uint64(math.Float32bits(x)), nil
		}
	case float64:
		if dtype == "float64" {
			return math.Float64bits(x), nil
		}
	case int64:
		l, ok := limits[dtype]
		if ok && x >= l[0] && x <= l[1] {
			return uint64(x), nil
		}
	}
	return 0, corrupt("an element %v that is no %s", v, dtype)
}

// allBits reads an array of elements, of any length.
func allBits(dtype string, v any) (out []uint64, err error) {
	switch x := v.(type) {
	case []float32:
		if dtype == "float32" {
			return each(x, func(f float32) uint64 { return uint64(math.Float32bits(f)) }), nil
		}
	case []float64:
		if dtype == "float64" {
			return each(x, math.Float64bits), nil
		}
	case []int64:
		out = make([]uint64, len(x))
		l, ok := limits[dtype]
		for i, n := range x {
			if !ok || n < l[0] || n > l[1] {
				return nil, corrupt("an element %v that is no %s", n, dtype)
			}
			out[i] = uint64(n)
		}
		return out, nil
	case []any:
		if len(x) == 0 {
			return nil, nil
		}
	}
	return nil, corrupt("elements that are no list of %s", dtype)
}
