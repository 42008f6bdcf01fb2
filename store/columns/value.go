package columns

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/numeric"
	"github.com/relgrad/relgrad/tensor"
)

// A Go value of a Postgres type is nil (NULL); int64 for integers; float64 for real and double precision;
// bool; string for text, numeric (its digits), date, timestamp and json; *tensor.Tensor for real[] and
// double precision[]; []any, nested, for other arrays. Stored, a bool is an INTEGER, a chunk a BLOB
// (tensor.Encode), any other array a JSON text, everything else itself.

// MaxState bounds the memory in bytes that a list or document may take; an element counts as ElementBytes.
const (
	MaxState     = 256 << 20
	ElementBytes = 32
)

// ErrNaN refuses NaN in a scalar column.
func ErrNaN() *sqlerr.Error {
	return sqlerr.New(sqlerr.NumericOutOfRange, "NaN cannot be stored in a scalar column").
		WithHint("Use NULL for a missing value.")
}

// ToStored converts a Go value to what SQLite holds.
func ToStored(x any, t catalog.Type) (any, error) {
	if x == nil {
		return nil, nil
	}
	if t.IsChunk() {
		c, err := toChunk(x, t)
		if err != nil {
			return nil, err
		}
		return c.Encode(), nil
	}
	switch v := x.(type) {
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case int64:
		switch {
		case t.IsFloat():
			return float64(v), nil
		case !t.IsInt() && !t.Is(catalog.Bool):
			return strconv.FormatInt(v, 10), nil
		}
		return v, nil
	case float64:
		return storedFloat(v, t)
	case string:
		if t.IsNumber() && !t.Is(catalog.Numeric) || t.Is(catalog.Bool) {
			y, err := Convert(v, catalog.Text, t)
			if err != nil {
				return nil, err
			}
			return ToStored(y, t)
		}
		return v, nil
	case []any:
		return WriteArray(v)
	}
	return nil, sqlerr.New(sqlerr.Internal, "internal error: cannot store a %T as %s", x, t)
}

func storedFloat(v float64, t catalog.Type) (any, error) {
	switch {
	case t.IsInt() || t.Is(catalog.Numeric):
		return Convert(v, catalog.Float8, t)
	case math.IsNaN(v):
		return nil, ErrNaN()
	case t.Is(catalog.Float4):
		return float64(float32(v)), nil
	}
	return v, nil
}

// toChunk converts x to the type's dtype; nested lists become tensors.
func toChunk(x any, t catalog.Type) (*tensor.Tensor, error) {
	switch v := x.(type) {
	case *tensor.Tensor:
		if v.DType == t.DType() {
			return v, nil
		}
		c := v.Clone()
		c.DType = t.DType()
		return c.Round(), nil
	case []any:
		y, err := MakeArray(v, t.Elem())
		if err != nil {
			return nil, err
		}
		return y.(*tensor.Tensor), nil
	}
	return nil, sqlerr.New(sqlerr.Internal, "internal error: %T is no chunk", x)
}

// WriteArray prints an array as JSON text, as arrays other than chunks are stored.
func WriteArray(v []any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// FromCell converts a stored value to a Go value.
func FromCell(c *lite.Cell, t catalog.Type) (any, error) {
	switch {
	case c.IsNull():
		return nil, nil
	case t.IsChunk():
		x, err := tensor.Decode(c.Bytes())
		if err != nil {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "%v", err)
		}
		return x, nil
	case t.Array:
		return ReadArray(c.Bytes(), t)
	case t.Is(catalog.Bool):
		return c.Int() != 0, nil
	case t.IsInt():
		return c.Int(), nil
	case t.IsFloat():
		return c.Float(), nil
	}
	switch c.Kind() {
	case lite.Integer:
		return strconv.FormatInt(c.Int(), 10), nil
	case lite.Float:
		return tensor.FormatFloat(c.Float(), tensor.Float64), nil
	}
	return c.String(), nil
}

// ReadArray reads an array stored as JSON text.
func ReadArray(b []byte, t catalog.Type) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "malformed array: %v", err)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "malformed array: %s", b)
	}
	return list, fixNumbers(list, t)
}

func fixNumbers(list []any, t catalog.Type) error {
	for i, x := range list {
		switch v := x.(type) {
		case []any:
			if err := fixNumbers(v, t); err != nil {
				return err
			}
		case json.Number:
			if t.Elem().Is(catalog.Numeric) || t.Elem().Is(catalog.Text) {
				list[i] = v.String()
				continue
			}
			n, err := v.Int64()
			if err != nil {
				return sqlerr.New(sqlerr.DataCorrupted, "malformed array element %s", v)
			}
			list[i] = n
		}
	}
	return nil
}

