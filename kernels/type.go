package kernels

import (
	"strconv"

	"github.com/relgrad/relgrad/tensor"
)

// Kind is the class of a value.
type Kind uint8

// Kinds. Text stands for every attribute type that is neither a number nor a boolean.
const (
	Float64 Kind = iota
	Float32
	Int
	Bool
	Text
)

// String returns the Postgres name.
func (k Kind) String() string {
	return [...]string{"double precision", "real", "bigint", "boolean", "text"}[k]
}

// DType returns the tensor dtype of a float kind.
func (k Kind) DType() tensor.DType {
	if k == Float32 {
		return tensor.Float32
	}
	return tensor.Float64
}

// KindOf returns the float kind of a dtype.
func KindOf(d tensor.DType) Kind {
	if d == tensor.Float32 {
		return Float32
	}
	return Float64
}

// Type is the static type of an expression. A nil Shape is a scalar; only floats have shapes, except
// constant integer arrays (shape arguments), whose Kind is Int and rank 1.
type Type struct {
	Kind     Kind
	Shape    tensor.Shape
	Nullable bool   // may be NULL
	Of       *Named // of a Text: the database's type, nil for a text; see Named. Of a number: why it cannot be compared
}

// IsFloat reports whether the type is real or double precision, scalar or chunk.
func (t Type) IsFloat() bool { return t.Kind == Float64 || t.Kind == Float32 }

// IsChunk reports whether the type is an array of floats.
func (t Type) IsChunk() bool { return t.IsFloat() && t.Shape != nil }

// Size returns the number of elements.
func (t Type) Size() int { return t.Shape.Size() }

// Is compares kind and shape, ignoring Nullable.
func (t Type) Is(u Type) bool { return t.Kind == u.Kind && t.Shape.Equal(u.Shape) }

// String prints "real[3,4]", "double precision", "bigint".
func (t Type) String() string {
	if t.Shape == nil {
		return t.Kind.String()
	}
	return t.Kind.String() + t.Shape.String()
}

// Value is one value, in the reference representation.
type Value struct {
	Type Type
	Null bool
	I    int64     // Int, Bool (0 or 1)
	X    float64   // scalar float
	T    string    // Text
	F    []float64 // chunk, row-major
	Ints []int64   // constant integer array
}

// NullOf returns the NULL of a type.
func NullOf(t Type) Value { return Value{Type: t, Null: true} }

// IntValue, BoolValue, FloatValue, TextValue and ChunkValue make values.
func IntValue(i int64) Value { return Value{Type: Type{Kind: Int}, I: i} }

// BoolValue makes a boolean.
func BoolValue(b bool) Value {
	v := Value{Type: Type{Kind: Bool}}
	if b {
		v.I = 1
	}
	return v
}

// FloatValue makes a double precision scalar.
func FloatValue(x float64) Value { return Value{Type: Type{Kind: Float64}, X: x} }

// TextValue makes a text.
func TextValue(s string) Value { return Value{Type: Type{Kind: Text}, T: s} }

// ChunkValue makes a chunk of a float kind; data is kept, not copied.
func ChunkValue(k Kind, shape tensor.Shape, data []float64) Value {
	return Value{Type: Type{Kind: k, Shape: shape}, F: data}
}

// Floats returns the elements of a float value: the chunk's, or the scalar as one element.
func (v *Value) Floats() []float64 {
	if v.Type.Shape == nil {
		return []float64{v.Float()}
	}
	return v.F
}

// Float returns a numeric scalar as float64.
func (v *Value) Float() float64 {
	if v.Type.Kind == Int || v.Type.Kind == Bool {
		return float64(v.I)
	}
	return v.X
}

// True reports whether a boolean is true (NULL is not).
func (v *Value) True() bool { return !v.Null && v.I != 0 }

// String prints the value for plans and messages.
func (v Value) String() string {
	switch {
	case v.Null:
		return "NULL"
	case v.Type.Kind == Text && v.Type.Of != nil && v.Type.Of.Keyed: // two types may have one label
		return "'" + v.Type.Of.Plain(v.T) + "'::" + v.Type.Of.Name
	case v.Type.Kind == Text:
		return "'" + v.T + "'"
	case v.Type.Kind == Bool:
		return strconv.FormatBool(v.I != 0)
	case v.Ints != nil:
		s := "ARRAY["
		for i, x := range v.Ints {
			if i > 0 {
				s += ","
			}
			s += strconv.FormatInt(x, 10)
		}
		return s + "]"
	case v.Type.Kind == Int:
		return strconv.FormatInt(v.I, 10)
	case v.Type.Shape == nil:
		return tensor.FormatFloat(v.X, v.Type.Kind.DType())
	}
	return (&tensor.Tensor{DType: v.Type.Kind.DType(), Shape: v.Type.Shape, Data: v.F}).String()
}

// Env is what an expression may read besides its columns.
type Env struct {
	Seed, Step, Epoch int64
}
