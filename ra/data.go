package ra

import (
	"context"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// Vector is a column of data. Exactly one of the slices holds it; a chunk column is flattened, N×Size.
type Vector struct {
	Type  kernels.Type
	N     int
	Ints  []int64 // Int; Bool as 0 and 1
	F64   []float64
	F32   []float32
	Texts []string
	Valid []bool // nil: no NULL
}

// NewVector returns a zeroed column of n rows.
func NewVector(t kernels.Type, n int) *Vector {
	v := &Vector{Type: t, N: n}
	switch t.Kind {
	case kernels.Float64:
		v.F64 = make([]float64, n*t.Size())
	case kernels.Float32:
		v.F32 = make([]float32, n*t.Size())
	case kernels.Text:
		v.Texts = make([]string, n)
	default:
		v.Ints = make([]int64, n)
	}
	return v
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Valid != nil && !v.Valid[i] }

// Value returns row i in the reference representation; a chunk's data is a copy.
func (v *Vector) Value(i int) kernels.Value {
	t := v.Type
	if v.IsNull(i) {
		return kernels.NullOf(t)
	}
	out := kernels.Value{Type: t}
	size := t.Size()
	switch {
	case t.Kind == kernels.Text:
		out.T = v.Texts[i]
	case !t.IsFloat():
		out.I = v.Ints[i]
	case t.Shape == nil && t.Kind == kernels.Float32:
		out.X = float64(v.F32[i])
	case t.Shape == nil:
		out.X = v.F64[i]
	case t.Kind == kernels.Float32:
		out.F = make([]float64, size)
		for j, x := range v.F32[i*size : (i+1)*size] {
			out.F[j] = float64(x)
		}
	default:
		out.F = append([]float64(nil), v.F64[i*size:(i+1)*size]...)
	}
	return out
}

// Set stores a value in row i, rounding to the column's dtype.
func (v *Vector) Set(i int, x kernels.Value) {
	if x.Null {
		v.SetNull(i)
		return
	}
	size := v.Type.Size()
	switch {
	case v.Type.Kind == kernels.Text:
		v.Texts[i] = x.T
	case !v.Type.IsFloat():
		v.Ints[i] = x.I
	default:
		for j, f := range x.Floats() {
			if v.F32 != nil {
				v.F32[i*size+j] = float32(f)
			} else {
				v.F64[i*size+j] = f
			}
		}
	}
	if v.Valid != nil {
		v.Valid[i] = true
	}
}

// SetNull makes row i NULL.
func (v *Vector) SetNull(i int) {
	if v.Valid == nil {
		v.Valid = make([]bool, v.N)
		for j := range v.Valid {
			v.Valid[j] = true
		}
	}
	v.Valid[i] = false
}

// Tensor returns the chunk (or scalar) of row i.
func (v *Vector) Tensor(i int) *tensor.Tensor {
	x := v.Value(i)
	return &tensor.Tensor{DType: v.Type.Kind.DType(), Shape: v.Type.Shape, Data: x.Floats()}
}

// Plain is a column as the database writes it: a keyed text without what orders it.
func (v *Vector) Plain() *Vector {
	if v.Type.Of == nil || !v.Type.Of.Keyed {
		return v
	}
	out := *v
	out.Texts = make([]string, len(v.Texts))
	for i, s := range v.Texts {
		out.Texts[i] = v.Type.Of.Plain(s)
	}
	return &out
}

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
	Read(ctx context.Context, t *Table, cols []int) ([]*Vector, error)
	// Opaque runs an Opaque node and returns its columns, without the hidden row number.
	Opaque(ctx context.Context, n *Node, env *kernels.Env) ([]*Vector, error)
}

// Roomy is a Source that reads columns into memory that it is given, so that a large one is never held twice.
type Roomy interface {
	// ReadInto is Source.Read. room is asked once for each column of numbers, when its type is known, and may return an
	// empty vector whose slices have room for so many rows; nil: the source takes memory of its own.
	ReadInto(ctx context.Context, t *Table, cols []int, room Room) ([]*Vector, error)
}

// Room returns an empty vector of type t for the i-th column of a read.
type Room func(i int, t kernels.Type, rows int) *Vector
