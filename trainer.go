package relgrad

import (
	"context"
	"errors"
	"fmt"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront"
	"github.com/relgrad/relgrad/train"
)

// callTrain reads CALL train(loss, params, option => value, …).
func (db *DB) callTrain(ctx context.Context, call *sqlfront.FuncCall, text *sqlfront.Text) error {
	c := train.Default()
	a, err := newArgs(call, []string{"loss", "params"}, 0, train.Known)
	if err != nil {
		return err
	}
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
func (db *DB) Train(ctx context.Context, loss string, params []string, c train.Config) (int64, error) {
	r := &run{db: db, loss: loss, params: params, config: c, progress: train.Start()}
	if err := r.compile(ctx); err != nil {
		return 0, err
	}
	defer r.close()
	if err := r.record(ctx); err != nil {
		return 0, err
	}
	db.notice("NOTICE", fmt.Sprintf("train: run %d, %s", r.id, c.Describe()))
	return r.id, r.train(ctx)
}

// Resume goes on with a run from its last commit.
func (db *DB) Resume(ctx context.Context, id int64) (int64, error) {
	r, err := db.loadRun(ctx, id)
	if err != nil {
		return 0, err
	}
	if r.progress.Step >= r.config.Epochs || r.progress.Stopped {
		return id, sqlerr.New(sqlerr.InvalidParameter, "run %d is finished: %d of %d steps are done", id, r.progress.Step, r.config.Epochs)
	}
	if err := r.compile(ctx); err != nil {
		return id, err
	}
	defer r.close()
	if err := r.loadState(ctx); err != nil {
		return id, err
	}
	db.notice("NOTICE", fmt.Sprintf("train: run %d goes on after step %d, %s", id, r.progress.Step, r.config.Describe()))
	return id, r.train(ctx)
}

// run is a training run: it implements train.Model.
type run struct {
	db       *DB
	id       int64
	loss     string
	params   []string
	config   train.Config
	progress train.Progress
	stored   string // keys as they were when a resumed run began
	atomic   bool   // a transaction was open: nothing is committed

	c     *compiled
	v     *compiled // the validation query; nil where the store runs it
	slots []*train.Slot
	lives []*live // parallel to slots
}

// compile prepares the loss, the validation and the slots.
func (r *run) compile(ctx context.Context) (err error) {
	if r.c, err = r.db.compile(ctx, request{loss: r.loss, params: r.params, draw: true}); err != nil {
		return err
	}
	if err := r.makeSlots(ctx); err != nil {
		r.close()
		return err
	}
	if r.config.Validate != "" {
		if err := r.compileValidation(ctx); err != nil {
			r.close()
			return err
		}
	}
	return nil
}

func (r *run) close() {
	if r.c != nil && r.c.prog != nil {
		r.c.prog.Close()
	}
	if r.v != nil {
		r.v.prog.Close()
	}
}

func (r *run) makeSlots(ctx context.Context) error {
	nonneg := map[string]bool{}
	for _, n := range r.config.Nonnegative {
		nonneg[n] = true
	}
	for i, t := range r.c.tables {
		for _, col := range r.c.cols[i] {
			p := r.c.prog.Param(t, col)
			if p == nil {
				return about(sqlerr.New(sqlerr.InvalidParameter, "the loss does not depend on %s.%s", t.Name, t.Cols[col].Name).
					WithHint("Name the columns that are trained, e.g. '%s.%s'.", t.Name, reached(r.c, i)), "params", i)
			}
			name := t.Name + "." + t.Cols[col].Name
			root, rc := i+1, r.c.gradColumn(i, col)
			l, err := r.db.cat.live(ctx, t, col, p)
			if err != nil {
				return err
			}
			var match []int32
			s := &train.Slot{Name: name, Size: p.Size, Param: train.Floats{F32: p.F32, F64: p.F64}, Key: l.key,
				Nonnegative: nonneg[t.Name] || nonneg[name],
				Grad: func() (train.Floats, []int32, error) {
					if match == nil || r.c.query.Draws { // a step of its own may have rows of its own
						if match, err = r.c.prog.Match(root, t, r.c.gradKey(root-1)); err != nil {
							return train.Floats{}, nil, err
						}
					}
					g := r.c.prog.Grad(root, rc)
					return train.Floats{F32: g.F32, F64: g.F64}, match, nil
				}}
			delete(nonneg, name)
			r.slots, r.lives = append(r.slots, s), append(r.lives, l)
		}
		delete(nonneg, t.Name)
	}
	for i, n := range r.config.Nonnegative {
		if nonneg[n] {
			return about(sqlerr.New(sqlerr.InvalidParameter, "nonnegative names %q, which is not a parameter of this run", n), "nonnegative", i)
		}
	}
	return nil
}

// reached names a column of parameter i that the loss reads.
func reached(c *compiled, i int) string {
	for _, col := range c.cols[i] {
		if c.prog.Param(c.tables[i], col) != nil {
			return c.tables[i].Cols[col].Name
		}
	}
	return "v"
}

// compileValidation compiles the validation view for the executor, without draws; a query that only the
// store can run is run there.
func (r *run) compileValidation(ctx context.Context) error {
	v, err := r.db.compile(ctx, request{loss: r.config.Validate, params: r.params, forward: true, as: "validation"})
	if err == nil {
		r.v = v
		return nil
	}
	if sqlerr.Code(err) != sqlerr.FeatureNotSupported && sqlerr.Code(err) != sqlerr.UndefinedFunction && sqlerr.Code(err) != sqlerr.DatatypeMismatch {
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
	x, err := r.c.run(ctx, kernels.Env{Seed: r.config.Seed, Step: step})
	return x, about(err, "loss", 0)
}

// Validate implements train.Model.
func (r *run) Validate(ctx context.Context) (float64, error) {
	x, err := r.validate(ctx)
	return x, about(err, "validate", 0)
}

func (r *run) validate(ctx context.Context) (float64, error) {
	if r.v == nil {
		if err := r.flush(ctx); err != nil {
			return 0, err
		}
		return r.validateInStore(ctx)
	}
	for _, l := range r.lives {
		if q := r.v.prog.Param(l.table, l.col); q != nil {
			copy(q.F32, l.param.F32)
			copy(q.F64, l.param.F64)
		}
	}
	return r.v.run(ctx, kernels.Env{Seed: r.config.Seed})
}

// validateInStore runs the validation as an ordinary query.
func (r *run) validateInStore(ctx context.Context) (float64, error) {
	sel, text, err := sqlfront.LossQuery(ctx, r.db.cat, "validation", r.config.Validate)
	if err != nil {
		return 0, err
	}
	res, err := r.db.DB.Exec(ctx, sel, text)
	if err != nil {
		return 0, err
	}
	if len(res.Rows) != 1 || len(res.Cols) != 1 {
		return 0, sqlerr.New(sqlerr.Cardinality, "the validation has %d rows of %d columns, not one number", len(res.Rows), len(res.Cols))
	}
	return number(res.Rows[0][0])
}

// train runs the loop inside transactions of the store.
func (r *run) train(ctx context.Context) error {
	r.atomic = r.db.InTransaction()
	if r.atomic {
		r.db.notice("NOTICE", "train: a transaction is open, so nothing is committed before its end")
	} else if err := r.db.Begin(); err != nil {
		return err
	}
	p, err := train.Run(ctx, r.config, r, r.slots, r.progress)
	if r.db.OnEnd != nil {
		r.db.OnEnd()
	}
	r.progress = p
	if r.atomic {
		return err
	}
	if err == nil {
		_, err = r.db.Commit()
		return err
	}
	if r.db.InTransaction() { // a failed COMMIT has ended it
		if back := r.db.Rollback(); back != nil {
			return fmt.Errorf("%w (and rolling back failed: %v)", err, back)
		}
	}
	return r.failed(ctx, err)
}

// failed notes in relgrad.run that the run ended with an error, unless it was cancelled.
func (r *run) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil || sqlerr.Code(err) == sqlerr.QueryCanceled {
		return err
	}
	if _, e := r.db.query(ctx, "UPDATE relgrad.run SET status = '%s' WHERE run = %d", failed, r.id); e != nil {
		r.db.notice("WARNING", fmt.Sprintf("train: could not note in relgrad.run that run %d failed: %v", r.id, e))
	}
	return err
}

// Commit implements train.Model.
func (r *run) Commit(ctx context.Context, p train.Progress, rows []train.LossRow) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	if err := r.saveState(ctx, p, rows); err != nil {
		return err
	}
	if r.atomic {
		return nil
	}
	if _, err := r.db.Commit(); err != nil {
		return err
	}
	return r.db.Begin()
}

// flush writes the parameters' live buffers to the store.
func (r *run) flush(ctx context.Context) error {
	for _, l := range r.lives {
		if err := r.db.cat.write(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// Tick implements train.Model.
func (r *run) Tick(row train.LossRow) {
	if r.db.OnStep != nil {
		r.db.OnStep(row, r.config.Epochs)
	}
}
