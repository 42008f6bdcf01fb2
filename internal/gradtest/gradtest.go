// Package gradtest checks gradients of SQL losses against central differences of the oracle.
//
// # What
//
// Bind differentiates a loss over a test database. The checks compare its gradients with differences of the oracle's
// losses, with the optimized plan and with the executor.
//
// # Invariants
//
// The differences never use what is under test to compute the loss.
//
// # Errors
//
// A disagreement names the loss, the parameter, the row and both numbers.
//
// # Where to add
//
// A loss is one entry of the list in losses.go.
package gradtest

import (
	"context"
	"fmt"
	"math"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// Bound is a loss with its gradients, not optimized.
type Bound struct {
	Loss         *ra.Node
	LossCol      ra.ColumnID
	Params       []*ra.Table
	Scans, Grads []*ra.Node
}

// Bind binds a loss over db and differentiates it.
func Bind(ctx context.Context, db bind.Catalog, loss string, params []string) (*Bound, error) {
	return BindWith(ctx, ra.NewBuilder(), db, loss, params)
}

// BindWith is Bind with a builder of its own.
func BindWith(ctx context.Context, b *ra.Builder, db bind.Catalog, loss string, params []string) (*Bound, error) {
	var refs []bind.ParamRef
	out := &Bound{}
	for _, p := range params {
		ref, t, err := bind.ParseParam(ctx, db, p)
		if err != nil {
			return nil, err
		}
		refs, out.Params = append(refs, ref), append(out.Params, t)
	}
	q, err := bind.BindLoss(ctx, db, b, loss, bind.BindOptions{Params: refs, Draw: true})
	if err != nil {
		return nil, err
	}
	if err := ra.ValidateForward(q.Node); err != nil {
		return nil, err
	}
	if out.Loss, err = autodiff.Expand(ctx, b, q.Node); err != nil {
		return nil, err
	}
	out.LossCol = q.Cols[0]
	var ps []autodiff.Param
	for i, t := range out.Params {
		scan := q.ScanOf(t)
		if scan == nil {
			return nil, fmt.Errorf("gradtest: %s is not scanned", t.Name)
		}
		p := autodiff.Param{Scan: scan}
		if c := refs[i].Column; c != "" {
			p.Cols = []ra.ColumnID{scan.Cols[t.Column(c)].ID}
		}
		ps, out.Scans = append(ps, p), append(out.Scans, scan)
	}
	if out.Grads, err = autodiff.Differentiate(ctx, b, out.Loss, out.LossCol, ps); err != nil {
		return nil, err
	}
	return out, ra.Validate(append([]*ra.Node{out.Loss}, out.Grads...)...)
}

// Eval evaluates the loss with the oracle.
func (b *Bound) Eval(ctx context.Context, src ra.Source, env *kernels.Env) (float64, error) {
	rows, err := interp.New(src, env).Eval(ctx, b.Loss)
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 {
		return 0, fmt.Errorf("gradtest: the loss has %d rows", len(rows))
	}
	v := rows[0][b.Loss.Index(b.LossCol)]
	if v.Null {
		return 0, fmt.Errorf("gradtest: the loss is NULL")
	}
	return v.Float(), nil
}

// Check compares every element of every gradient with central differences; tol is relative to the larger of 1
// and the values' size. It returns a description of the first disagreement.
func (b *Bound) Check(ctx context.Context, db *memdb.DB, env *kernels.Env, tol float64) error {
	in := interp.New(db, env)
	for p, t := range b.Params {
		rows, err := in.Eval(ctx, b.Grads[p])
		if err != nil {
			return err
		}
		got, err := index(t, b.Scans[p], rows)
		if err != nil {
			return err
		}
		for c, col := range t.Cols {
			if b.Scans[p].Cols[b.pos(p, c)].Dep {
				if err := b.checkColumn(ctx, db, env, t, c, col, b.pos(p, c), got, tol); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *Bound) pos(p, col int) int {
	for i, c := range b.Scans[p].TableCols {
		if c == col {
			return i
		}
	}
	return -1
}

func index(t *ra.Table, scan *ra.Node, rows []interp.Row) (map[string]interp.Row, error) {
	out := map[string]interp.Row{}
	for _, r := range rows {
		k := ""
		for _, id := range scan.Key {
			k += r[scan.Index(id)].String() + "|"
		}
		if out[k] != nil {
			return nil, fmt.Errorf("gradtest: gradient of %s has key %s twice", t.Name, k)
		}
		out[k] = r
		for i, c := range scan.Cols {
			if c.Dep && r[i].Null {
				return nil, fmt.Errorf("gradtest: gradient of %s holds NULL at %s", t.Name, k)
			}
		}
	}
	return out, nil
}

func (b *Bound) checkColumn(ctx context.Context, db *memdb.DB, env *kernels.Env, t *ra.Table, c int, col ra.TableColumn,
	pos int, got map[string]interp.Row, tol float64) error {
	v := db.Data[t.Name][c]
	size := v.Size()
	for row := range v.Len() {
		if v.IsNull(row) {
			continue
		}
		k := ""
		for _, kc := range t.Key {
			k += db.Data[t.Name][kc].Value(row).String() + "|"
		}
		for e := range size {
			numeric, err := b.central(ctx, db, env, t.Name, c, row*size+e)
			if err != nil {
				return err
			}
			analytic := 0.0
			if r := got[k]; r != nil {
				analytic = r[pos].Floats()[e]
			}
			if d := math.Abs(numeric - analytic); !(d <= tol*math.Max(1, math.Max(math.Abs(numeric), math.Abs(analytic)))) {
				return fmt.Errorf("gradtest: %s.%s at %s element %d: analytic %.10g, numeric %.10g", t.Name, col.Name,
					k, e, analytic, numeric)
			}
		}
	}
	return nil
}

// central is the central difference in one element, in float64, by Richardson extrapolation over two widths.
func (b *Bound) central(ctx context.Context, db *memdb.DB, env *kernels.Env, table string, col,
	at int) (float64, error) {
	diff := func(h float64) (float64, error) {
		var f [2]float64
		for i, step := range []float64{h, -h} {
			c := db.Clone()
			c.Data[table][col].F64()[at] += step
			x, err := b.Eval(ctx, c, env)
			if err != nil {
				return 0, err
			}
			f[i] = x
		}
		return (f[0] - f[1]) / (2 * h), nil
	}
	a, err := diff(2e-4)
	if err != nil {
		return 0, err
	}
	c, err := diff(1e-4)
	return (4*c - a) / 3, err
}
