package views

import (
	"context"
	"math"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/store"
)

// heavyRows is the number of stored rows from which a view over chunks gets a program of its own, unless DB.ViewRows is
// set. rowElements numbers of a chunk count as a row, since a few blocks of a matrix are as much work as many vectors.
const (
	heavyRows   = 1000
	rowElements = 64
)

// Views runs views of a store on an engine.
type Views struct {
	Store  *store.DB
	Engine *engine.Engine
	Rows   int64 // DB.ViewRows
}

// View implements bind.ViewEngine. Views that aggregate many chunks run on the executor, also in ordinary statements,
// with a program from the session's cache. The statement expands all others: those that the engine cannot bind, and
// those whose rows might differ in the store (see exact).
func (db Views) View(ctx context.Context, v *catalog.ViewDef) (*catalog.Relation, bool, error) {
	if db.Rows < 0 {
		return nil, false, nil
	}
	prog, ok := db.Program(ctx, v)
	if !ok {
		return nil, false, nil
	}
	if err := prog.Run(ctx, kernels.Env{}); err != nil {
		return nil, false, err
	}
	cols, err := prog.View(0) // the store copies them before anything else runs
	if err != nil || len(cols) != len(v.Cols) {
		return nil, false, err
	}
	out := &catalog.Relation{Cols: cols}
	for i, col := range v.Cols {
		if !fits(cols[i].Type(), col.Type) || !finite(cols[i]) {
			return nil, false, nil
		}
		out.Names, out.Types = append(out.Names, col.Name), append(out.Types, col.Type.String())
	}
	return out, true, nil
}

// Program returns the program of a view; ok is false where the store computes it.
func (db Views) Program(ctx context.Context, v *catalog.ViewDef) (_ *executor.Program, ok bool) {
	return db.Engine.KeptView(ctx, v, func() (*ra.Plan, error) { return db.plan(ctx, v) })
}

// fits reports whether a column of the program has the view's declared type.
func fits(t kernels.Type, want catalog.Type) bool {
	kinds := map[string]kernels.Kind{"smallint": kernels.Int, "integer": kernels.Int, "bigint": kernels.Int,
		"real":             kernels.Float32,
		"double precision": kernels.Float64, "boolean": kernels.Bool, "text": kernels.Text}
	k, ok := kinds[want.Name]
	return ok && k == t.Kind && want.Array == (t.Shape != nil)
}

// finite reports whether all scalar floats of a column are finite; for others the store may raise an error.
func finite(v *column.Column) bool {
	if v.Type().Shape != nil {
		return true
	}
	for i := range v.Len() {
		if x := vectorAt(v, i); !v.IsNull(i) && (math.IsNaN(x) || math.IsInf(x, 0)) {
			return false
		}
	}
	return true
}

func vectorAt(v *column.Column, i int) float64 {
	switch {
	case v.Kind() == column.F64:
		return v.F64()[i]
	case v.Kind() == column.F32:
		return float64(v.F32()[i])
	}
	return 0
}

// plan binds and optimizes a view; nil: the store must run it. Chunks count as parameters, so that new values are
// reloaded and the structure stays, unless a condition reads them: then they are structure.
func (db Views) plan(ctx context.Context, v *catalog.ViewDef) (*ra.Plan, error) {
	t, err := db.Store.Typed(ctx, v)
	if err != nil || !exact(t) {
		return nil, err
	}
	def, err := db.Engine.Catalogue.View(ctx, nil, v.Schema, v.Name)
	if err != nil || def == nil {
		return nil, err
	}
	b := ra.NewBuilder()
	q, err := bind.Bind(ctx, db.Engine.Catalogue, b, def.Query, def.Text, bind.BindOptions{})
	if err != nil || !db.heavy(q) || !exactKeys(q) {
		return nil, err
	}
	again := ra.NewBuilder()
	if p, err := bind.Bind(ctx, db.Engine.Catalogue, again, def.Query, def.Text,
		bind.BindOptions{Params: chunks(q)}); err == nil && !p.Masks {
		b, q = again, p
	}
	root, err := autodiff.Expand(ctx, b, q.Node)
	if err != nil {
		return nil, err
	}
	plan := &ra.Plan{Roots: []ra.Root{{Name: v.Name, Node: root, Cols: q.Cols}}}
	plan, _, err = optimizer.Whole(ctx, b, plan, optimizer.Options{Disable: db.Engine.Disable})
	return plan, err
}

// chunks lists the chunk columns that a query's tables have outside their keys.
func chunks(q *bind.Query) []bind.ParamRef {
	var out []bind.ParamRef
	for _, s := range q.Scans {
		for i, c := range s.Table.Cols {
			if c.NoType == "" && c.Type.IsChunk() && !engine.IsKey(s.Table, i) {
				out = append(out, bind.ParamRef{Schema: s.Table.Schema, Table: s.Table.Name, Column: c.Name})
			}
		}
	}
	return out
}

// heavy reports whether a query sums over many rows, or large ones, and reads chunks. A query with sub-queries that the
// store runs is not taken, since they would run twice.
func (db Views) heavy(q *bind.Query) bool {
	rows, sums, least := int64(0), false, int64(heavyRows)
	if db.Rows > 0 {
		least = db.Rows
	}
	for _, s := range q.Scans {
		elements := 0
		for _, c := range s.Table.Cols {
			if c.NoType == "" && c.Type.IsChunk() {
				elements += c.Type.Shape.Size()
			}
		}
		rows += s.Table.Rows * int64(max(elements/rowElements, 1))
	}
	ra.Walk(func(n *ra.Node) { sums = sums || n.Op == ra.Aggregate }, q.Node)
	return rows >= least && sums && len(chunks(q)) > 0 && !q.Draws && len(bind.Opaques(q.Node)) == 0
}
