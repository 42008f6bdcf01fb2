package layouts

import (
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// rowSink takes rows in the order of the layout's columns.
type rowSink interface {
	Write(row []any) error
	WriteColumns(n int, columns []any) error
}

// placed gives rows to a transaction, whose table may have other columns and another order.
type placed struct {
	tx    *delta.Tx
	place []int
	rest  []any
}

func (p *placed) Write(row []any) error { return p.tx.Write(p.placed(row, nil)) }

func (p *placed) WriteColumns(n int, columns []any) error {
	if p.tx.Partitioned() {
		return byRows(n, columns, p.Write)
	}
	return p.tx.WriteColumns(n, p.placed(columns, interop.ColumnOf{}))
}

func (p *placed) placed(values []any, rest any) []any {
	for i := range p.rest {
		p.rest[i] = rest
	}
	for k, v := range values {
		p.rest[p.place[k]] = v
	}
	return p.rest
}

// byRows gives columns to a function that takes rows.
func byRows(n int, columns []any, row func(values []any) error) error {
	values := make([]any, len(columns))
	for i := range n {
		for k, c := range columns {
			switch x := c.(type) {
			case interop.ColumnOf:
				values[k] = x.Value
			case []int64:
				values[k] = x[i]
			case []float32:
				values[k] = x[i]
			case []float64:
				values[k] = x[i]
			}
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return nil
}
