package board

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/tensor"
)

// mostElements bounds the numbers of a column that are read for its histogram.
const mostElements = 2 << 20

// bins is how many a histogram has.
const bins = 48

// measures describe the numbers of a parameter's column as they are stored now.
type measures struct {
	Name     string  `json:"name"`
	Rows     int64   `json:"rows"`
	Read     int64   `json:"read"` // the rows that were read; fewer than Rows of a large table
	Elements int64   `json:"elements"`
	NoNumber int64   `json:"noNumber"` // NULL, NaN and infinities, which are not counted below
	Norm     figure  `json:"norm"`     // the square root of the sum of squares
	Mean     figure  `json:"mean"`
	Spread   figure  `json:"spread"` // the standard deviation
	Least    figure  `json:"least"`
	Most     figure  `json:"most"`
	Counts   []int64 `json:"counts"` // by bin, from least to most
	Zeros    int64   `json:"zeros"`
}

// parameters measures the parameters of a run.
func (b *Board) parameters(r *http.Request) (any, error) {
	id, err := numbers(r, "run", 1)
	if err != nil {
		return nil, err
	}
	out := []*measures{}
	err = b.plans.use(r.Context(), func(s *Session) error {
		of, err := s.open(r.Context(), id[0])
		if err != nil {
			return err
		}
		defer of.back()
		p, err := s.Picture(r.Context(), of.loss, of.params, "ra", "", 0)
		if err != nil {
			return err
		}
		for _, t := range p.Tables {
			for _, col := range t.Columns {
				m, err := measure(r.Context(), s, t, col)
				if err != nil {
					return err
				}
				out = append(out, m)
			}
		}
		return nil
	})
	return out, err
}

// measure reads a column: as many rows as hold mostElements numbers.
func measure(ctx context.Context, s *Session, t engine.PictureTable, col string) (*measures, error) {
	table := sqltext.Name(t.Schema, t.Name)
	m := &measures{Name: t.Name + "." + col}
	res, err := s.RunSQL(ctx, "SELECT count(*) FROM "+table)
	if err != nil {
		return nil, err
	}
	m.Rows, _ = res.Rows[0][0].(int64)
	if res, err = s.RunSQL(ctx, "SELECT "+sqltext.Ident(col)+" FROM "+table+" LIMIT 1"); err != nil {
		return nil, err
	}
	each := 1
	if len(res.Rows) > 0 {
		if x, ok := res.Rows[0][0].(*tensor.Tensor); ok && x != nil {
			each = max(1, len(x.Data))
		}
	}
	if res, err = s.RunSQL(ctx, fmt.Sprintf("SELECT %s FROM %s LIMIT %d", sqltext.Ident(col), table,
		max(1, mostElements/each))); err != nil {
		return nil, err
	}
	var all []float64
	for _, row := range res.Rows {
		switch x := row[0].(type) {
		case float64:
			all = append(all, x)
		case float32:
			all = append(all, float64(x))
		case *tensor.Tensor:
			if x == nil {
				m.NoNumber++
				continue
			}
			all = append(all, x.Data...)
		case nil:
			m.NoNumber++
		default:
			return nil, sqlerr.Broken("board", "column %s holds %T", m.Name, x)
		}
	}
	m.Read = int64(len(res.Rows))
	m.sum(all)
	return m, nil
}

// sum computes the figures of some numbers. Squares are of numbers at most 1 in size, so that none overflows.
func (m *measures) sum(all []float64) {
	m.Elements = int64(len(all))
	all = slices.DeleteFunc(all, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	m.NoNumber += m.Elements - int64(len(all))
	m.Counts = make([]int64, bins)
	if len(all) == 0 {
		m.Mean, m.Spread, m.Least, m.Most = figure(math.NaN()), figure(math.NaN()), figure(math.NaN()), figure(math.NaN())
		return
	}
	least, most := slices.Min(all), slices.Max(all)
	scale := max(math.Abs(least), math.Abs(most), math.SmallestNonzeroFloat64)
	n, mean, squares, off := float64(len(all)), 0.0, 0.0, 0.0
	for _, x := range all {
		mean += x / scale / n
		squares += (x / scale) * (x / scale)
		if x == 0 {
			m.Zeros++
		}
	}
	for _, x := range all {
		off += (x/scale - mean) * (x/scale - mean)
	}
	m.Norm, m.Mean, m.Spread = figure(scale*math.Sqrt(squares)), figure(scale*mean), figure(scale*math.Sqrt(off/n))
	m.Least, m.Most = figure(least), figure(most)
	for _, x := range all {
		at := 0
		if width := most/scale - least/scale; width > 0 {
			at = min(bins-1, int(float64(bins)*(x/scale-least/scale)/width))
		}
		m.Counts[at]++
	}
}
