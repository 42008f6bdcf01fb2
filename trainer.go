package relgrad

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/train"
)

// callTrain reads CALL train(loss, params, option => value, …).
func (db *Engine) callTrain(ctx context.Context, call *ast.FuncCall, text *ast.Text) error {
	if db.hooked {
		return sqlerr.At(int(call.At), sqlerr.FeatureNotSupported, "train cannot run inside before_step")
	}
	c := train.Default()
	a, err := newArgs(call, []string{"loss", "params"}, 0, train.Known)
	if err != nil {
		return err
	}
	a.dropNulls()
	for _, name := range a.names {
		if name == "loss" || name == "params" {
			err = a.check(name)
		} else {
			err = at(c.Set(name, a.value[name]), int(a.expr[name].Position()))
		}
		if err != nil {
			return err
		}
	}
	if c.Resume != 0 {
		if len(a.value) > 1 {
			return sqlerr.At(int(call.At), sqlerr.InvalidParameter, "resume takes everything else from run %d", c.Resume).
				WithHint("CALL train(resume => %d);", c.Resume)
		}
		_, err := db.Resume(ctx, c.Resume)
		return a.place(err)
	}
	loss, params := a.text("loss"), a.list("params")
	if loss == "" || len(params) == 0 {
		return sqlerr.At(int(call.At), sqlerr.UndefinedFunction, "train needs a loss and its parameters").
			WithHint("CALL train('loss', ARRAY['w'], lr => 0.01, epochs => 100);")
	}
	if err := c.Check(a.names); err != nil {
		return at(err, int(call.At))
	}
	_, err = db.Train(ctx, loss, params, c)
	return a.place(err)
}

