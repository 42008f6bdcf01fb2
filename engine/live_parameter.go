package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/ra"
)

// Hash is a hash of a column's content. It includes which rows are NULL, but not the numbers stored there.
func Hash(v *column.Column) uint64 {
	h, size := uint64(1), v.Size()
	mix := func(x uint64) { h = bits.RotateLeft64((h^x)*0x9e3779b97f4a7c15, 29) }
	for row := range v.Len() {
		if v.IsNull(row) {
			mix(uint64(row)<<1 | 1)
			continue
		}
		at, to := row*size, (row+1)*size
		if v.Kind() == column.F32 {
			for _, x := range v.F32()[at:to] {
				mix(uint64(math.Float32bits(x)))
			}
			continue
		}
		for _, x := range v.F64()[at:to] {
			mix(math.Float64bits(x))
		}
	}
	return h
}

// Live is a parameter's column with what storing it needs, and the keys that name its rows.
type Live struct {
	Table *ra.Table
	Col   int
	Param *executor.Param
	Rows  []int64          // hidden row ids in the order of the buffer
	Keys  []*column.Column // identity columns
	Sum   uint64           // hash of the stored content
}

func (c *Catalogue) Live(ctx context.Context, t *ra.Table, col int, p *executor.Param) (*Live, error) {
	data, err := c.db.Read(ctx, t, append([]int{ra.RowID}, t.Key...))
	if err != nil {
		return nil, err
	}
	if data[0].Len() != p.Rows {
		return nil, errors.New("relgrad: the parameter's rows changed while it was compiled")
	}
	return &Live{Table: t, Col: col, Param: p, Rows: data[0].I64(), Keys: data[1:]}, nil
}

func (l *Live) Object() Object { return Object{Schema: l.Table.Schema, Table: l.Table.Name} }

// Key prints the identity of a row.
func (l *Live) Key(row int) string {
	parts := make([]string, len(l.Keys))
	for i, k := range l.Keys {
		parts[i] = fmt.Sprintf("%s = %s", l.Table.Cols[l.Table.Key[i]].Name, k.Value(row))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Values are the column's present values, until the next step.
func (l *Live) Values() (*column.Column, error) {
	v, err := l.Param.Values()
	if err != nil {
		return nil, err
	}
	return v.As(l.Table.Cols[l.Col].Type), nil
}

// Write stores the live buffer.
func (c *Catalogue) Write(ctx context.Context, l *Live) error {
	v, err := l.Values()
	if err != nil {
		return err
	}
	return c.db.Write(ctx, l.Table, l.Col, l.Rows, l.Keys, v)
}
