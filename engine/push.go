package engine

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlgen"
)

// A database with relgrad's functions can compute a gradient itself: the optimized plan goes to it as SQL text.

// Values of Engine.Mode.
const (
	ModeAuto  = "auto"  // the executor, unless its buffers exceed the memory
	ModeChunk = "chunk" // the executor
	ModeSQL   = "sql"   // the database
)

// pusher lets a database compute plans.
type pusher struct{ finder }

// Pushes reports whether the database computes a plan, and why.
func (db *pusher) Pushes(c *Compiled) (sql bool, why string) {
	if _, can := db.Database.(catalog.Pusher); !can {
		return false, "the embedded store has no kernels but the executor's"
	}
	switch db.Mode {
	case ModeSQL:
		return true, "relgrad.engine is sql"
	case ModeChunk:
		return false, "relgrad.engine is chunk"
	}
	if len(ra.Loops(c.Res.Plan.Nodes()...)) > 0 {
		return false, "a recursive query that reads a parameter has no text for the database"
	}
	if s, err := db.spreadOf(c); err == nil && s != nil {
		return false, fmt.Sprintf("rows of %d tables lie at %s: the engines there read them", len(s.parts),
			strings.Join(s.servers, ", "))
	}
	bytes := int64(0)
	for _, n := range c.query.Scans {
		for _, col := range n.Table.Cols {
			if col.Type.IsFloat() {
				bytes += n.Table.Rows * int64(col.Type.Size()) * int64(col.Type.Kind.DType().Size())
			}
		}
	}
	if budget := db.memory(); budget > 0 && bytes > budget/2 {
		return true, fmt.Sprintf("the tables' values are %d MB, more than half of the %d MB of relgrad.memory", bytes>>20,
			budget>>20)
	}
	return false, "the tables' values fit into the memory, and a step on buffers reads no rows"
}

// text prints a root of a plan for the database.
func (db *pusher) text(ctx context.Context, c *Compiled, root int, env kernels.Env) (string, error) {
	holds, err := db.Folded(ctx, c)
	if err != nil {
		return "", err
	}
	o := sqlgen.Options{Env: &env, Typed: db.Database.(catalog.Pusher).Captured(),
		Inexact: db.Database.(catalog.Pusher).Inexact(), Holds: append(db.Holding(c), holds...),
		Opaque: func(n *ra.Node) (string, error) { return db.RowsText(ctx, n, &env) }}
	if c.queries != nil { // two relations of what is left may have the same columns: at the site, and as they arrive
		return sqlgen.SQL(c.queries.Res.Plan, root, db.Dialect(), o)
	}
	return rootSQL(ctx, c.Res.Plan, root, db.Dialect(), o)
}

// Holding are conditions that the tables from which a plan was made still have the properties found in them. That
// includes tables that the plan no longer reads.
func (db *pusher) Holding(c *Compiled) (conds []string) {
	h := db.Database.(catalog.Pusher)
	for _, t := range c.Read {
		if c.queries != nil {
			if of, spread := c.queries.holding(t); spread {
				conds = append(conds, of...)
				continue
			}
		}
		if q := h.Planned(t); q != "" {
			conds = append(conds, h.HasChanged(q))
		}
	}
	if c.queries != nil {
		conds = append(conds, c.queries.site.Holding()...)
	}
	return conds
}

// Folded are conditions that the sub-queries whose rows have been folded into the plan still give these rows.
// Sub-queries that the plan still contains need none.
func (db *pusher) Folded(ctx context.Context, c *Compiled) (conds []string, err error) {
	inPlan := map[*bind.OpaqueQuery]bool{}
	for _, n := range bind.Opaques(c.Res.Plan.Nodes()...) {
		inPlan[n.Query.(*bind.OpaqueQuery)] = true
	}
	for _, d := range c.described {
		if inPlan[d.query] {
			continue
		}
		text, err := db.Catalogue.text(ctx, d.query)
		if err != nil {
			return nil, err
		}
		if rows := db.Database.(catalog.Pusher).PlannedRows(text, d.cols); rows != text {
			conds = append(conds, "(SELECT pg_catalog.count(*) FROM ("+rows+") AS q) OPERATOR(pg_catalog.>=) 0")
		}
	}
	return conds, nil
}

