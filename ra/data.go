package ra

import (
	"context"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
)

// NoRight is the NoType of a column that the user may not read.
const NoRight = "you have no right to read it"

// TableColumn is a column of a stored table.
type TableColumn struct {
	Name   string
	PGType string       // as declared: "integer", "real[]", "date", …
	Type   kernels.Type // with the shape found in the data and Nullable as found in the data
	NoType string       // why the column cannot be used in a differentiated query (an empty table's chunk), "" if it can

	// NotNull says that the database keeps NULLs out, not only that the column holds none now.
	NotNull bool

	// Computed says that the server computes the column from others of its row: it is data to read, never a parameter.
	Computed bool
}

// RowID is the index of the hidden row id among a table's columns.
const RowID = -1

// IsValue reports whether the column holds values in the sense of the data model: real, double precision or
// arrays of these. A numeric column is an attribute, although it is computed with as double precision.
func (c *TableColumn) IsValue() bool { return c.Type.IsFloat() && c.PGType != "numeric" }

// Table describes a stored table.
type Table struct {
	Schema, Name string
	Cols         []TableColumn
	// columns of the identity; [RowID] when none is declared; empty for the one row of a table without key columns
	Key      []int
	Declared bool // the identity is a PRIMARY KEY or UNIQUE NOT NULL, or the table is a keyless single row
	Rows     int64
	Kind     string // what it is, where no key can be declared of it: "materialized view" or "foreign table"
}

// Column returns the index of the column of that name, or -2.
func (t *Table) Column(name string) int {
	for i := range t.Cols {
		if t.Cols[i].Name == name {
			return i
		}
	}
	return -2
}

// Source reads stored data for interp and the executor.
type Source interface {
	// Read returns columns of a table (RowID: the hidden row id), all in the same row order.
	Read(ctx context.Context, t *Table, cols []int) ([]*column.Column, error)
	// Opaque runs an Opaque node and returns its columns, without the hidden row number.
	Opaque(ctx context.Context, n *Node, env *kernels.Env) ([]*column.Column, error)
}

// Roomy is a Source that reads columns into memory that it is given, so that a large one is never held twice.
type Roomy interface {
	// ReadInto is Source.Read. room is asked once for each column of numbers, when its type is known, and may return an
	// empty vector whose slices have room for so many rows; nil: the source takes memory of its own.
	ReadInto(ctx context.Context, t *Table, cols []int, room Room) ([]*column.Column, error)
}

// Room returns an empty vector of type t for the i-th column of a read.
type Room func(i int, t kernels.Type, rows int) *column.Column
