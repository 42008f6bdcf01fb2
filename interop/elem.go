package interop

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// elem is an element type of array files, under NumPy's name.
type elem struct {
	name string
	size int
	kind byte   // 'b' boolean, 'i' signed, 'u' unsigned, 'f' float, 'U' text in UTF-32
	typ  string // the Postgres type that holds it exactly, in a chunk or as a scalar
}

// elems are the element types. The tables in npy.go and safetensors.go map the formats' names to them.
var elems = map[string]elem{
	"bool": {"bool", 1, 'b', "boolean"},
	"i1":   {"int8", 1, 'i', "smallint"}, "i2": {"int16", 2, 'i', "smallint"}, "i4": {"int32", 4, 'i', "integer"},
	"i8": {"int64", 8, 'i', "bigint"},
	"u1": {"uint8", 1, 'u', "smallint"}, "u2": {"uint16", 2, 'u', "integer"}, "u4": {"uint32", 4, 'u', "bigint"},
	"u8": {"uint64", 8, 'u', "bigint"},
	"f2": {"float16", 2, 'f', "real"}, "bf16": {"bfloat16", 2, 'f', "real"}, "f4": {"float32", 4, 'f', "real"},
	"f8": {"float64", 8, 'f', "double precision"},
}

// elemOf is the element type in which a Postgres type is written; false for types written as text.
func elemOf(typ string) (elem, bool) {
	base, _ := baseType(typ)
	name, ok := map[string]string{"boolean": "bool", "smallint": "i2", "integer": "i4", "bigint": "i8", "real": "f4",
		"double precision": "f8"}[base]
	if _, array := baseType(typ); array && base != "real" && base != "double precision" {
		ok = false
	}
	return elems[name], ok
}

func order(big bool) binary.ByteOrder {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// bits reads one element as an unsigned integer.
func (e elem) bits(b []byte, big bool) uint64 {
	switch e.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order(big).Uint16(b))
	case 4:
		return uint64(order(big).Uint32(b))
	}
	return order(big).Uint64(b)
}

// integer reads one element of an integer or boolean type.
func (e elem) integer(b []byte, big bool) (int64, error) {
	u := e.bits(b, big)
	switch e.kind {
	case 'b':
		if u > 1 {
			return 0, fmt.Errorf("a boolean of %d", u)
		}
	case 'i':
		s := 64 - 8*uint(e.size)
		return int64(u<<s) >> s, nil
	}
	if u > math.MaxInt64 {
		return 0, fmt.Errorf("%d exceeds bigint", u)
	}
	return int64(u), nil
}

// float reads one element of a float type. If is32, f32 has the bits of the float32, also of a NaN.
func (e elem) float(b []byte, big bool) (x float64, f32 uint32, is32 bool) {
	u := e.bits(b, big)
	switch e.name {
	case "float64":
		return math.Float64frombits(u), 0, false
	case "float32":
		f32 = uint32(u)
	case "bfloat16":
		f32 = uint32(u) << 16
	default:
		f32 = halfBits(uint16(u))
	}
	return float64(math.Float32frombits(f32)), f32, true
}

// halfBits converts an IEEE 754 binary16 to the bits of the equal float32.
func halfBits(h uint16) uint32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch {
	case exp == 31:
		return sign | 255<<23 | frac<<13
	case exp > 0:
		return sign | (exp+112)<<23 | frac<<13
	}
	return sign | math.Float32bits(float32(frac)/(1<<24)) // subnormal, exact
}

// inexact is the error of a number that the column's type cannot hold.
func inexact(x any, typ string) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "%v is not exactly representable as %s", x, typ)
}

func outOfRange(x any, typ string) error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "%v is out of range for type %s", x, typ)
}

