package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/train"
)

// Events are a session's callbacks: they report how a run proceeds, and run statements that only scripts can run.
type Events struct {
	// OnStep is called after every step of train(), with the number of steps planned.
	OnStep func(row train.LossRow, steps int64)
	// OnEnd is called when train() ends, however it does.
	OnEnd func()
	// RunStatement runs a statement of before_step as scripts do, DO and CALL of a user's procedure included, inside the
	// open transaction. Package script sets it; nil runs what Exec can.
	RunStatement func(ctx context.Context, stmt ast.Statement, text *ast.Text) error
}

// Trainer runs the training of a session.
type Trainer struct {
	*engine.Engine
	*Events
	hooked bool // before_step is running
}

// New makes the trainer of a session.
func New(db *engine.Engine, e *Events) *Trainer { return &Trainer{Engine: db, Events: e} }

// Recovered resets what a panic may have left in a wrong state.
func (db *Trainer) Recovered() {
	db.Engine.Recovered()
	db.hooked = false
}

// Call runs CALL train(loss, params, option => value, …).
func (db *Trainer) Call(ctx context.Context, call *ast.FuncCall) error {
	if db.hooked {
		return sqlerr.At(int(call.At), sqlerr.FeatureNotSupported, "train cannot run inside before_step")
	}
	a, err := engine.NewArgs(call, []string{"loss", "params"}, 0, train.Known)
	if err != nil {
		return err
	}
	a.DropNulls()
	return db.CallWith(ctx, a)
}

// CallWith runs train() with parsed arguments.
func (db *Trainer) CallWith(ctx context.Context, a *engine.Args) error {
	c := train.Default()
	for _, name := range a.Names {
		var err error
		if name == "loss" || name == "params" {
			err = a.Check(name)
		} else {
			err = engine.At(c.Set(name, a.Value[name]), a.Position(name))
		}
		if err != nil {
			return err
		}
	}
	if c.Resume != 0 {
		changes := map[string]any{}
		for _, name := range a.Names {
			if name == "resume" {
				continue
			}
			if err := train.Changeable(name); err != nil {
				return engine.At(err, a.Position(name))
			}
			changes[name] = a.Value[name]
		}
		_, err := db.Resume(ctx, c.Resume, changes)
		return a.Place(err)
	}
	loss, params := a.Text("loss"), a.List("params")
	if loss == "" || len(params) == 0 {
		return sqlerr.At(a.Where, sqlerr.UndefinedFunction, "train needs a loss and its parameters").
			WithHint("CALL train('loss', ARRAY['w'], lr => 0.01, epochs => 100);")
	}
	if err := c.Check(a.Names); err != nil {
		return engine.At(err, a.Where)
	}
	_, err := db.Train(ctx, loss, params, c)
	return a.Place(err)
}

// Train minimises a loss over its parameters and returns the run's number. It commits at most once a second
// and at the end, unless a transaction is open.
func (db *Trainer) Train(ctx context.Context, loss string, params []string, c train.Config) (int64, error) {
	if err := c.CheckValues(); err != nil {
		return 0, err
	}
	if len(params) == 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "no parameters are named").
			WithHint("A parameter is a table or a column of one, such as w or w.x.")
	}
	r := newRun(task{db: db, loss: loss, params: params, config: c})
	defer r.close()
	err := db.OnOneState(func() error {
		err := r.findBatch(ctx)
		if err == nil {
			err = r.compile(ctx)
		}
		r.foreign = db.ExternalVersion()
		return err
	})
	if err != nil {
		return 0, err
	}
	if err := r.mark(); err != nil {
		return 0, err
	}
	if err := db.mayRecord(ctx); err != nil {
		return 0, err
	}
	unlock, err := r.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	db.Notify("NOTICE", fmt.Sprintf("train: run %d, trains %s, %s", r.id, r.trains(), c.Describe()))
	r.warn()
	r.warnDirection(ctx)
	return r.id, r.train(ctx)
}

