package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// streamed is the call of delta_table() whose rows, or those of which comparisons with constants hold, are those of a
// query, one for one; nil where there is none.
func streamed(q *ast.Select) *ast.FuncFrom {
	if len(q.From) != 1 || len(q.With)+len(q.GroupBy)+len(q.DistinctOn)+len(q.Windows)+len(q.OrderBy) > 0 ||
		q.SetOp != "" || q.Own != nil || q.Distinct || q.Having != nil || q.Limit != nil ||
		q.Offset != nil {
		return nil
	}
	it, ok := q.From[0].(*ast.FuncFrom)
	if !ok || it.Func.Name != "delta_table" || !builtIn(it.Func) || it.Ordinality || it.Lateral || !ast.Compares(q, it) {
		return nil
	}
	for _, t := range q.Targets {
		if hasSubLink(t.X) || ast.Any(t.X, func(c *ast.FuncCall) bool { return c.Over != nil || isAggregate(c) }) {
			return nil
		}
	}
	return it
}

// streamedRows are the rows of a step of a table that is read as the steps need it.
func streamedRows(b *binder, t *Batch) *relation {
	t.Used = true
	if b.batch == nil {
		step := b.b.Opaque(&OpaqueQuery{Types: t.Types, Rows: t.Rows}, "rows of the step", t.Cols)
		step.PerStep, step.Rows = true, t.Size
		r := &relation{node: step}
		for i, c := range t.Cols {
			r.names, r.cols = append(r.names, c.Name), append(r.cols, step.Cols[i].ID)
			r.classes = append(r.classes, classOf[t.Types[i]])
		}
		b.batch = r
	}
	return b.batch
}

// unstreamed refuses a view whose rows should be read as the steps need them if the store runs its query, which would
// read the whole table.
func unstreamed(b *binder, v *View, r *relation) error {
	t := b.opt.Batch
	if t == nil || t.Streamed == nil || t.Schema != v.Schema || t.Name != v.Name {
		return nil
	}
	found := false
	ra.Walk(func(n *ra.Node) { found = found || b.batch != nil && n == b.batch.node }, r.node)
	if found {
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "the batch %q computes what a loss cannot", v.Name).
		WithDetail("The store would compute it, of the whole table in memory.").
		WithHint("Its view may have columns of delta_table(), and expressions that a loss may have.")
}
