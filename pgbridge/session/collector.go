package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/wire"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// collector appends blocks to one block's columns.
type collector struct {
	what  string    // what is read, for messages
	table *ra.Table // nil: a query
	cols0 []int     // the columns of the table that are read
	rows  int       // expected rows; 0: not known
	cols  []wire.Column
	data  []*column.Column
}

// add appends a block. It is an argument of Conn.Query, and keeps nothing of the block's memory.
func (c *collector) add(b *wire.Block) error {
	if c.cols == nil {
		c.cols = b.Cols
		for _, col := range b.Cols {
			c.data = append(c.data, column.New(kernels.Type{Kind: col.Data.Type().Kind}, 0))
		}
	}
	for i, col := range b.Cols {
		v, x, chunks := c.data[i], col.Data, col.Arrays()
		switch {
		case col.Odd != nil:
			return c.ragged(i, col.Odd, x.Type().Shape, b)
		case chunks && v.Type().Shape == nil && x.Type().Shape != nil:
			v.SetType(kernels.Type{Kind: v.Type().Kind, Nullable: v.Type().Nullable, Shape: slices.Clone(x.Type().Shape)})
			wire.Grow(v, v.Len())
		case chunks && x.Type().Shape != nil && !x.Type().Shape.Equal(v.Type().Shape):
			return c.ragged(i, &wire.Odd{Row: 0, Why: 's', Shape: x.Type().Shape}, v.Type().Shape, b)
		}
		if chunks && x.Type().Shape == nil { // all are NULL
			wire.Grow(v, b.Rows)
		} else {
			v.Reserve(c.rows)
		}
		v.Append(x)
	}
	return nil
}

// ragged is the error of a chunk that differs from the others. It has the words of the embedded store, which refuses
// such chunks when they are written.
func (c *collector) ragged(col int, odd *wire.Odd, want tensor.Shape, b *wire.Block) error {
	name := ""
	if c.table != nil && col < len(c.cols0) {
		name = c.table.Cols[c.cols0[col]].Name
	} else if col < len(c.cols) {
		name = c.cols[col].Name
	}
	of := "a chunk"
	if c.table != nil && b != nil {
		var keys, values []string
		for i, k := range c.cols0 {
			if slices.Contains(c.table.Key, k) && k != ra.RowID {
				keys, values = append(keys, c.table.Cols[k].Name), append(values, b.Cols[i].Data.Value(odd.Row).String())
			}
		}
		if len(keys) > 0 {
			of = "the chunk of (" + strings.Join(keys, ", ") + ")=(" + strings.Join(values, ", ") + ")"
		}
	}
	of = fmt.Sprintf("%s, column \"%s\": %s", c.what, name, of)
	switch odd.Why {
	case 'n':
		return sqlerr.New(sqlerr.NullNotAllowed, "%s has NULL elements", of).
			WithHint("A chunk is dense: use 0, or leave the row out.")
	case 'l':
		return sqlerr.New(sqlerr.ArraySubscript, "%s has subscripts that do not begin at 1", of).
			WithHint("%s%s has the same elements with subscripts from 1.", sqltext.Ident(name),
				strings.Repeat("[:]", len(odd.Shape)))
	case 'e':
		return sqlerr.New(sqlerr.DataException, "%s is empty", of).WithHint("A chunk has at least one " +
			"element. The row may be left out, or hold NULL if it is no parameter.")
	}
	return sqlerr.New(sqlerr.ArraySubscript, "%s has shape %v, one before it has shape %v", of, odd.Shape, want).
		WithDetail("All chunks of a column have one shape.")
}

// named gives a column a named type.
func named(v *column.Column, of *kernels.Named) *column.Column {
	t := v.Type()
	t.Of = of
	return v.As(t)
}

// numeric converts a column of numeric, which arrives as text, to double precision.
func numeric(v *column.Column) (*column.Column, error) {
	t := kernels.Type{Kind: kernels.Float64, Nullable: v.Type().Nullable}
	out := column.New(t, v.Len())
	out.SetValid(v.Valid())
	for i, s := range v.Texts() {
		if v.IsNull(i) {
			continue
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, sqlerr.New(sqlerr.NumericOutOfRange, "%s is out of the range of double precision", s)
		}
		out.F64()[i] = x
		if len(strings.Trim(strings.NewReplacer(".", "", "-", "").Replace(s), "0")) > maxDigits {
			t.Of = longNumeric
		}
	}
	if t.Of == nil {
		t.Of = shortNumeric()
	}
	out.SetType(t)
	return out, nil
}
