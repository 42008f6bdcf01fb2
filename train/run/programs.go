package run

import (
	"context"
	"errors"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/train"
)

// programs compiles the queries of a run.
type programs struct{ commits }

func (r *programs) compileLoss(ctx context.Context) (*engine.Compiled, error) {
	q := engine.Request{Loss: r.loss, Params: r.params, Draw: true, PerStep: r.hook.changing(), Seed: r.config.Seed,
		Beside: len(r.config.StateNames()) + 1} // plus one, for each row's gradient
	if r.batch != nil {
		q.Batch = r.batch.Batch
	}
	c, err := r.db.Plan(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := r.steady(c); err != nil {
		return nil, err
	}
	r.pushes, _ = r.db.Pushes(c)
	if r.config.Searches() && r.db.Mode != engine.ModeSQL {
		r.pushes = false // only the executor has it
	}
	switch {
	case r.pushes && r.hook != nil:
		return r.replan(ctx, q)
	case r.pushes:
		return c, nil
	}
	return c, r.db.Build(ctx, c)
}

// replan plans the loss of a run whose before_step may change any table except the parameters.
func (r *programs) replan(ctx context.Context, q engine.Request) (*engine.Compiled, error) {
	for t := range r.hook.reads {
		r.hook.perStep[t] = true
	}
	for _, name := range r.params {
		if _, t, err := bind.ParseParam(ctx, r.db.Catalogue, name); err == nil {
			delete(r.hook.perStep, engine.Object{Schema: t.Schema, Table: t.Name})
		}
	}
	q.PerStep = r.hook.perStep
	return r.db.Plan(ctx, q)
}

// compileValidation compiles the validation view for the executor, without draws. A query that only the store can run
// is run there.
func (r *programs) compileValidation(ctx context.Context) error {
	if r.pushes && r.config.Validate != "" {
		_, err := r.validateInStore(ctx, r.config.Env(r.progress.Step+1))
		return aboutValidation(err)
	}
	r.v = nil // the former one belongs to a view that before_step has replaced
	if r.config.Validate == "" {
		return nil
	}
	v, err := r.db.Compile(ctx, engine.Request{Loss: r.config.Validate, Params: r.params, Forward: true, As: "validation",
		Figures: true, PerStep: r.hook.changing(), Seed: r.config.Seed, With: r.c.Prog})
	if err == nil {
		if err = train.CheckFigures(v.Names()); err != nil {
			v.Prog.Close()
			return aboutValidation(err)
		}
		r.v = v
		return aboutValidation(r.tried(ctx, v))
	}
	if sqlerr.Code(err) != sqlerr.FeatureNotSupported && sqlerr.Code(err) != sqlerr.UndefinedFunction &&
		sqlerr.Code(err) != sqlerr.DatatypeMismatch {
		return aboutValidation(err)
	}
	_, err = r.validateInStore(ctx, r.config.Env(r.progress.Step+1))
	return aboutValidation(err)
}

// tried computes a validation before the first step, so that wrong labels and a second row are found then. Where the
// values make it NULL, later ones may not; the tables of a before_step may not be filled yet.
func (r *programs) tried(ctx context.Context, v *engine.Compiled) error {
	if r.hook != nil {
		return nil
	}
	env := r.config.Env(r.progress.Step + 1)
	figures, err := v.Figures(ctx, env)
	switch {
	case err == nil && v.Guesses(figures):
		_, err = r.validateInStore(ctx, env)
	case sqlerr.Code(err) == sqlerr.NullNotAllowed && !v.Metrics():
		err = nil
	}
	return err
}

// aboutValidation makes err an error about the argument validate.
func aboutValidation(err error) error {
	var arg *engine.ArgError
	if errors.As(err, &arg) {
		err = arg.Err
	}
	return engine.About(err, "validate", 0)
}

// validateInStore runs the validation as an ordinary query, behind a step.
func (r *programs) validateInStore(ctx context.Context, env kernels.Env) ([]train.Figure, error) {
	sel, text, err := bind.LossQuery(ctx, r.db.Catalogue, "validation", r.config.Validate)
	if err != nil {
		return nil, err
	}
	outer := r.db.Catalogue.Env
	r.db.Catalogue.Env = env
	defer func() { r.db.Catalogue.Env = outer }()
	if err := r.db.Draw(env); err != nil {
		return nil, err
	}
	res, err := r.db.Exec(ctx, sel, text)
	if err != nil {
		return nil, err
	}
	if len(res.Rows) != 1 || len(res.Cols) == 0 {
		return nil, sqlerr.New(sqlerr.Cardinality, "the validation has %d rows of %d columns, not one row of numbers",
			len(res.Rows), len(res.Cols))
	}
	out := make([]train.Figure, len(res.Cols))
	names := lists.Map(res.Cols, func(c catalog.ResultCol) string { return c.Name })
	for i, v := range res.Rows[0] {
		out[i].Name = names[i]
		if v == nil && i > 0 {
			continue
		}
		x, err := engine.Number(v)
		if err != nil {
			return nil, err
		}
		out[i].Value = &x
	}
	return out, train.CheckFigures(names)
}

// noting calls f, which compiles, and records the names and settings on which the result depends.
func (r *programs) noting(f func() error) (err error) {
	h := r.hook
	if h == nil {
		return f()
	}
	h.reads = map[engine.Object]bool{}
	defer r.db.Catalogue.Watch(func(schema, name string) error {
		h.reads[engine.Object{Schema: schema, Table: name}] = true
		return nil
	})()
	h.names, h.settings, err = r.db.Catalogue.Notes(f)
	return err
}
