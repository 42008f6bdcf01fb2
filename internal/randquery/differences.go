package randquery

import (
	"context"
	"fmt"
	"math"
	"math/rand"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// direction moves one column of a parameter: element i by d[i] per unit of step.
type direction struct {
	param, col int // col is a column of the table
	d          []float64
}

// tolerance of analytic derivatives against central differences, relative to the sizes involved.
const tolerance = 1e-6

// differences compares gradients with central differences of the oracle's loss: along one random direction
// per value column, which reads every element, and for some single elements.
func (c *Checker) differences(ctx context.Context, cs *Case, want [][]interp.Row, r *rand.Rand) error {
	for p := range cs.Params {
		for col, tc := range cs.Params[p].Table.Cols {
			v := cs.DB.Data[cs.Params[p].Table.Name][col]
			if !cs.active(p, col) || tc.NoType != "" || len(v.F64()) == 0 {
				continue
			}
			all := make([]float64, len(v.F64()))
			for i := range all {
				all[i] = r.NormFloat64()
			}
			dirs := []direction{{p, col, all}}
			for range c.Elements {
				one := make([]float64, len(v.F64()))
				one[r.Intn(len(one))] = 1
				dirs = append(dirs, direction{p, col, one})
			}
			for _, d := range dirs {
				if err := c.difference(ctx, cs, want, d); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// difference compares the derivative along one direction. Where the loss has a kink within the steps, the
// comparison is skipped and counted.
func (c *Checker) difference(ctx context.Context, cs *Case, want [][]interp.Row, d direction) error {
	const h = 1e-4
	var f [5]float64
	for i, at := range []float64{-2, -1, 0, 1, 2} {
		if at == 0 {
			f[i] = want[0][0][0].Float()
			continue
		}
		x, err := cs.lossAt(ctx, d, at*h)
		if err != nil {
			return err
		}
		f[i] = x
	}
	wide, narrow := (f[4]-f[0])/(4*h), (f[3]-f[1])/(2*h)
	// the jump of the slope, without what a smooth function's curvature gives
	jump := 2*(f[3]-2*f[2]+f[1])/h - (f[4]-2*f[2]+f[0])/(2*h)
	numeric := (4*narrow - wide) / 3
	analytic := cs.along(want, d)
	if math.IsNaN(analytic) || math.IsInf(analytic, 0) {
		return fmt.Errorf("the gradient of %s is %v at a loss of %v", cs.Params[d.param].Table.Name, analytic, f[2])
	}
	scale := math.Max(math.Max(1, math.Abs(analytic)), 1e-4*math.Abs(f[2]))
	c.Stats.Differences++
	if !(math.Abs(wide-narrow) <= 1e-4*scale) || !(math.Abs(jump) <= 1e-5*scale) {
		c.Stats.Kinks++
		return nil
	}
	if !(math.Abs(numeric-analytic) <= tolerance*scale) {
		t := cs.Params[d.param].Table
		return fmt.Errorf("derivative of the loss by %s.%s along %v: analytic %.10g, numeric %.10g", t.Name,
			t.Cols[d.col].Name, d.d, analytic, numeric)
	}
	return nil
}

// lossAt is the loss as bound, with one column moved by step along the direction.
func (cs *Case) lossAt(ctx context.Context, d direction, step float64) (float64, error) {
	src := &moved{DB: cs.DB}
	src.move(cs.Params[d.param].Table.Name, d.col, func(i int) float64 { return step * d.d[i] })
	rows, err := evaluate(ctx, src, cs.Result.RA, env)
	if err != nil {
		return 0, err
	}
	if len(rows[0]) != 1 || rows[0][0][0].Null {
		return math.NaN(), nil // a mask flipped within the step
	}
	return rows[0][0][0].Float(), nil
}

// along is the analytic derivative along a direction. Elements of rows that the gradient lacks, and of NULLs,
// count as zero.
func (cs *Case) along(want [][]interp.Row, d direction) float64 {
	t := cs.Params[d.param].Table
	cols, v := cs.tableCols(d.param), cs.DB.Data[t.Name][d.col]
	grads := map[string]interp.Row{}
	for _, row := range want[d.param+1] {
		grads[rowKey(t, cols, row)] = row
	}
	at, sum := 0, 0.0
	for j, tc := range cols {
		if tc == d.col {
			at = j
		}
	}
	size := v.Size()
	for i := range v.Len() {
		g := grads[storedKey(t, cs.DB.Data[t.Name], i)]
		if g == nil {
			continue
		}
		for e, x := range g[at].Floats() {
			sum += x * d.d[i*size+e]
		}
	}
	return sum
}

func storedKey(t *ra.Table, vecs []*column.Column, row int) string {
	k := ""
	for _, kc := range t.Key {
		k += vecs[kc].Value(row).String() + "|"
	}
	return k
}