// chunk converts elements to those of a chunk of dtype d.
func (e elem) chunk(dst, src []byte, big bool, d tensor.DType) error {
	if same := e.kind == 'f' && e.size == d.Size() && e.size > 2; same && !big {
		copy(dst, src)
		return nil
	}
	for i := 0; i*e.size < len(src); i++ {
		b := src[i*e.size : (i+1)*e.size]
		if e.kind == 'f' {
			x, f32, is32 := e.float(b, big)
			if err := putFloat(dst[i*d.Size():], x, f32, is32, d); err != nil {
				return err
			}
			continue
		}
		n, err := e.integer(b, big)
		if err != nil {
			return outOfRange(err, d.String())
		}
		if err := putInt(dst[i*d.Size():], n, d); err != nil {
			return err
		}
	}
	return nil
}

// putFloat writes one element; a double is rounded for a chunk of real.
func putFloat(dst []byte, x float64, f32 uint32, is32 bool, d tensor.DType) error {
	switch {
	case d == tensor.Float64:
		binary.LittleEndian.PutUint64(dst, math.Float64bits(x))
	case is32:
		binary.LittleEndian.PutUint32(dst, f32)
	default:
		y := float32(x)
		if math.IsInf(float64(y), 0) && !math.IsInf(x, 0) {
			return outOfRange(tensor.FormatFloat(x, tensor.Float64), "real")
		}
		binary.LittleEndian.PutUint32(dst, math.Float32bits(y))
	}
	return nil
}

func putInt(dst []byte, n int64, d tensor.DType) error {
	x := float64(n)
	if d == tensor.Float32 {
		x = float64(float32(n))
	}
	if x >= 1<<63 || int64(x) != n {
		return inexact(n, d.String())
	}
	return putFloat(dst, x, 0, false, d)
}

// scalar reads one element as a value of a type: as a string for types that the store parses itself.
func (e elem) scalar(b []byte, big bool, typ string) (any, error) {
	if e.kind == 'f' {
		x, _, _ := e.float(b, big)
		return floatAs(x, typ)
	}
	n, err := e.integer(b, big)
	if err != nil {
		return nil, outOfRange(err, typ)
	}
	if e.kind == 'b' && typ == "boolean" {
		return n != 0, nil
	}
	return intAs(n, typ)
}

func intAs(n int64, typ string) (any, error) {
	switch typ {
	case "smallint", "integer", "bigint":
		if bits := intBits[typ]; bits < 64 && (n >= 1<<(bits-1) || n < -1<<(bits-1)) {
			return nil, outOfRange(n, typ)
		}
		return n, nil
	case "real":
		if x := float32(n); float64(x) >= 1<<63 || int64(x) != n {
			return nil, inexact(n, typ)
		}
		return float64(n), nil
	case "double precision":
		if x := float64(n); x >= 1<<63 || int64(x) != n {
			return nil, inexact(n, typ)
		}
		return float64(n), nil
	case "numeric", "text":
		return strconv.FormatInt(n, 10), nil
	}
	return nil, mismatch("an integer", typ)
}

var intBits = map[string]uint{"smallint": 16, "integer": 32, "bigint": 64}

// floatAs converts a float to a type; a double is rounded for real.
func floatAs(x float64, typ string) (any, error) {
	switch typ {
	case "double precision":
		return x, nil
	case "real":
		y := float64(float32(x))
		if math.IsInf(y, 0) && !math.IsInf(x, 0) {
			return nil, outOfRange(tensor.FormatFloat(x, tensor.Float64), typ)
		}
		return y, nil
	case "smallint", "integer", "bigint":
		if x != math.Trunc(x) || x >= 1<<63 || x < -1<<63 {
			return nil, inexact(tensor.FormatFloat(x, tensor.Float64), typ)
		}
		return intAs(int64(x), typ)
	case "numeric", "text":
		return tensor.FormatFloat(x, tensor.Float64), nil
	}
	return nil, mismatch("a float", typ)
}

func mismatch(what, typ string) error {
	return sqlerr.New(sqlerr.DatatypeMismatch, "%s cannot become %s", what, typ)
}
