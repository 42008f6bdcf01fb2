package columns

import "github.com/relgrad/relgrad/catalog"

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

// Collated prints an expression of the type with its collation.
func Collated(t catalog.Type, sql string) string {
	if c := Collation(t); c != "" {
		return sql + " COLLATE " + c
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