// Subquery prints a sub-query whose rows must be the same as before.
func (db *pusher) Subquery(ctx context.Context, n *ra.Node) (string, error) {
	text, err := db.Catalogue.print(ctx, n)
	if err != nil {
		return "", err
	}
	return db.Database.(catalog.Pusher).PlannedRows(text, n.Cols[:len(n.Cols)-1]), nil
}

// RowsText prints a sub-query, or rows that the engine makes itself.
func (db *pusher) RowsText(ctx context.Context, n *ra.Node, env *kernels.Env) (string, error) {
	data, ok, err := bind.Rows(n, env)
	if !ok || err != nil {
		if err != nil {
			return "", err
		}
		return db.Subquery(ctx, n)
	}
	if data[0].Len() == 0 {
		none := lists.Map(data, func(v *column.Column) string { return "NULL::" + v.Type().Kind.String() })
		return "SELECT " + strings.Join(none, ", ") + " WHERE FALSE", nil
	}
	rows := make([]string, data[0].Len())
	for i := range rows {
		var cells []string
		for _, v := range data {
			s, err := db.Dialect().Const(v.Value(i))
			if err != nil {
				return "", err
			}
			cells = append(cells, db.Dialect().Literal(v.Type(), s))
		}
		rows[i] = "(" + strings.Join(cells, ", ") + ")"
	}
	return "VALUES " + strings.Join(rows, ", "), nil
}

// pushedLoss lets the database compute the loss.
func (db *pusher) pushedLoss(ctx context.Context, c *Compiled, env kernels.Env) (float64, error) {
	text, err := db.text(ctx, c, 0, env)
	if err != nil {
		return 0, err
	}
	res, err := db.RunSQL(ctx, text)
	if err != nil {
		return 0, err
	}
	if len(res.Rows) != 1 || res.Rows[0][0] == nil {
		return 0, c.IsNull()
	}
	x, err := Number(res.Rows[0][0])
	if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
		err = db.finite(ctx, c, x, env)
	}
	return x, err
}

// push plans a loss for a call of gradient() or backward() that the database computes; nil: the executor computes it.
// readOnly: the call may not write, not even temporary tables. Then tables at other servers are read through their
// foreign tables.
func (db *pusher) push(ctx context.Context, r Request, step *int64, seed int64, readOnly bool) (c *Compiled,
	env kernels.Env, err error) {
	env = kernels.Env{Seed: seed}
	if _, can := db.Database.(catalog.Pusher); !can || db.Mode == ModeChunk ||
		db.Mode != ModeSQL && db.cache.find(db.key(r)) != nil {
		return nil, env, nil
	}
	if c, err = db.Plan(ctx, r); err != nil {
		return nil, env, err
	}
	if sql, _ := db.Pushes(c); !sql {
		return nil, env, nil
	}
	if err := c.drawn(step); err != nil {
		return nil, env, err
	}
	env = stepEnv(step, seed)
	if err := db.Draw(env); err != nil {
		return nil, env, err
	}
	if readOnly {
		return c, env, About(db.guard(c, true), "loss", 0)
	}
	return c, env, db.oneStep(ctx, c, env)
}

// oneStep has the servers compute what they have to for a call of gradient() or backward(). The tables that they leave
// here are read by the text that the call returns, and dropped by the next one.
func (db *pusher) oneStep(ctx context.Context, c *Compiled, env kernels.Env) (err error) {
	if _, err = db.Queries(ctx, c, false); c.queries == nil || err != nil {
		return About(err, "loss", 0)
	}
	err = c.queries.Step(ctx, env)
	c.queries.Close()
	return About(err, "loss", 0)
}

// rootSQL prints one root of a plan as a query by itself.
func rootSQL(ctx context.Context, p *ra.Plan, root int, d sqlgen.Dialect, o sqlgen.Options) (string, error) {
	one, _, err := optimizer.Alone(ctx, p, root, optimizer.Options{})
	if err != nil {
		return "", err
	}
	return sqlgen.SQL(one, 0, d, o)
}

// pushedGradient prints the gradient of parameter i with the columns of its table, in their order.
func (db *pusher) pushedGradient(ctx context.Context, c *Compiled, i int, env kernels.Env) (string, error) {
	text, err := db.text(ctx, c, 1+i, env)
	if err != nil {
		return "", err
	}
	return db.named(c, i, text), nil
}

