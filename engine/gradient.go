package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Gradient returns rows of the table's type: identity and attributes are copied, the value columns hold the gradient of
// the loss (law 3). A loss that draws needs a step.
func (db *Engine) Gradient(ctx context.Context, loss, table string, step *int64, seed int64) (out *catalog.Relation,
	err error) {
	err = db.OnOneState(func() (err error) {
		out, err = db.gradient(ctx, Request{Loss: loss, Params: []string{table}, Draw: true}, step, seed)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (db *Engine) gradient(ctx context.Context, r Request, step *int64, seed int64) (*catalog.Relation, error) {
	switch c, env, err := db.push(ctx, r, step, seed, false); {
	case err != nil:
		return nil, err
	case c != nil:
		return db.pushedRelation(ctx, c, env)
	}
	return db.executed(ctx, r, step, seed)
}

// executed is Gradient computed by the executor.
func (db *Engine) executed(ctx context.Context, r Request, step *int64, seed int64) (*catalog.Relation, error) {
	c, err := db.kept(ctx, r)
	if err != nil {
		return nil, err
	}
	if _, err := db.once(ctx, c, step, seed); err != nil {
		return nil, err
	}
	if err := db.warnRounded(ctx, c); err != nil {
		return nil, err
	}
	return db.gradientOf(ctx, c, 0, stepEnv(step, seed))
}

// warnRounded warns about attributes that differ in the gradients' rows from the table, because numerics pass as double
// precision.
func (db *session) warnRounded(ctx context.Context, c *Compiled) error {
	for _, t := range c.Tables {
		for i, col := range t.Cols {
			if slices.Contains(t.Key, i) || col.PGType != "numeric" {
				continue
			}
			long, err := db.longNumerics(ctx, t, col)
			if err != nil {
				return err
			}
			if long {
				db.Notify("WARNING", fmt.Sprintf("column \"%s\" of table \"%s\" holds numerics of more than 15 digits, "+
					"which the rows of its gradient round", col.Name, t.Name))
			}
		}
	}
	return nil
}

// longNumerics reports whether a column has numerics that double precision cannot hold: the database knows it from
// describing the table, or is asked now.
func (db *session) longNumerics(ctx context.Context, t *ra.Table, col ra.TableColumn) (bool, error) {
	if of := col.Type.Of; of != nil && of.Ask != nil {
		return of.Ask() != "", nil
	}
	if _, server := db.Database.(catalog.Pusher); server {
		return false, nil // the description says which numerics are long
	}
	res, err := db.RunSQL(ctx, fmt.Sprintf("SELECT 1 FROM %s WHERE %s <> %[2]s::double precision::numeric LIMIT 1",
		sqltext.Name(t.Schema, t.Name), sqltext.Ident(col.Name)))
	return err == nil && len(res.Rows) > 0, err
}

// GradientText is Gradient for a database that takes a query: text if the database computes the gradient, else rows.
// The call may only read.
func (db *Engine) GradientText(ctx context.Context, loss, table string, step *int64, seed int64) (text string,
	rows *catalog.Relation, err error) {
	ask := Request{Loss: loss, Params: []string{table}, Draw: true}
	c, env, err := db.push(ctx, ask, step, seed, true)
	if err != nil {
		return "", nil, err
	}
	if c == nil {
		rows, err = db.executed(ctx, ask, step, seed)
		return "", rows, err
	}
	if _, err := db.pushedLoss(ctx, c, env); err != nil {
		return "", nil, About(err, "loss", 0)
	}
	if err := db.warnRounded(ctx, c); err != nil {
		return "", nil, err
	}
	text, err = db.pushedGradient(ctx, c, 0, env)
	return text, nil, err
}

// gradientOf reads the gradient of parameter i from the executor, and refuses it where it is not finite.
func (db *Engine) gradientOf(ctx context.Context, c *Compiled, i int, env kernels.Env) (*catalog.Relation, error) {
	r, err := c.relation(i)
	if err == nil {
		err = db.finiteGradient(ctx, c, i, r, env)
	}
	return r, err
}

// stepEnv is the environment of a step without a batch, which is an epoch.
func stepEnv(step *int64, seed int64) kernels.Env {
	env := kernels.Env{Seed: seed}
	if step != nil {
		env.Step, env.Epoch = *step, max(*step, 0)
	}
	return env
}

// once runs a compiled loss for a call of gradient() or backward().
func (db *Engine) once(ctx context.Context, c *Compiled, step *int64, seed int64) (float64, error) {
	if err := c.drawn(step); err != nil {
		return 0, err
	}
	env := stepEnv(step, seed)
	x, err := c.Run(ctx, env)
	if err == nil {
		err = db.finite(ctx, c, x, env)
	}
	return x, About(db.Located(ctx, c, err, env, nil), "loss", 0)
}

// relation returns the gradient of parameter i: columns of the table in the table's order.
func (c *Compiled) relation(i int) (*catalog.Relation, error) {
	cols, err := c.Prog.Result(1 + i)
	if err != nil {
		return nil, err
	}
	out := &catalog.Relation{}
	for _, j := range inOrder(c, i) {
		def := c.Tables[i].Cols[c.Res.Cols[i][j]]
		out.Names, out.Types, out.Cols = append(out.Names, def.Name), append(out.Types, def.PGType),
			append(out.Cols, cols[j].Plain())
	}
	return out, nil
}

// inOrder are the columns of parameter i's gradient in the order of the table's.
func inOrder(c *Compiled, i int) (out []int) {
	for tc := range c.Tables[i].Cols {
		if j := slices.Index(c.Res.Cols[i], tc); j >= 0 {
			out = append(out, j)
		}
	}
	return out
}

// Backward computes the loss and all gradients in one pass and fills the temporary tables <table>_grad.
func (db *Engine) Backward(ctx context.Context, loss string, params []string, step *int64, seed int64) (x float64,
	err error) {
	if len(params) == 0 {
		return 0, About(sqlerr.New(sqlerr.InvalidParameter, "backward needs at least one parameter, e.g. ARRAY['w']"),
			"params", 0)
	}
	err = db.OnOneState(func() (err error) {
		x, err = db.backward(ctx, Request{Loss: loss, Params: params, Draw: true}, step, seed)
		return err
	})
	return x, err
}

func (db *Engine) backward(ctx context.Context, r Request, step *int64, seed int64) (float64, error) {
	c, env, err := db.push(ctx, r, step, seed, false)
	if err == nil && c == nil {
		c, err = db.kept(ctx, r)
	}
	if err != nil {
		return 0, err
	}
	if err := c.distinctGrads(); err != nil {
		return 0, err
	}
	if c.Prog == nil {
		return db.pushedBackward(ctx, c, env)
	}
	x, grads, err := db.gradients(ctx, c, step, seed)
	if err != nil {
		return 0, err
	}
	for i, t := range c.Tables {
		if err := putGrad(ctx, db, t, grads[i]); err != nil {
			return 0, err
		}
	}
	return x, nil
}

// Gradients is Backward by the executor. It returns the gradients and stores none.
func (db *Engine) Gradients(ctx context.Context, loss string, params []string, step *int64, seed int64) (float64,
	[]*catalog.Relation, error) {
	c, err := db.kept(ctx, Request{Loss: loss, Params: params, Draw: true})
	if err != nil {
		return 0, nil, err
	}
	return db.gradients(ctx, c, step, seed)
}

func (db *Engine) gradients(ctx context.Context, c *Compiled, step *int64, seed int64) (float64, []*catalog.Relation,
	error) {
	x, err := db.once(ctx, c, step, seed)
	if err != nil {
		return 0, nil, err
	}
	if err := db.warnRounded(ctx, c); err != nil {
		return 0, nil, err
	}
	grads := make([]*catalog.Relation, len(c.Tables))
	for i := range c.Tables {
		if grads[i], err = db.gradientOf(ctx, c, i, stepEnv(step, seed)); err != nil {
			return 0, nil, err
		}
	}
	return x, grads, nil
}