// EmptyArray is '{}' with elements of type t.
func EmptyArray(t catalog.Type) any {
	if t.IsFloat() || t.IsChunk() {
		return tensor.New(t.DType(), 0)
	}
	return []any{}
}

// MakeArray makes an array of elements, or of arrays of equal shape.
func MakeArray(list []any, elem catalog.Type) (any, error) {
	if !elem.IsFloat() {
		if _, err := listShape(list); err != nil {
			return nil, err
		}
		return list, nil
	}
	if len(list) == 0 {
		return EmptyArray(elem), nil
	}
	var out *tensor.Tensor
	for i, x := range list {
		if nested, ok := x.([]any); ok {
			y, err := MakeArray(nested, elem)
			if err != nil {
				return nil, err
			}
			x = y
		}
		shape, data := tensor.Shape(nil), []float64(nil)
		switch v := x.(type) {
		case nil:
			return nil, errNullElement()
		case float64:
			data = []float64{v}
		case int64:
			data = []float64{float64(v)}
		case string:
			f, err := Convert(v, catalog.Text, elem)
			if err != nil {
				return nil, err
			}
			data = []float64{f.(float64)}
		case *tensor.Tensor:
			shape, data = v.Shape, v.Data
		}
		if out == nil {
			out = &tensor.Tensor{DType: elem.DType(), Shape: append(tensor.Shape{len(list)}, shape...)}
		}
		if !out.Shape[1:].Equal(shape) {
			return nil, errShapes(out.Shape[1:], i, shape)
		}
		out.Data = append(out.Data, data...)
	}
	if len(out.Shape) > tensor.MaxRank {
		return nil, sqlerr.New(sqlerr.ProgramLimit, "number of array dimensions (%d) exceeds the maximum allowed (%d)",
			len(out.Shape), tensor.MaxRank)
	}
	return out.Round(), nil
}

func errNullElement() error {
	return sqlerr.New(sqlerr.NullNotAllowed, "an array of floats cannot have NULL elements").
		WithHint("A chunk is dense: use 0, or leave the row out.")
}

func errShapes(first tensor.Shape, i int, other tensor.Shape) error {
	return sqlerr.New(sqlerr.ArraySubscript,
		"multidimensional arrays must have array expressions with matching dimensions").
		WithDetail("Element 1 has shape %v, element %d has shape %v.", first, i+1, other)
}

// listShape is the shape of nested lists. It refuses those whose lengths differ within a dimension.
func listShape(list []any) (tensor.Shape, error) {
	shape := tensor.Shape{len(list)}
	for i, x := range list {
		var of tensor.Shape
		if l, nested := x.([]any); nested {
			var err error
			if of, err = listShape(l); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			shape = append(shape, of...)
		} else if !shape[1:].Equal(of) {
			return nil, errShapes(shape[1:], i, of)
		}
	}
	return shape, nil
}

// Convert converts a Go value of one type to another, as an explicit cast does.
func Convert(x any, f, t catalog.Type) (any, error) {
	if x == nil || f.Is(t) && !f.Is(catalog.Text) {
		return x, nil
	}
	if f.Array && t.Array {
		return convertArray(x, f, t)
	}
	if t.Is(catalog.Text) {
		return TextOut(x, f), nil
	}
	if f.Is(catalog.Text) {
		s, _ := x.(string)
		return TextIn(s, t)
	}
	switch v := x.(type) {
	case int64:
		switch {
		case t.IsInt():
			return v, CheckRange(v, t)
		case t.IsFloat():
			return float64(v), nil
		case t.Is(catalog.Numeric):
			return strconv.FormatInt(v, 10), nil
		case t.Is(catalog.Bool):
			return v != 0, nil
		}
	case bool:
		if t.IsInt() {
			if v {
				return int64(1), nil
			}
			return int64(0), nil
		}
	case float64:
		return convertFloat(v, f, t)
	case string:
		if f.Is(catalog.Numeric) {
			return convertNumeric(v, t)
		}
		return TextIn(v, t)
	}
	return nil, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", f, t)
}

// CheckRange refuses an integer that is out of the range of type t.
func CheckRange(v int64, t catalog.Type) error {
	if bits := uint(t.Size()*8 - 1); bits < 63 && (v >= 1<<bits || v < -1<<bits) {
		return sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", t.Name)
	}
	return nil
}

func convertFloat(v float64, f, t catalog.Type) (any, error) {
	switch {
	case t.IsInt():
		r := math.RoundToEven(v)
		if !(r >= -9.223372036854775808e18 && r < 9.223372036854775808e18) {
			return nil, sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", t.Name)
		}
		return int64(r), CheckRange(int64(r), t)
	case t.Is(catalog.Float4):
		return roundReal(v)
	case t.Is(catalog.Float8):
		return v, nil
	case t.Is(catalog.Numeric):
		n, err := numeric.Float(v, f.Is(catalog.Float4))
		return n.String(), err
	}
	return nil, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", f, t)
}

