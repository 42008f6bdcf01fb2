package gradtest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// Optimize binds a loss and runs the whole optimizer on it and its gradients.
func Optimize(ctx context.Context, db bind.Catalog, loss string, params []string,
	opt optimizer.Options) (*optimizer.Result, error) {
	return OptimizeWith(ctx, ra.NewBuilder(), db, loss, params, opt)
}

// OptimizeWith is Optimize with a builder of its own.
func OptimizeWith(ctx context.Context, b *ra.Builder, db bind.Catalog, loss string, params []string,
	opt optimizer.Options) (*optimizer.Result, error) {
	var refs []bind.ParamRef
	var ps []optimizer.Param
	for _, p := range params {
		ref, t, err := bind.ParseParam(ctx, db, p)
		if err != nil {
			return nil, err
		}
		q := optimizer.Param{Table: t}
		if ref.Column != "" {
			q.Cols = []int{t.Column(ref.Column)}
		}
		refs, ps = append(refs, ref), append(ps, q)
	}
	q, err := bind.BindLoss(ctx, db, b, loss, bind.BindOptions{Params: refs, Draw: true})
	if err != nil {
		return nil, err
	}
	return optimizer.Gradient(ctx, b, q.Node, q.Cols[:1], ps, opt)
}

// Rows evaluates a root with the oracle and returns its wanted columns as sorted text keys with their values:
// non-float columns identify, floats are compared.
func Rows(ctx context.Context, src ra.Source, env *kernels.Env, r ra.Root) (map[string][]float64, error) {
	rows, err := interp.New(src, env).Eval(ctx, r.Node)
	if err != nil {
		return nil, err
	}
	wanted := make([]interp.Row, len(rows))
	for i, row := range rows {
		for _, id := range r.Cols {
			wanted[i] = append(wanted[i], row[r.Node.Index(id)])
		}
	}
	return Keyed(wanted), nil
}

// Keyed gives rows as Compare wants them: columns that are not valid floats form the key.
func Keyed(rows []interp.Row) map[string][]float64 {
	out := map[string][]float64{}
	for _, row := range rows {
		k, vals := "", []float64(nil)
		for _, v := range row {
			if v.Type.IsFloat() && !v.Null {
				vals = append(vals, v.Floats()...)
			} else {
				k += v.String() + "|"
			}
		}
		for out[k] != nil {
			k += "+"
		}
		out[k] = append(vals, 0)
	}
	return out
}

// Compare reports the first difference between two results beyond a relative tolerance.
func Compare(a, b map[string][]float64, tol float64) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d rows against %d", len(a), len(b))
	}
	keys := slices.Sorted(maps.Keys(a))
	for _, k := range keys {
		x, y := a[k], b[k]
		if len(x) != len(y) {
			return fmt.Errorf("row %s: %d values against %d", k, len(x), len(y))
		}
		for i := range x {
			if d := math.Abs(x[i] - y[i]); !(d <= tol*math.Max(1, math.Max(math.Abs(x[i]), math.Abs(y[i])))) &&
				!(math.IsNaN(x[i]) && math.IsNaN(y[i])) && x[i] != y[i] {
				return fmt.Errorf("row %s value %d: %.12g against %.12g", k, i, x[i], y[i])
			}
		}
	}
	return nil
}

// VectorRows brings an engine's result into the form of Rows.
func VectorRows(cols []*column.Column) map[string][]float64 {
	rows := make([]interp.Row, cols[0].Len())
	for i := range rows {
		for _, c := range cols {
			rows[i] = append(rows[i], c.Value(i))
		}
	}
	return Keyed(rows)
}
