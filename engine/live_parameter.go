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
func (l *Live) Hash(f32 []float32, f64 []float64, null func(row int) bool) uint64 {
	h := uint64(1)
	mix := func(x uint64) { h = bits.RotateLeft64((h^x)*0x9e3779b97f4a7c15, 29) }
	for row := range l.Rows {
		if null(row) {
			mix(uint64(row)<<1 | 1)
			continue
		}
		at, to := row*l.Param.Size, (row+1)*l.Param.Size
		if f32 != nil {
			for _, x := range f32[at:to] {
				mix(uint64(math.Float32bits(x)))
			}
			continue
		}
		for _, x := range f64[at:to] {
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

// Write stores the live buffer.
func (c *Catalogue) Write(ctx context.Context, l *Live) error {
	v := l.Param.Column().As(l.Table.Cols[l.Col].Type)
	return c.db.Write(ctx, l.Table, l.Col, l.Rows, l.Keys, v)
}
