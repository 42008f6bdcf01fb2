package relgrad

import (
	"context"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront"
	"github.com/relgrad/relgrad/store"
)

// heavyRows is the number of stored rows from which a view over chunks is worth a program of its own.
const heavyRows = 1000

// View implements store.ViewEngine: views that aggregate many chunks run on the executor also in ordinary
// statements, from the session's cache. Everything else, and whatever the engine cannot bind, the statement
// expands.
func (f *functions) View(ctx context.Context, v *store.ViewDef) (*store.Relation, bool, error) {
	for _, c := range v.Cols {
		if t := c.Type; t.Name == "numeric" || t.Array && t.Name != "real" && t.Name != "double precision" {
			return nil, false, nil
		}
		switch c.Type.Name {
		case "smallint", "integer", "bigint", "real", "double precision", "boolean", "text":
		default:
			return nil, false, nil
		}
	}
	c, ok := f.db.viewProgram(ctx, v)
	if !ok {
		return nil, false, nil
	}
	if err := c.prog.Run(ctx, kernels.Env{}); err != nil {
		return nil, false, err
	}
	cols, err := c.prog.Result(0)
	if err != nil || len(cols) != len(v.Cols) {
		return nil, false, err
	}
	out := &store.Relation{Cols: cols}
	for i, col := range v.Cols {
		if !fits(cols[i].Type, col.Type) {
			return nil, false, nil
		}
		out.Names, out.Types = append(out.Names, col.Name), append(out.Types, col.Type.String())
	}
	return out, true, nil
}

// fits reports whether an engine's column has the view's declared type.
func fits(t kernels.Type, want store.Type) bool {
	kinds := map[string]kernels.Kind{"smallint": kernels.Int, "integer": kernels.Int, "bigint": kernels.Int, "real": kernels.Float32,
		"double precision": kernels.Float64, "boolean": kernels.Bool, "text": kernels.Text}
	return kinds[want.Name] == t.Kind && want.Array == (t.Shape != nil)
}

// viewProgram returns the compiled view, from the cache where it stands; ok is false where the engine does not
// run it, which the cache remembers too.
func (db *DB) viewProgram(ctx context.Context, v *store.ViewDef) (*compiled, bool) {
	key := "\x00view " + v.Schema + "." + v.Name
	if e := db.cache.find(key); e != nil {
		if db.fresh(ctx, e) {
			return e.c, e.c.prog != nil
		}
		db.cache.drop(e)
	}
	c := &compiled{}
	e := &cached{key: key, c: c}
	var err error
	e.names, e.settings, err = db.cat.notes(func() error {
		plan, err := db.viewPlan(ctx, v)
		if err == nil && plan != nil {
			c.res = &optimizer.Result{Plan: plan}
			c.prog, err = executor.Compile(ctx, plan, db.cat, executor.Options{Workers: db.Workers})
		}
		return err
	})
	if err != nil {
		c.prog = nil
	}
	if err := db.remember(e); err != nil {
		return nil, false
	}
	return c, c.prog != nil
}

// viewPlan binds and optimizes a view; nil where it is not worth it. Tables with chunks count as parameters,
// so that new values are reloaded and the structure stays.
func (db *DB) viewPlan(ctx context.Context, v *store.ViewDef) (*ra.Plan, error) {
	def, err := db.cat.View(ctx, nil, v.Schema, v.Name)
	if err != nil || def == nil || len(def.Query.OrderBy) > 0 { // the engine's rows have no order
		return nil, err
	}
	b := ra.NewBuilder()
	q, err := sqlfront.Bind(ctx, db.cat, b, def.Query, def.Text, sqlfront.BindOptions{})
	if err != nil || !heavy(q) {
		return nil, err
	}
	var opt sqlfront.BindOptions
	for _, s := range q.Scans {
		if ref := (sqlfront.ParamRef{Schema: s.Table.Schema, Table: s.Table.Name}); hasChunks(s.Table) {
			opt.Params = append(opt.Params, ref)
		}
	}
	if len(opt.Params) > 0 {
		again := ra.NewBuilder()
		if p, err := sqlfront.Bind(ctx, db.cat, again, def.Query, def.Text, opt); err == nil {
			b, q = again, p
		}
	}
	root, err := autodiff.Expand(b, q.Node)
	if err != nil {
		return nil, err
	}
	plan := &ra.Plan{Roots: []ra.Root{{Name: v.Name, Node: root, Cols: q.Cols}}}
	plan, _, err = optimizer.Whole(b, plan, optimizer.Options{Disable: db.Disable})
	return plan, err
}

func hasChunks(t *ra.Table) bool {
	for i, c := range t.Cols {
		if c.NoType == "" && c.Type.IsChunk() && !isKey(t, i) {
			return true
		}
	}
	return false
}

// heavy reports whether a query sums over many stored rows and reads chunks. One that runs sub-queries in the
// store is not taken: they would be run twice.
func heavy(q *sqlfront.Query) bool {
	rows, chunks, sums := int64(0), false, false
	for _, s := range q.Scans {
		rows += s.Table.Rows
		chunks = chunks || hasChunks(s.Table)
	}
	ra.Walk(func(n *ra.Node) { sums = sums || n.Op == ra.Aggregate }, q.Node)
	return rows >= heavyRows && chunks && sums && !q.Draws && len(sqlfront.Opaques(q.Node)) == 0
}