// Resume goes on with a run from its last commit. changes are options that it takes anew.
func (db *Trainer) Resume(ctx context.Context, id int64, changes map[string]any) (int64, error) {
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
	r := newRun(task{db: db, id: id})
	defer r.close()
	err = db.OnOneState(func() error {
		if err := r.load(ctx, changes); err != nil {
			return err
		}
		if err := r.config.GoesOn(id, r.progress); err != nil {
			return err
		}
		if err := r.compile(ctx); err != nil {
			return err
		}
		r.foreign = db.ExternalVersion()
		return r.loadState(ctx)
	})
	if err == nil {
		tables, e := db.LockRun(0, r.c.Tables)
		if err = e; e == nil {
			defer tables()
		}
	}
	if err == nil {
		err = r.untear(ctx)
	}
	var changed []string
	if err == nil {
		changed, err = r.changedSince()
	}
	if err == nil {
		err = r.backToLast(ctx)
	}
	if err == nil {
		err = r.mark()
	}
	if err != nil {
		return id, err
	}
	db.Notify("NOTICE", fmt.Sprintf("train: run %d goes on after step %d, trains %s, %s", id, r.progress.Step, r.trains(),
		r.config.Describe()))
	r.warn()
	r.warnDirection(ctx)
	if err = r.warnChanged(ctx, changed); err != nil {
		return id, err
	}
	// a run without steps may be resumed with other rows than it was stored with
	if err := r.goOn(ctx); err != nil {
		return id, err
	}
	return id, r.train(ctx)
}

// run is a training run. It implements train.Model and is made of layers. Each layer embeds the one above it in this
// list and adds its own state:
//
//	task          what is trained, by which programs, how far
//	parameterSet  the columns that are trained, with their live buffers
//	record        the run's row, its losses, the optimizer's state, as they are stored
//	commits       the transactions; between them other processes can write
//	programs      compiling the queries, again if before_step changes what they mean
//	hooks         before_step
type run struct {
	hooks
	pushed *pushedRun // the database does the steps; nil: the executor
	last   train.LossRow
	told   time.Time // when the last notice said how far the run is
	seen   *float64  // the last validation
	ahead
}

// ahead is what is known of steps that begin before those before them have ended.
type ahead struct {
	done   bool              // the last step has changed the parameters, too
	found  *device.NotFinite // unless this was found
	failed error             // why the next step has not begun
}

// task is what a run trains, and how far it is.
type task struct {
	db       *Trainer
	id       int64
	loss     string
	params   []string
	config   train.Config
	progress train.Progress
	batch    *engine.Batch    // nil: every step reads all rows
	pushes   bool             // the database does the steps
	c        *engine.Compiled // the loss
	v        *engine.Compiled // the validation query; nil where the store runs it
}

// newRun makes a run of a task.
func newRun(t task) *run {
	t.progress = train.Start()
	return &run{hooks: hooks{programs{commits: commits{record: record{parameterSet: parameterSet{task: t}}}}}}
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
		if r.pushes {
			r.pushed = &pushedRun{run: r}
			err = r.pushed.makeSlots(ctx)
		} else {
			err = r.makeSlots(ctx)
		}
		if err != nil {
			return err
		}
		return r.compileValidation(ctx)
	})
}

func (r *run) close() {
	if r.c != nil && r.c.Prog != nil {
		r.c.Prog.Close()
	}
	if r.v != nil {
		r.v.Prog.Close()
	}
	if r.pushed != nil && r.pushed.apart != nil {
		r.pushed.apart.Close()
	}
	r.c, r.v = nil, nil
	r.batch.Close()
	if r.back != nil {
		r.back()
	}
}

// Ahead implements train.Pipelined. What before_step does may change what a step reads.
func (r *run) Ahead() bool { return r.config.BeforeStep == "" && r.failed == nil && r.training.Ahead() }

