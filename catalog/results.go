package catalog

import (
	"errors"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
)

// Result is the result of a statement. Values are nil, int64, float64, bool, string, *tensor.Tensor (chunks) and []any
// (other arrays); values of numeric, date and time types are strings, formatted.
type Result struct {
	Tag     string // the command tag that psql prints, "INSERT 0 3"
	Cols    []ResultCol
	Rows    [][]any
	HasRows bool // the statement can return rows
	Count   int64
	Notice  string // "relation … already exists, skipping"; "" for none
}

// ResultCol is a result column; Type is a Postgres type name, "real[]".
type ResultCol struct{ Name, Type string }

// Relation is a result in columns.
type Relation struct {
	Names []string
	Types []string // Postgres type names: "integer", "real[]", …
	Cols  []*column.Column
	// More, if not nil, gives further rows, some at a time, which need not be in memory together; nil: there are no more.
	More func() ([]*column.Column, error)
}

// ErrEngineRows is the reason why a query has no form in the database's SQL: it reads rows that the engine computes.
var ErrEngineRows = errors.New("rows that the engine computes")

// Version changes with a table's content: Keys when rows, keys or attributes (anything but floats) may have
// changed, Values with every change.
type Version struct{ Keys, Values uint64 }

// Value is row i of a column as Result.Rows holds it.
func Value(v *column.Column, i int) any {
	switch {
	case v.IsNull(i):
		return nil
	case v.Type().IsChunk():
		return v.Tensor(i)
	case v.Type().IsFloat():
		if v.Kind() == column.F32 {
			return float64(v.F32()[i])
		}
		return v.F64()[i]
	case v.Type().Kind == kernels.Bool:
		return v.I64()[i] != 0
	case v.Type().Kind == kernels.Int:
		return v.I64()[i]
	}
	return v.Texts()[i]
}