func roundReal(v float64) (any, error) {
	r := float64(float32(v))
	if math.IsInf(r, 0) && !math.IsInf(v, 0) || r == 0 && v != 0 {
		return nil, sqlerr.New(sqlerr.NumericOutOfRange, "\"%s\" is out of range for type real",
			tensor.FormatFloat(v, tensor.Float64))
	}
	return r, nil
}

func convertNumeric(s string, t catalog.Type) (any, error) {
	n, err := numeric.Parse(s)
	if err != nil {
		return nil, err
	}
	switch {
	case t.IsInt():
		i, ok := n.Int64()
		if !ok {
			return nil, sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", t.Name)
		}
		return i, CheckRange(i, t)
	case t.Is(catalog.Float4):
		return roundReal(n.Float64())
	case t.Is(catalog.Float8):
		x := n.Float64()
		if math.IsInf(x, 0) && !strings.Contains(strings.ToLower(s), "inf") {
			return nil, sqlerr.New(sqlerr.NumericOutOfRange, "\"%s\" is out of range for type double precision", s)
		}
		return x, nil
	case t.Is(catalog.Numeric):
		return n.String(), nil
	}
	return nil, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type numeric to %s", t)
}

func convertArray(x any, f, t catalog.Type) (any, error) {
	if c, ok := x.(*tensor.Tensor); ok {
		if t.IsChunk() {
			return toChunk(c, t)
		}
		x = Nest(c, 0, new(int))
	}
	list, _ := x.([]any)
	out, err := convertList(list, f.Elem(), t.Elem())
	if err != nil {
		return nil, err
	}
	return MakeArray(out, t.Elem())
}

func convertList(list []any, f, t catalog.Type) ([]any, error) {
	out := make([]any, len(list))
	for i, x := range list {
		var err error
		if l, ok := x.([]any); ok {
			out[i], err = convertList(l, f, t)
		} else {
			out[i], err = Convert(x, f, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Nest converts a tensor to nested lists of float64.
func Nest(c *tensor.Tensor, axis int, at *int) []any {
	out := make([]any, c.Shape[axis])
	for i := range out {
		if axis+1 < len(c.Shape) {
			out[i] = Nest(c, axis+1, at)
			continue
		}
		out[i] = c.Data[*at]
		*at++
	}
	return out
}

// TextOut prints a value as Postgres's output function of its type does.
func TextOut(x any, t catalog.Type) string {
	switch v := x.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "true"
		}
		return "false"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return tensor.FormatFloat(v, t.DType())
	case string:
		return v
	case *tensor.Tensor:
		if v.Shape.Size() == 0 {
			return "{}"
		}
		return v.String()
	case []any:
		var b strings.Builder
		arrayOut(&b, v, t.Elem())
		return b.String()
	}
	return fmt.Sprint(x)
}

func arrayOut(b *strings.Builder, list []any, t catalog.Type) {
	b.WriteByte('{')
	for i, x := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		switch v := x.(type) {
		case nil:
			b.WriteString("NULL")
		case []any:
			arrayOut(b, v, t)
		case bool:
			b.WriteByte("ft"[Bit(v)])
		case string:
			quoteElement(b, v)
		default:
			b.WriteString(TextOut(x, t))
		}
	}
	b.WriteByte('}')
}

// Bit is 1 for true.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func quoteElement(b *strings.Builder, s string) {
	if s != "" && !strings.EqualFold(s, "null") && !strings.ContainsAny(s, "{}\",\\ \t\n\r\v\f") {
		b.WriteString(s)
		return
	}
	b.WriteByte('"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
}

// Format prints a value of Result as psql does: a boolean is t or f.
func Format(x any, typ string) string {
	if v, ok := x.(bool); ok {
		return "ft"[Bit(v) : Bit(v)+1]
	}
	return TextOut(x, catalog.TypeOf(typ))
}

func badInput(t catalog.Type, s string) error {
	if len(s) > 100 {
		n := 100
		for !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return sqlerr.New(sqlerr.InvalidText, "invalid input syntax for type %s: \"%s\"", t, s)
}

// NumericOf reads a number in any form that SQLite stores.
func NumericOf(c *lite.Cell) (numeric.Num, error) {
	switch c.Kind() {
	case lite.Integer:
		return numeric.Int(c.Int()), nil
	case lite.Float:
		return numeric.Float(c.Float(), false)
	}
	return numeric.Parse(c.String())
}
