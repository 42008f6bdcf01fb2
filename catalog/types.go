package catalog

import (
	"strings"

	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/tensor"
)

// The scalar types.
var (
	Int2        = Type{Name: "smallint"}
	Int4        = Type{Name: "integer"}
	Int8        = Type{Name: "bigint"}
	Numeric     = Type{Name: "numeric"}
	Float4      = Type{Name: "real"}
	Float8      = Type{Name: "double precision"}
	Text        = Type{Name: "text"}
	Bool        = Type{Name: "boolean"}
	Date        = Type{Name: "date"}
	Timestamp   = Type{Name: "timestamp"}
	TimestampTZ = Type{Name: "timestamp with time zone"}
	Unknown     = Type{Name: "unknown"}
	UUID        = Type{Name: "uuid"}
	Name        = Type{Name: "name"} // a text that is cut after 63 bytes
	Regtype     = Type{Name: "regtype"}
	JSONB       = Type{Name: "jsonb"}
	Void        = Type{Name: "void"}
	Record      = Type{Name: "record"}
)

// NumberOrder ranks the numeric types; each converts implicitly to those with a higher rank.
var NumberOrder = map[string]int{
	"smallint":         1,
	"integer":          2,
	"bigint":           3,
	"numeric":          4,
	"real":             5,
	"double precision": 6,
}

// Type is a Postgres type. Arrays of any number of dimensions are one type, as in Postgres. Rank is the declared number
// of brackets, 0 if none were declared; comparisons ignore it (see Is).
type Type struct {
	Name  string // canonical: "integer", "double precision", …; "unknown" for an untyped literal
	Array bool
	Rank  int
}

// ArrayOf is the type of arrays of t.
func ArrayOf(t Type) Type { return Type{Name: t.Name, Array: true} }

// Elem is the type of an array's elements.
func (t Type) Elem() Type { return Type{Name: t.Name} }

// Is reports whether two types are the same, whatever their declared number of brackets.
func (t Type) Is(u Type) bool { return t.Name == u.Name && t.Array == u.Array }

// String prints the type as Postgres's format_type does, "real[]".
func (t Type) String() string {
	name := t.Name
	if name == "timestamp" {
		name = "timestamp without time zone"
	}
	if t.Array {
		return name + "[]"
	}
	return name
}

// IsNumber, IsInt, IsFloat, IsTime and IsUnknown report the kind of a scalar; IsChunk reports an array of floats.
func (t Type) IsNumber() bool { return !t.Array && NumberOrder[t.Name] > 0 }

func (t Type) IsInt() bool { return !t.Array && NumberOrder[t.Name] > 0 && NumberOrder[t.Name] <= 3 }

func (t Type) IsFloat() bool { return !t.Array && NumberOrder[t.Name] >= 5 }

func (t Type) IsChunk() bool { return t.Array && NumberOrder[t.Name] >= 5 }

func (t Type) IsTime() bool { return !t.Array && (t.Is(Date) || t.Is(Timestamp) || t.Is(TimestampTZ)) }

func (t Type) IsUnknown() bool { return t.Is(Unknown) }

// Size is an integer type's size in bytes.
func (t Type) Size() int {
	switch t.Name {
	case "smallint":
		return 2
	case "integer":
		return 4
	}
	return 8
}

// DType is the tensor dtype of a float type.
func (t Type) DType() tensor.DType {
	if t.Name == "real" {
		return tensor.Float32
	}
	return tensor.Float64
}

// Implicit reports whether there is an implicit cast from f to t.
func Implicit(f, t Type) bool {
	switch {
	case f.Is(t) || f.IsUnknown():
		return true
	case f.Array != t.Array:
		return false
	}
	if a, z := NumberOrder[f.Name], NumberOrder[t.Name]; a > 0 && z > 0 {
		return a < z
	}
	return f.Is(Date) && (t.Is(Timestamp) || t.Is(TimestampTZ)) || f.Is(Timestamp) && t.Is(TimestampTZ) ||
		f.Is(Name) && t.Is(Text)
}

// Assignable reports whether INSERT and UPDATE convert f to t.
func Assignable(f, t Type) bool {
	switch {
	case Implicit(f, t):
		return true
	case f.Array != t.Array:
		return t.Is(Text)
	case NumberOrder[f.Name] > 0 && NumberOrder[t.Name] > 0, t.Name == "text" || t.Is(Name):
		return true
	}
	return (f.Is(Timestamp) || f.Is(TimestampTZ)) && t.IsTime()
}

// CommonType is select_common_type: the type of CASE, COALESCE, UNION, ARRAY[…]; false where there is none.
func CommonType(ts []Type) (Type, bool) {
	out := Unknown
	for _, t := range ts {
		switch {
		case t.IsUnknown() || t.Is(out):
		case out.IsUnknown(), Implicit(out, t) && !Implicit(t, out):
			out = t
		case !Implicit(t, out):
			return t, false
		}
	}
	if out.IsUnknown() {
		out = Text
	}
	out.Rank = 0
	return out, true
}

// TypeOf reads the form that Type.String prints.
func TypeOf(s string) Type {
	name, arr := strings.CutSuffix(s, "[]")
	for strings.HasSuffix(name, "[]") {
		name = name[:len(name)-2]
	}
	if name == "timestamp without time zone" {
		name = "timestamp"
	}
	if name = parse.CanonicalType(name); name == "character varying" { // a text with a modifier
		name = Text.Name
	}
	return Type{Name: name, Array: arr}
}

// Declared prints the type with its brackets as declared: real[][].
func (t Type) Declared() string {
	if !t.Array {
		return t.String()
	}
	return t.Elem().String() + strings.Repeat("[]", max(1, t.Rank))
}
