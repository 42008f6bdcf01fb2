package interop

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// Field is a column of a Parquet file with nested values, or a part of such a column. Type has the names of Delta Lake
// (https://github.com/delta-io/delta/blob/master/PROTOCOL.md#schema-serialization-format), and values of it are:
//
//	boolean                    bool
//	byte short integer long    int64
//	float, double              float32, float64
//	string, binary             string, []byte
//	date                       Day
//	timestamp, timestamp_ntz   Moment
//	decimal(p,s)               string
//	struct                     map[string]any by the names of Parts
//	map                        map[string]any; where the keys, Parts[0], are no strings, []any of [2]any
//	array                      []int64, []float32 or []float64 where Parts[0] is a number and none is NULL, else []any
//
// A NULL is nil. A field of a file that cannot be read has no Type; Refused says what it holds.
type Field struct {
	Name, Type string
	Required   bool    // there is no NULL
	Parts      []Field // of a struct; the element of an array; key and value of a map
	Refused    string
}

// Day counts days since 1970-01-01, Moment microseconds since then, in UTC or of a clock without a zone.
type (
	Day    int64
	Moment int64
)

// FieldType is the type of a field for values of a scalar type of Postgres: string where they are written as texts.
func FieldType(typ string) string {
	switch typ {
	case "smallint":
		return "short"
	case "bigint":
		return "long"
	case "real":
		return "float"
	case "double precision":
		return "double"
	case "bytea":
		return "binary"
	case "timestamp with time zone":
		return "timestamp"
	case "timestamp without time zone":
		return "timestamp_ntz"
	case "boolean", "integer", "date":
		return typ
	}
	return "string"
}

// Decimal splits the type decimal(p,s); ok is false for other types.
func (f *Field) Decimal() (precision, scale int, ok bool) {
	text, found := strings.CutPrefix(f.Type, "decimal(")
	if !found {
		return 0, 0, false
	}
	p, s, comma := strings.Cut(strings.TrimSuffix(text, ")"), ",")
	precision, err1 := strconv.Atoi(strings.TrimSpace(p))
	scale, err2 := strconv.Atoi(strings.TrimSpace(s))
	ok = comma && err1 == nil && err2 == nil && precision > 0 && precision <= 38
	return precision, scale, ok && scale >= 0 && scale <= precision
}

// Postgres returns the type of Postgres that holds the field's values exactly, "" where there is none.
func (f *Field) Postgres() string {
	switch f.Type {
	case "byte", "short":
		return "smallint"
	case "long":
		return "bigint"
	case "float":
		return "real"
	case "double":
		return "double precision"
	case "string":
		return "text"
	case "binary":
		return "bytea"
	case "timestamp":
		return "timestamp with time zone"
	case "timestamp_ntz":
		return "timestamp without time zone"
	case "boolean", "integer", "date":
		return f.Type
	case "array":
		elem := f.Parts[0]
		for elem.Type == "array" {
			elem = elem.Parts[0]
		}
		if t := elem.Postgres(); t != "" && t != "bytea" {
			return t + "[]"
		}
		return ""
	}
	if _, _, ok := f.Decimal(); ok {
		return "numeric"
	}
	return ""
}

// Convert returns a value of the field as one of a Postgres type, in the form of a Reader's rows; of type bytea it is
// the bytes themselves.
func (f *Field) Convert(v any, typ string) (any, error) {
	if v == nil {
		return nil, nil
	}
	if b, ok := v.([]byte); ok && f.Type == "binary" {
		if typ != "bytea" {
			return nil, mismatch("a binary", typ)
		}
		return b, nil
	}
	b := newBuilder(typ)
	if err := b.fill(f, v, 0); err != nil {
		return nil, err
	}
	return b.value()
}

// fill adds a value, whose lists must be rectangular.
func (b *builder) fill(f *Field, v any, depth int) error {
	switch x := v.(type) {
	case []any:
		return fillList(b, f, x, depth)
	case []int64:
		return fillList(b, f, x, depth)
	case []float32:
		return fillList(b, f, x, depth)
	case []float64:
		return fillList(b, f, x, depth)
	case nil:
		if b.array && !b.chunk {
			return b.add(nil, nil)
		}
		return sqlerr.New(sqlerr.NullNotAllowed, "a list with a NULL element")
	case bool:
		return b.bool(x)
	case int64:
		return b.int(x)
	case float32:
		return b.float(float64(x), math.Float32bits(x), true)
	case float64:
		return b.float(x, 0, false)
	case string:
		if _, _, ok := f.Decimal(); ok && b.typ != "numeric" && !b.texts() {
			return mismatch("a decimal", b.typ)
		}
		return b.text(x)
	case Day:
		return b.date(int64(x))
	case Moment:
		return b.timestamp(int64(x), time.Microsecond, f.Type == "timestamp")
	}
	return mismatch("a "+f.Type, b.typ)
}