// named wraps the query of parameter i's gradient to give it the names and the order of the table's columns.
func (db *pusher) named(c *Compiled, i int, text string) string {
	var items []string
	root := c.Res.Plan.Roots[1+i]
	for _, j := range inOrder(c, i) {
		items = append(items, "g."+db.Dialect().Ident(root.Node.Col(root.Cols[j]).Name)+" AS "+db.Dialect().
			Ident(c.Tables[i].Cols[c.Res.Cols[i][j]].Name))
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM (\n" + strings.TrimRight(text, "\n") + "\n) AS g"
}

// pushedRelation is Gradient by the database.
func (db *pusher) pushedRelation(ctx context.Context, c *Compiled, env kernels.Env) (*catalog.Relation, error) {
	if _, err := db.pushedLoss(ctx, c, env); err != nil {
		return nil, About(err, "loss", 0)
	}
	if err := db.warnRounded(ctx, c); err != nil {
		return nil, err
	}
	text, err := db.pushedGradient(ctx, c, 0, env)
	if err != nil {
		return nil, err
	}
	out := &catalog.Relation{}
	if c.queries == nil {
		out.Names, out.Cols, err = db.Database.(catalog.Pusher).Rows(ctx, text)
	} else {
		out.Cols, err = db.Database.(catalog.Filler).FromTemp(ctx, text)
		for _, j := range inOrder(c, 0) {
			out.Names = append(out.Names, c.Tables[0].Cols[c.Res.Cols[0][j]].Name)
		}
	}
	if err != nil {
		return nil, About(err, "loss", 0)
	}
	for i, name := range out.Names {
		for _, col := range c.Tables[0].Cols {
			if col.Name != name {
				continue
			}
			out.Types = append(out.Types, col.PGType)
			if out.Cols[i].Len() == 0 { // a column without rows has no shape
				out.Cols[i] = column.New(col.Type, 0)
			}
		}
	}
	return out, db.finiteGradient(ctx, c, 0, out, env)
}

// isNotFinite is a SQL test for infinity and NaN. It contains no operator that a user could redefine.
func isNotFinite(x string, t kernels.Type) string {
	of := "float8"
	if t.Kind == kernels.Float32 {
		of = "float4"
	}
	return x + " OPERATOR(pg_catalog.-) " + x + " OPERATOR(pg_catalog.<>) 0::pg_catalog." + of
}

// filled checks a gradient that the database has written to its table. If it is not finite, the table is emptied and
// the gradient refused.
func (db *pusher) filled(ctx context.Context, c *Compiled, i int, env kernels.Env) error {
	t, d := c.Tables[i], db.Dialect()
	var bad []string
	for _, k := range c.Cols[i] {
		x := d.Ident(t.Cols[k].Name)
		if t.Cols[k].Type.IsChunk() {
			bad = append(bad, "EXISTS (SELECT FROM pg_catalog.unnest("+x+") AS e WHERE "+isNotFinite("e", t.Cols[k].Type)+")")
		} else {
			bad = append(bad, isNotFinite(x, t.Cols[k].Type))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	table := "pg_temp." + d.Ident(gradName(t))
	r := &catalog.Relation{}
	var err error
	r.Names, r.Cols, err = db.Database.(catalog.Pusher).Rows(ctx,
		"SELECT * FROM "+table+" WHERE "+strings.Join(bad, " OR ")+" LIMIT 1")
	if err == nil {
		err = db.finiteGradient(ctx, c, i, r, env)
	}
	if err != nil && len(r.Cols) > 0 {
		if _, e := db.RunSQL(ctx, "DELETE FROM "+table); e != nil {
			return e
		}
	}
	return err
}

// pushedBackward is Backward by the database.
func (db *pusher) pushedBackward(ctx context.Context, c *Compiled, env kernels.Env) (float64, error) {
	x, err := db.pushedLoss(ctx, c, env)
	if err != nil {
		return 0, About(err, "loss", 0)
	}
	if err := db.warnRounded(ctx, c); err != nil {
		return 0, err
	}
	for i, t := range c.Tables {
		text, err := db.pushedGradient(ctx, c, i, env)
		if err != nil {
			return 0, err
		}
		ok, err := db.Database.(catalog.Pusher).FillFrom(ctx, gradName(t), t, lists.Map(inOrder(c, i), func(j int) int {
			return c.Res.Cols[i][j]
		}), text)
		if err == nil && !ok {
			err = errGradName(t)
		}
		if err == nil {
			err = db.filled(ctx, c, i, env)
		}
		if err != nil {
			return 0, About(err, "loss", 0)
		}
	}
	return x, nil
}
