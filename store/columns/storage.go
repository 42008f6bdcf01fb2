package columns

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
)

// Storage lists the types that a column may have; the value is SQLite's storage class.
var Storage = map[string]string{
	"smallint": "INTEGER", "integer": "INTEGER", "bigint": "INTEGER", "boolean": "INTEGER",
	"real": "REAL", "double precision": "REAL",
	"numeric": "TEXT", "text": "TEXT", "date": "TEXT", "timestamp": "TEXT", "timestamp with time zone": "TEXT",
	"json": "TEXT", "jsonb": "TEXT", "regclass": "TEXT", "uuid": "TEXT", "name": "TEXT", "regtype": "TEXT",
}

// Collation is the collation of a type; "" where SQLite compares its values as Postgres does.
func Collation(t catalog.Type) string {
	switch {
	case t.Is(catalog.Numeric):
		return "rg_numeric"
	case t.Is(catalog.ArrayOf(catalog.Numeric)):
		return "rg_numeric_array"
	case t.Is(catalog.JSONB):
		return "rg_jsonb"
	}
	return ""
}

// Collated prints an expression of the type with its collation. It has one of its own where others do: where there is
// none SQLite takes that of any operand inside, such as of numerics that are compared in a CASE
// (https://www.sqlite.org/datatype3.html#collating_sequences).
func Collated(t catalog.Type, sql string, others ...string) string {
	c := Collation(t)
	has := func(s string) bool { return strings.Contains(s, " COLLATE ") }
	switch {
	case c != "":
		return sql + " COLLATE " + c
	case has(sql), slices.ContainsFunc(others, has):
		return sql + " COLLATE BINARY"
	}
	return sql
}

// StorageOf is the column type in a STRICT table.
func StorageOf(t catalog.Type) string {
	switch {
	case t.IsChunk():
		return "BLOB"
	case t.Array:
		return "TEXT"
	}
	return Storage[t.Name]
}
