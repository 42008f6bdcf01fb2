package optimizer

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/ra"
)

// Param names a parameter of Gradient: a table, and the columns by which the loss is differentiated; all value columns
// if Cols is nil.
type Param struct {
	Table *ra.Table
	Cols  []int
}

// Result is a differentiated, optimized query with its earlier forms.
type Result struct {
	Plan  *ra.Plan // root 0 the loss (its columns), then one root per parameter
	RA    *ra.Plan // the loss as bound, nested gradients expanded
	Grad  *ra.Plan // loss and gradients before optimization
	Fired map[string]int
	Cols  [][]int // per parameter: the table column of each column of its root
}

// Gradient expands nested gradients below loss, optimizes it, differentiates its first column with respect to params
// and optimizes the whole. Without params the plan is the loss alone, with all of cols.
func Gradient(ctx context.Context, b *ra.Builder, loss *ra.Node, cols []ra.ColumnID, params []Param,
	opt Options) (*Result, error) {
	expanded, err := autodiff.Expand(ctx, b, loss)
	if err != nil {
		return nil, err
	}
	out := &Result{RA: &ra.Plan{Roots: []ra.Root{{Name: "loss", Node: expanded, Cols: cols}}}}
	if out.Grad, _, err = differentiate(ctx, b, out.RA, params); err != nil {
		return nil, err
	}
	forward, fired, err := Forward(ctx, b, out.RA, opt)
	if err != nil {
		return nil, err
	}
	both, of, err := differentiate(ctx, b, forward, params)
	if err != nil {
		return nil, err
	}
	if out.Plan, out.Fired, err = Whole(ctx, b, both, opt); err != nil {
		return nil, err
	}
	for name, n := range fired {
		out.Fired[name] += n
	}
	out.Cols = of
	return out, nil
}

// differentiate adds one root for each parameter to the plan of a loss. It also returns the table columns of the roots'
// columns.
func differentiate(ctx context.Context, b *ra.Builder, p *ra.Plan, params []Param) (*ra.Plan, [][]int, error) {
	root := p.Roots[0]
	out := &ra.Plan{Roots: []ra.Root{root}}
	if len(params) == 0 {
		return out, nil, nil
	}
	var cols [][]int
	var ps []autodiff.Param
	scans := scansOf(p)
	for _, q := range params {
		ps = append(ps, autoParam(b, scans, q))
	}
	grads, err := autodiff.Differentiate(ctx, b, root.Node, root.Cols[0], ps)
	if err != nil {
		return nil, nil, err
	}
	for i, g := range grads {
		r := ra.Root{Name: params[i].Table.Name, Node: g}
		var of []int
		for j, c := range ps[i].Scan.TableCols {
			if shows(params, params[i].Table, c) {
				r.Cols, of = append(r.Cols, g.Cols[j].ID), append(of, c)
			}
		}
		out.Roots, cols = append(out.Roots, r), append(cols, of)
	}
	return out, cols, nil
}

// shows reports whether a gradient by columns of a table has a column of it: all but values by which there is none.
func shows(params []Param, t *ra.Table, col int) bool {
	if col == ra.RowID || !t.Cols[col].IsValue() || slices.Contains(t.Key, col) {
		return true
	}
	return slices.ContainsFunc(params, func(p Param) bool {
		return p.Table.Schema == t.Schema && p.Table.Name == t.Name && (p.Cols == nil || slices.Contains(p.Cols, col))
	})
}

// autoParam finds the parameter's scan. A table that the loss does not read gets a new scan, about which autodiff
// reports the error.
func autoParam(b *ra.Builder, scans map[tableName]*ra.Node, q Param) autodiff.Param {
	scan := scans[tableName{q.Table.Schema, q.Table.Name}]
	if scan == nil {
		scan = b.Scan(q.Table, func(int) bool { return true })
	}
	out := autodiff.Param{Scan: scan}
	for _, c := range q.Cols {
		for i, t := range scan.TableCols {
			if t == c {
				out.Cols = append(out.Cols, scan.Cols[i].ID)
			}
		}
	}
	return out
}

type tableName struct{ schema, name string }

// scansOf finds the scans of tables. If a table is both parameter and data, the parameter's scan is taken.
func scansOf(p *ra.Plan) map[tableName]*ra.Node {
	scans := map[tableName]*ra.Node{}
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan {
			return
		}
		of := tableName{n.Table.Schema, n.Table.Name}
		if scans[of] == nil || slices.ContainsFunc(n.Cols, func(c ra.Column) bool { return c.Dep }) {
			scans[of] = n
		}
	}, p.Nodes()...)
	return scans
}
