package digits

import (
	"context"
	"fmt"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// Engine runs a plan over tables: the rows of each root.
type Engine func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error)

// On is the Runner of an engine: a table of the arguments, and a query that computes all expressions for each row.
func On(run Engine) Runner {
	return func(c *Case) ([][][]float64, error) {
		db, plan := c.plan()
		roots, err := run(context.Background(), db, plan, &kernels.Env{})
		if err != nil {
			return nil, err
		}
		out := make([][][]float64, len(c.Rows))
		for _, r := range roots[0] {
			for _, v := range r[1:] {
				out[r[0].I] = append(out[r[0].I], v.Floats())
			}
		}
		for row := range out {
			if len(out[row]) != len(c.Exprs) {
				return nil, fmt.Errorf("row %d has %d results, not %d", row, len(out[row]), len(c.Exprs))
			}
		}
		return out, nil
	}
}

func (c *Case) plan() (*memdb.DB, *ra.Plan) {
	id := column.New(kernels.Type{Kind: kernels.Int}, len(c.Rows))
	for i := range id.I64() {
		id.I64()[i] = int64(i)
	}
	cols := []memdb.Column{{Name: "id", Data: id}}
	for k, v := range c.Rows[0] {
		data := column.New(v.Type, len(c.Rows))
		for i, row := range c.Rows {
			n := v.Type.Size()
			for j, x := range row[k].Floats() {
				switch {
				case data.Kind() == column.I64:
					data.I64()[i] = row[k].I
				case data.Kind() == column.F32:
					data.F32()[i*n+j] = float32(x)
				default:
					data.F64()[i*n+j] = x
				}
			}
		}
		cols = append(cols, memdb.Column{Name: fmt.Sprintf("x%d", k+1), Data: data})
	}
	db, b := memdb.New(), ra.NewBuilder()
	scan := b.Scan(db.Create("t", 1, cols...), func(int) bool { return true })
	out := []ra.OutCol{{Name: "id", X: scan.Var(0, scan.Cols[0].ID)}}
	for i, e := range c.Exprs {
		x := e.MapCols(func(x *kernels.Expr) *kernels.Expr { return scan.Var(0, scan.Cols[x.Col.ID].ID) })
		out = append(out, ra.OutCol{Name: fmt.Sprintf("y%d", i), X: x})
	}
	n := b.Select(scan, nil, out)
	root := ra.Root{Name: "digits", Node: n}
	for _, col := range n.Cols {
		root.Cols = append(root.Cols, col.ID)
	}
	return db, &ra.Plan{Roots: []ra.Root{root}}
}