func fillList[T any](b *builder, f *Field, list []T, depth int) error {
	if len(b.dims) <= depth {
		b.dims = append(b.dims, len(list))
	}
	if b.dims[depth] != len(list) || len(list) == 0 && (depth > 0 || b.chunk) {
		return sqlerr.New(sqlerr.ArraySubscript, "lists of %d and %d elements side by side", b.dims[depth], len(list)).
			WithHint("Lists must be of one length, and not empty.")
	}
	for _, v := range list {
		if err := b.fill(&f.Parts[0], v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Accept returns a value in the form of a Sink's rows, of a Postgres type, as a value of the field.
func (f *Field) Accept(v any) (any, error) {
	switch x := v.(type) {
	case []byte:
		if f.Type == "binary" {
			return x, nil
		}
		d, shape, b, err := tensor.Header(x)
		if err != nil {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "column \"%s\": %v", f.Name, err)
		}
		return f.acceptChunk(d, shape, &b)
	case []any:
		if f.Type != "array" {
			return nil, mismatch("an array", f.Type)
		}
		out := make([]any, len(x))
		for i, e := range x {
			var err error
			if out[i], err = f.Parts[0].Accept(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	case string:
		return f.acceptText(x)
	case float64:
		if f.Type == "float" {
			return float32(x), nil
		}
	}
	return v, nil
}

// acceptChunk makes nested lists of a chunk and removes its elements from b.
func (f *Field) acceptChunk(d tensor.DType, shape tensor.Shape, b *[]byte) (any, error) {
	if f.Type != "array" || len(shape) == 0 {
		return nil, mismatch("a chunk of shape "+shape.String(), f.Type)
	}
	n := shape[0]
	if len(shape) > 1 {
		out := make([]any, n)
		for i := range out {
			var err error
			if out[i], err = f.Parts[0].acceptChunk(d, shape[1:], b); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	elems := (*b)[:n*d.Size()]
	*b = (*b)[n*d.Size():]
	if d == tensor.Float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(elems[4*i:]))
		}
		return out, nil
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(elems[8*i:]))
	}
	return out, nil
}

// Forms of dates and times that are read: those of Postgres and of ISO 8601.
var (
	momentForms = []string{"2006-01-02 15:04:05.999999999-07", "2006-01-02 15:04:05.999999999-07:00",
		"2006-01-02 15:04:05.999999999", time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02"}
	dayForms = momentForms[6:]
)

// acceptText reads a value of a type that is text in a Sink's rows.
func (f *Field) acceptText(s string) (any, error) {
	forms := momentForms
	switch f.Type {
	case "date":
		forms = dayForms
	case "timestamp", "timestamp_ntz":
	default:
		return s, nil
	}
	for _, form := range forms {
		t, err := time.Parse(form, s)
		switch {
		case err != nil:
		case f.Type == "date":
			return Day(t.Unix() / 86400), nil
		case t.Nanosecond()%1000 != 0:
			return nil, sqlerr.New(sqlerr.NumericOutOfRange, "%s is not exactly representable in microseconds", s)
		default:
			return Moment(t.UnixMicro()), nil
		}
	}
	return nil, sqlerr.New(sqlerr.InvalidText, "invalid %s: \"%s\"", f.Type, s).
		WithHint("Write it as 2006-01-02 15:04:05.")
}

// decimalText writes an unscaled number as a decimal.
func decimalText(n *big.Int, scale int) string {
	s := new(big.Int).Abs(n).String()
	if len(s) <= scale {
		s = strings.Repeat("0", scale-len(s)+1) + s
	}
	if scale > 0 {
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	if n.Sign() < 0 {
		s = "-" + s
	}
	return s
}

// unscaled reads a decimal text as its number times 10^scale.
func unscaled(s string, precision, scale int) (*big.Int, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if frac = strings.TrimRight(frac, "0"); len(frac) > scale {
		return nil, inexact(s, "decimal("+strconv.Itoa(precision)+","+strconv.Itoa(scale)+")")
	}
	n, ok := new(big.Int).SetString(whole+frac+strings.Repeat("0", scale-len(frac)), 10)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidText, "invalid decimal: \"%s\"", s)
	}
	if len(new(big.Int).Abs(n).String()) > precision {
		return nil, outOfRange(s, "decimal("+strconv.Itoa(precision)+","+strconv.Itoa(scale)+")")
	}
	return n, nil
}