// Begin implements train.Pipelined.
func (r *run) Begin(ctx context.Context, step int64) {
	r.failed = r.training.Begin(ctx, r.config.Env(step), r.updates.At(step))
}

// Step implements train.Model.
func (r *run) Step(ctx context.Context, step int64) (float64, error) {
	env := r.config.Env(step)
	if err := r.beforeStep(ctx, env); err != nil {
		return 0, err
	}
	x, err := r.computed(ctx, step, env)
	return x, engine.About(r.db.Located(ctx, r.c, err, env, r.copyParams), "loss", 0)
}

// computed computes a step's loss and gradient, or waits for them.
func (r *run) computed(ctx context.Context, step int64, env kernels.Env) (float64, error) {
	if r.done = r.training.Flying() > 0 || r.failed != nil || r.training.Ahead(); !r.done {
		return r.c.Run(ctx, env)
	}
	if r.training.Flying() == 0 { // else what has failed is the step behind this one
		if r.failed == nil {
			r.Begin(ctx, step)
		}
		if err := r.failed; err != nil {
			r.failed = nil
			return 0, err
		}
	}
	x, null, err := r.training.End(ctx)
	if errors.As(err, &r.found) {
		err = nil
	}
	if err == nil && null {
		err = r.c.IsNull()
	}
	return x, err
}

// Update implements train.Model.
func (r *run) Update(ctx context.Context, step int64) error {
	switch {
	case !r.done:
		return r.training.Step(ctx, r.updates.At(step))
	case r.found != nil:
		return r.found
	}
	return nil
}

// Validate implements train.Model.
func (r *run) Validate(ctx context.Context, step int64) ([]train.Figure, error) {
	f, err := r.validate(ctx, r.config.Env(step))
	return f, engine.About(err, "validate", 0)
}

func (r *run) validate(ctx context.Context, env kernels.Env) ([]train.Figure, error) {
	if r.v == nil {
		return r.validateStored(ctx, env)
	}
	if err := r.copyParams(r.v.Prog); err != nil {
		return nil, err
	}
	f, err := r.v.Figures(ctx, env)
	if err == nil && r.v.Guesses(f) {
		return r.validateStored(ctx, env)
	}
	return f, err
}

// train runs the loop.
func (r *run) train(ctx context.Context) error {
	r.atomic, r.committed, r.told = r.db.InTransaction(), r.progress.Step, time.Now()
	r.tell(r.committed)
	if r.atomic {
		r.db.Notify("NOTICE", "train: a transaction is open, so nothing is committed before its end")
	}
	var model train.Model = r
	slots := r.slots
	if r.pushed != nil {
		model, slots = r.pushed, nil // the database updates them
	} else if r.config.Searches() {
		model = r.search()
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
		r.db.Notify("NOTICE", r.summary())
		return nil
	}
	if r.atomic {
		return err
	}
	err = r.db.Undo(err)
	status := train.Failed
	if ctx.Err() != nil || sqlerr.Code(err) == sqlerr.QueryCanceled {
		status = train.Cancelled
	}
	if e := r.setStatus(context.WithoutCancel(ctx), status); e != nil {
		r.db.Notify("WARNING", fmt.Sprintf("train: could not note in relgrad.run that run %d is %s: %v", r.id, status, e))
	}
	if status == train.Cancelled {
		err = r.cancelled(ctx, err)
	}
	return err
}

func (db *Trainer) mayRecord(ctx context.Context) error {
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
	for i, t := range r.c.Tables {
		var cols []string
		for _, c := range r.c.Cols[i] {
			cols = append(cols, t.Cols[c].Name)
		}
		if err := j.MayChange(ctx, t, cols); err != nil {
			return engine.About(err, "params", i)
		}
	}
	return nil
}