// Train minimises a loss over its parameters and returns the run's number. It commits at most once a second
// and at the end, unless a transaction is open.
func (db *Engine) Train(ctx context.Context, loss string, params []string, c train.Config) (_ int64, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	r := &run{db: db, loss: loss, params: params, config: c, progress: train.Start()}
	defer r.close()
	err := db.onOneState(func() error {
		err := r.openBatch(ctx)
		if err == nil {
			err = r.compile(ctx)
		}
		r.foreign = db.ExternalVersion()
		return err
	})
	if err != nil {
		return 0, err
	}
	r.mark()
	if err := db.mayRecord(ctx); err != nil {
		return 0, err
	}
	unlock, err := r.record(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	db.notice("NOTICE", fmt.Sprintf("train: run %d, trains %s, %s", r.id, r.trains(), c.Describe()))
	r.warn()
	return r.id, r.train(ctx)
}

// Resume goes on with a run from its last commit.
func (db *Engine) Resume(ctx context.Context, id int64) (_ int64, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	if err := db.OwnRun(ctx, id); err != nil {
		return id, err
	}
	if err := db.mayRecord(ctx); err != nil {
		return id, err
	}
	unlock, err := db.LockRun(id, nil)
	if err != nil {
		return id, err
	}
	defer unlock()
	r := &run{db: db, id: id, progress: train.Start()}
	defer r.close()
	err = db.onOneState(func() error {
		if err := r.load(ctx); err != nil {
			return err
		}
		if r.progress.Step >= r.config.Steps() || r.progress.Status.Over() {
			return sqlerr.New(sqlerr.InvalidParameter, "run %d is %s: %d of %d steps are done", id, r.progress.Status,
				r.progress.Step, r.config.Steps())
		}
		if err := r.compile(ctx); err != nil {
			return err
		}
		r.foreign = db.ExternalVersion()
		return r.loadState(ctx)
	})
	if err != nil {
		return id, err
	}
	r.mark()
	db.notice("NOTICE", fmt.Sprintf("train: run %d goes on after step %d, trains %s, %s", id, r.progress.Step, r.trains(),
		r.config.Describe()))
	r.warn()
	// of a run without steps the rows may be other ones than when it was stored
	if err := r.goOn(ctx); err != nil {
		return id, err
	}
	return id, r.train(ctx)
}

// goOn notes that the run is trained again, and what a store of before it was kept lacks.
func (r *run) goOn(ctx context.Context) error {
	progress, err := r.stand()
	if err != nil {
		return err
	}
	more := ""
	if r.bare {
		rest, err := r.rest()
		if err != nil {
			return err
		}
		more = ", rest = " + sqltext.Text(rest)
	}
	_, err = r.db.query(ctx, "UPDATE relgrad.%s SET status = '%s', progress = %s%s WHERE run OPERATOR(pg_catalog.=) %d",
		r.db.RunTable(), train.Running, sqltext.Text(progress), more, r.id)
	return err
}

// run is a training run: it implements train.Model.
type run struct {
	db       *Engine
	id       int64
	loss     string
	params   []string
	config   train.Config
	progress train.Progress
	stored   string   // keys as they were when a resumed run began
	atomic   bool     // a transaction was open: nothing is committed
	bare     bool     // a resumed run of a store that did not keep what else it rests on
	written  []object // tables that before_step had written when a resumed run was stored
	back     func()   // puts the session's settings back; nil where they are the run's

	committed int64  // the step of the last commit
	foreign   uint64 // changes of other processes that the run knows of

	hook  *hook  // before_step; nil where there is none
	batch *batch // nil: every step reads all rows
	last  train.LossRow

	pushed *pushedRun // the database does the steps; nil: the executor

	c     *compiled
	v     *compiled // the validation query; nil where the store runs it
	slots []*train.Slot
	lives []*live // parallel to slots
}

// compile prepares the loss, the validation and the slots.
func (r *run) compile(ctx context.Context) error {
	if err := r.parseHook(); err != nil {
		return err
	}
	return r.noting(func() (err error) {
		if r.c, err = r.compileLoss(ctx); err != nil {
			return err
		}
		if r.pushed != nil {
			err = r.pushSlots(ctx)
		} else {
			err = r.makeSlots(ctx)
		}
		if err != nil {
			return err
		}
		return r.compileValidation(ctx)
	})
}

func (r *run) compileLoss(ctx context.Context) (*compiled, error) {
	q := request{loss: r.loss, params: r.params, draw: true, perStep: r.hook.changing(), seed: r.config.Seed,
		beside: len(r.config.StateNames()) + 1} // and the gradient of all rows
	if r.batch != nil {
		q.batch = r.batch.Batch
	}
	c, err := r.db.plan(ctx, q)
	if err != nil {
		return nil, err
	}
	if sql, _ := r.db.pushes(c); sql && r.hook != nil {
		r.pushed = &pushedRun{run: r}
		return r.replan(ctx, q)
	} else if sql {
		r.pushed = &pushedRun{run: r}
		return c, nil
	}
	return c, r.db.build(ctx, c)
}

// replan plans the loss of a run whose before_step may change any table but the parameters.
func (r *run) replan(ctx context.Context, q request) (*compiled, error) {
	for t := range r.hook.reads {
		r.hook.perStep[t] = true
	}
	for _, name := range r.params {
		if _, t, err := bind.ParseParam(ctx, r.db.cat, name); err == nil {
			delete(r.hook.perStep, object{schema: t.Schema, table: t.Name})
		}
	}
	q.perStep = r.hook.perStep
	return r.db.plan(ctx, q)
}

func (r *run) close() {
	if r.c != nil && r.c.prog != nil {
		r.c.prog.Close()
	}
	if r.v != nil {
		r.v.prog.Close()
	}
	r.c, r.v = nil, nil
	if r.back != nil {
		r.back()
	}
}

// compileValidation compiles the validation view for the executor, without draws; a query that only the
// store can run is run there.
func (r *run) compileValidation(ctx context.Context) error {
	if r.pushed != nil && r.config.Validate != "" {
		_, err := r.validateInStore(ctx)
		return aboutValidation(err)
	}
	r.v = nil // one that was compiled before is not that of a view that before_step has replaced
	if r.config.Validate == "" {
		return nil
	}
	v, err := r.db.compile(ctx, request{loss: r.config.Validate, params: r.params, forward: true, as: "validation",
		perStep: r.hook.changing(), seed: r.config.Seed, with: r.c.prog})
	if err == nil {
		r.v = v
		return nil
	}
	if sqlerr.Code(err) != sqlerr.FeatureNotSupported && sqlerr.Code(err) != sqlerr.UndefinedFunction &&
		sqlerr.Code(err) != sqlerr.DatatypeMismatch {
		return aboutValidation(err)
	}
	_, err = r.validateInStore(ctx)
	return aboutValidation(err)
}

// aboutValidation marks an error of compiling the validation as one about that argument.
func aboutValidation(err error) error {
	var arg *argError
	if errors.As(err, &arg) {
		err = arg.error
	}
	return about(err, "validate", 0)
}

// Step implements train.Model.
func (r *run) Step(ctx context.Context, step int64) (float64, error) {
	env := kernels.Env{Seed: r.config.Seed, Step: step}
	if err := r.beforeStep(ctx, env); err != nil {
		return 0, err
	}
	x, err := r.c.run(ctx, env)
	return x, about(err, "loss", 0)
}

// Validate implements train.Model.
func (r *run) Validate(ctx context.Context) (float64, error) {
	x, err := r.validate(ctx)
	return x, about(err, "validate", 0)
}

func (r *run) validate(ctx context.Context) (float64, error) {
	if r.v == nil {
		return r.validateStored(ctx)
	}
	r.copyParams(r.v.prog)
	return r.v.run(ctx, kernels.Env{Seed: r.config.Seed})
}

// validateInStore runs the validation as an ordinary query.
func (r *run) validateInStore(ctx context.Context) (float64, error) {
	sel, text, err := bind.LossQuery(ctx, r.db.cat, "validation", r.config.Validate)
	if err != nil {
		return 0, err
	}
	res, err := r.db.Exec(ctx, sel, text)
	if err != nil {
		return 0, err
	}
	if len(res.Rows) != 1 || len(res.Cols) != 1 {
		return 0, sqlerr.New(sqlerr.Cardinality, "the validation has %d rows of %d columns, not one number", len(res.Rows),
			len(res.Cols))
	}
	return number(res.Rows[0][0])
}

// train runs the loop.
func (r *run) train(ctx context.Context) error {
	r.atomic, r.committed = r.db.InTransaction(), r.progress.Step
	r.tell()
	if r.atomic {
		r.db.notice("NOTICE", "train: a transaction is open, so nothing is committed before its end")
	}
	var model train.Model = r
	slots := r.slots
	if r.pushed != nil {
		r.config.Prepare(slots)
		model, slots = r.pushed, nil // the database updates them
	}
	p, err := r.progress, r.permitted(ctx)
	if err == nil {
		p, err = train.Run(ctx, r.config, model, slots, r.progress)
	}
	if r.db.OnEnd != nil {
		r.db.OnEnd()
	}
	r.progress = p
	if err == nil {
		r.db.notice("NOTICE", r.summary())
		return nil
	}
	if r.atomic {
		return err
	}
	err = r.db.undo(err)
	status := train.Failed
	if ctx.Err() != nil || sqlerr.Code(err) == sqlerr.QueryCanceled {
		status = train.Cancelled
	}
	if e := r.setStatus(context.WithoutCancel(ctx), status); e != nil {
		r.db.notice("WARNING", fmt.Sprintf("train: could not note in relgrad.run that run %d is %s: %v", r.id, status, e))
	}
	if status == train.Cancelled {
		err = r.cancelled(ctx, err)
	}
	return err
}

func (db *Engine) mayRecord(ctx context.Context) error {
	if j, ok := db.Database.(catalog.Permitter); ok {
		return j.MayRecord(ctx)
	}
	return nil
}

// permitted refuses parameters that the user may not change, before the first step is computed.
func (r *run) permitted(ctx context.Context) error {
	j, ok := r.db.Database.(catalog.Permitter)
	if !ok {
		return nil
	}
	for i, t := range r.c.tables {
		var cols []string
		for _, c := range r.c.cols[i] {
			cols = append(cols, t.Cols[c].Name)
		}
		if err := j.MayChange(ctx, t, cols); err != nil {
			return about(err, "params", i)
		}
	}
	return nil
}

// cancelled says what is left of a run that was cancelled. The cause may be about an argument, and holds a second error
// where the commit at the end failed.
func (r *run) cancelled(ctx context.Context, cause error) error {
	err := sqlerr.New(sqlerr.QueryCanceled, "training was cancelled after step %d", r.progress.Step).Wrap(ctx.Err())
	detail := fmt.Sprintf("Run %d is cancelled. The parameters as of step %d of %d are committed.", r.id, r.committed,
		r.config.Steps())
	if r.committed == 0 {
		detail = fmt.Sprintf("Run %d is cancelled. None of its steps is committed: the parameters are as they were before it.", r.id)
	}
	var joined interface{ Unwrap() []error }
	if errors.As(cause, &joined) {
		for _, e := range joined.Unwrap()[1:] {
			detail += fmt.Sprintf(" The commit at the end failed: %v.", e)
		}
	}
	return err.WithDetail("%s", detail).WithHint("CALL train(resume => %d); goes on with it.", r.id)
}

// summary says how the run ended. The loss is that of the last step, before its update.
func (r *run) summary() string {
	s := fmt.Sprintf("train: run %d is %s after step %d", r.id, r.progress.Status, r.progress.Step)
	if r.last.Step > 0 {
		s += fmt.Sprintf(", loss %.5g", r.last.Loss)
	}
	if !math.IsInf(r.progress.Best, 1) {
		s += fmt.Sprintf(", best validation %.5g", r.progress.Best)
	}
	return s
}

// setStatus notes how a run stands that has ended by an error, in a transaction of its own: a server undoes what the
// call has open.
func (r *run) setStatus(ctx context.Context, s train.Status) error {
	if err := r.db.BeginWrite(); err != nil {
		return err
	}
	if _, err := r.db.query(ctx, "UPDATE relgrad.%s SET status = '%s' WHERE run OPERATOR(pg_catalog.=) %d",
		r.db.RunTable(), s, r.id); err != nil {
		return r.db.undo(err)
	}
	_, err := r.db.Commit()
	return err
}

// Commit implements train.Model.
func (r *run) Commit(ctx context.Context, p train.Progress, rows []train.LossRow) error {
	ctx = context.WithoutCancel(ctx) // Ctrl-C keeps what has been trained: a commit that has begun ends
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	if err := r.saveState(ctx, p, rows); err != nil {
		return err
	}
	r.progress = p
	return r.commit()
}

// flush writes the parameters' live buffers to the store.
func (r *run) flush(ctx context.Context) error {
	if r.pushed != nil {
		return nil
	}
	for _, l := range r.lives {
		if err := r.db.cat.write(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// Tick implements train.Model.
func (r *run) Tick(row train.LossRow) {
	r.last = row
	if r.db.OnStep != nil {
		r.db.OnStep(row, r.config.Steps())
	}
}
