package store

import (
	"strings"

	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/tensor"
)

// Type is a Postgres type. Arrays of any number of dimensions are one type, as in Postgres; Rank is the
// declared number of brackets where there is a declaration, 0 otherwise, and does not take part in
// comparisons (see is).
type Type struct {
	Name  string // canonical: "integer", "double precision", …; "unknown" for an untyped literal
	Array bool
	Rank  int
}

// The scalar types.
var (
	tInt2      = Type{Name: "smallint"}
	tInt4      = Type{Name: "integer"}
	tInt8      = Type{Name: "bigint"}
	tNumeric   = Type{Name: "numeric"}
	tReal      = Type{Name: "real"}
	tDouble    = Type{Name: "double precision"}
	tText      = Type{Name: "text"}
	tBool      = Type{Name: "boolean"}
	tDate      = Type{Name: "date"}
	tTimestamp = Type{Name: "timestamp"}
	tTZ        = Type{Name: "timestamp with time zone"}
	tUnknown   = Type{Name: "unknown"}
	tUUID      = Type{Name: "uuid"}
	tName      = Type{Name: "name"} // a text that is cut at 63 bytes
	tRegtype   = Type{Name: "regtype"}
	tJSONB     = Type{Name: "jsonb"}
	tVoid      = Type{Name: "void"}
	tRecord    = Type{Name: "record"}
)

// numberOrder ranks the numeric types; each converts implicitly to those with a higher rank.
var numberOrder = map[string]int{"smallint": 1, "integer": 2, "bigint": 3, "numeric": 4, "real": 5, "double precision": 6}

// known lists the types that a column may have; the value is SQLite's storage class.
var known = map[string]string{
	"smallint": "INTEGER", "integer": "INTEGER", "bigint": "INTEGER", "boolean": "INTEGER",
	"real": "REAL", "double precision": "REAL",
	"numeric": "TEXT", "text": "TEXT", "date": "TEXT", "timestamp": "TEXT", "timestamp with time zone": "TEXT", "json": "TEXT", "jsonb": "TEXT", "regclass": "TEXT", "uuid": "TEXT", "name": "TEXT", "regtype": "TEXT",
}

func arrayOf(t Type) Type     { return Type{Name: t.Name, Array: true} }
func (t Type) elem() Type     { return Type{Name: t.Name} }
func (t Type) is(u Type) bool { return t.Name == u.Name && t.Array == u.Array }

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

func (t Type) isNumber() bool  { return !t.Array && numberOrder[t.Name] > 0 }
func (t Type) isInt() bool     { return !t.Array && numberOrder[t.Name] > 0 && numberOrder[t.Name] <= 3 }
func (t Type) isFloat() bool   { return !t.Array && numberOrder[t.Name] >= 5 }
func (t Type) isChunk() bool   { return t.Array && numberOrder[t.Name] >= 5 }
func (t Type) isTime() bool    { return !t.Array && (t.is(tDate) || t.is(tTimestamp) || t.is(tTZ)) }
func (t Type) isUnknown() bool { return t.is(tUnknown) }

// size is an integer type's size in bytes.
func (t Type) size() int {
	switch t.Name {
	case "smallint":
		return 2
	case "integer":
		return 4
	}
	return 8
}

// collation is that by which values of the type compare; "" where SQLite compares them as Postgres does.
func (t Type) collation() string {
	switch {
	case t.is(tNumeric):
		return "rg_numeric"
	case t.is(arrayOf(tNumeric)):
		return "rg_numeric_array"
	case t.is(tJSONB):
		return "rg_jsonb"
	}
	return ""
}

// collated prints what a column or an expression of the type compares by.
func (t Type) collated(sql string) string {
	if c := t.collation(); c != "" {
		return sql + " COLLATE " + c
	}
	return sql
}

// dtype is the tensor dtype of a float type.
func (t Type) dtype() tensor.DType {
	if t.Name == "real" {
		return tensor.Float32
	}
	return tensor.Float64
}

// storage is the column type in a STRICT table.
func (t Type) storage() string {
	switch {
	case t.isChunk():
		return "BLOB"
	case t.Array:
		return "TEXT"
	}
	return known[t.Name]
}

// implicit reports whether a value of type f becomes type t without being asked.
func implicit(f, t Type) bool {
	switch {
	case f.is(t) || f.isUnknown():
		return true
	case f.Array != t.Array:
		return false
	}
	a, z := numberOrder[f.Name], numberOrder[t.Name]
	if a > 0 && z > 0 {
		return a < z
	}
	return f.is(tDate) && (t.is(tTimestamp) || t.is(tTZ)) || f.is(tTimestamp) && t.is(tTZ) || f.is(tName) && t.is(tText)
}

// Implicit reports whether a value of one type becomes another without being asked; the types are named as Type.String
// prints them.
func Implicit(from, to string) bool { return implicit(typeByName(from), typeByName(to)) }

// Assignable reports whether INSERT and UPDATE convert a value of one type to another.
func Assignable(from, to string) bool { return assignable(typeByName(from), typeByName(to)) }

// assignable reports whether INSERT and UPDATE convert f to t.
func assignable(f, t Type) bool {
	switch {
	case implicit(f, t):
		return true
	case f.Array != t.Array:
		return t.is(tText)
	case numberOrder[f.Name] > 0 && numberOrder[t.Name] > 0:
		return true
	case t.Name == "text" || t.is(tName):
		return true
	}
	return (f.is(tTimestamp) || f.is(tTZ)) && t.isTime()
}

// common is select_common_type: the type of CASE, COALESCE, UNION, ARRAY[…]; false where there is none.
func common(ts []Type) (Type, bool) {
	out := tUnknown
	for _, t := range ts {
		switch {
		case t.isUnknown() || t.is(out):
		case out.isUnknown():
			out = t
		case implicit(out, t) && !implicit(t, out):
			out = t
		case !implicit(t, out):
			return t, false
		}
	}
	if out.isUnknown() {
		out = tText
	}
	out.Rank = 0
	return out, true
}

// typeByName reads the form that Type.String prints.
func typeByName(s string) Type {
	name, arr := strings.CutSuffix(s, "[]")
	for strings.HasSuffix(name, "[]") {
		name = name[:len(name)-2]
	}
	if name == "timestamp without time zone" {
		name = "timestamp"
	}
	if name = parse.CanonicalType(name); name == "character varying" { // a text with a modifier
		name = tText.Name
	}
	return Type{Name: name, Array: arr}
}