// cancelled makes the error of a cancelled run, which says what is committed. cause is the error that ended the run; if
// the commit at the end failed too, a joined error.
func (r *run) cancelled(ctx context.Context, cause error) error {
	err := sqlerr.New(sqlerr.QueryCanceled, "training was cancelled after step %d", r.progress.Step).Wrap(ctx.Err())
	detail := fmt.Sprintf("Run %d is cancelled. The parameters as of step %d of %d are committed.", r.id, r.committed,
		r.config.Steps())
	if r.committed == 0 {
		detail = fmt.Sprintf("Run %d is cancelled. None of its steps is committed: the parameters are as they were before "+
			"it.", r.id)
	}
	var joined interface{ Unwrap() []error }
	if errors.As(cause, &joined) {
		for _, e := range joined.Unwrap()[1:] {
			detail += fmt.Sprintf(" The commit at the end failed: %v.", e)
		}
	}
	return err.WithDetail("%s", detail).WithHint("CALL train(resume => %d); goes on with it.", r.id)
}

// summary says how the run ended. The loss is that of the last epoch, the mean over its batches, each before its
// update.
func (r *run) summary() string {
	s := fmt.Sprintf("train: run %d is %s after step %d", r.id, r.progress.Status, r.progress.Step)
	if r.last.Step > 0 {
		s += fmt.Sprintf(", loss %.5g", r.last.Mean)
	}
	if !math.IsInf(r.progress.Best, 1) {
		s += fmt.Sprintf(", best validation %.5g", r.progress.Best)
	}
	if r.config.Restores(r.progress) {
		s += fmt.Sprintf("; the parameters are those of step %d, which gave it", r.progress.BestAt)
	}
	return s
}

// Commit implements train.Model.
func (r *run) Commit(ctx context.Context, p train.Progress, rows []train.LossRow) error {
	ctx = context.WithoutCancel(ctx) // Ctrl-C keeps what has been trained: a commit that has begun ends
	if err := r.begin(ctx); err != nil {
		return err
	}
	err := error(nil)
	if r.config.Restores(p) {
		err = r.leaveBest(ctx)
	} else {
		err = r.flush(ctx)
	}
	if err != nil {
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
		if err := r.db.Catalogue.Write(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// Tick implements train.Model.
func (r *run) Tick(row train.LossRow) {
	r.last = row
	if row.Validation != nil {
		r.seen = row.Validation
	}
	if now := time.Now(); r.config.Pace > 0 && now.Sub(r.told) >= r.config.Pace {
		r.told = now
		s := fmt.Sprintf("train: run %d, step %d of %d, epoch %d, loss %.5g", r.id, row.Step, r.config.Steps(), row.Epoch,
			row.Mean)
		if r.seen != nil {
			s += fmt.Sprintf(", validation %.5g", *r.seen)
		}
		r.db.Notify("NOTICE", s)
	}
	if r.db.OnStep != nil {
		r.db.OnStep(row, r.config.Steps())
	}
}

// Explain says where a step's loss stops being finite, with the run's present parameters; "" if that cannot be found.
func (r *run) Explain(ctx context.Context, step int64) string {
	return r.db.FirstNotFinite(ctx, r.c, r.c.Res.RA, r.config.Env(step), r.copyParams)
}

// enter creates the run's row and takes its lock, so that whoever sees the row also sees that it is trained.
func (r *run) enter(ctx context.Context) (unlock func(), err error) {
	atomic := r.db.InTransaction()
	if err := r.begin(ctx); err != nil {
		free, e := r.db.LockRun(0, r.c.Tables)
		if e != nil { // who trains the parameters has changed them
			return nil, e
		}
		free()
		return nil, err
	}
	if err = r.insertRun(ctx); err == nil {
		err = r.saveBuffers(ctx, false)
	}
	if err == nil {
		unlock, err = r.db.LockRun(r.id, r.c.Tables)
	}
	switch {
	case atomic:
	case err != nil:
		err = r.db.Undo(err)
	default:
		if _, err = r.db.Commit(); err != nil {
			unlock()
		}
	}
	return unlock, err
}
