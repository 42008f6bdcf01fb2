package relgrad

import (
	"context"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/train"
	"github.com/relgrad/relgrad/train/run"
)

// Engine differentiates and trains on one session of a database.
type Engine struct {
	*engine.Settings
	*run.Events
	below
	core    *engine.Engine
	trainer *run.Trainer
}

// below is the database that an engine works on. Its methods stand deeper than those of a store, which a DB has too.
type below struct{ catalog.Database }

func newEngine(d catalog.Database) *Engine {
	e := &Engine{Settings: &engine.Settings{}, Events: &run.Events{}, below: below{d}}
	e.core = engine.New(d, e.Settings)
	e.trainer = run.New(e.core, e.Events)
	return e
}

// Gradient returns rows of the table's type: identity and attributes copied, the gradient of the loss in the
// value columns (law 3). A loss that draws needs a step.
func (db *Engine) Gradient(ctx context.Context, loss, table string, step *int64, seed int64) (out *catalog.Relation,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Gradient(ctx, loss, table, step, seed)
}

// Backward computes the loss and all gradients in one pass and fills the temporary tables <table>_grad.
func (db *Engine) Backward(ctx context.Context, loss string, params []string, step *int64, seed int64) (x float64,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Backward(ctx, loss, params, step, seed)
}

// Check compares sampled elements of the gradient with central differences of the loss, all in float64, worst
// first.
func (db *Engine) Check(ctx context.Context, loss, param string, o engine.CheckOptions) (out []engine.CheckRow,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Check(ctx, loss, param, o)
}

// Explain shows a stage of a loss and its gradients: the query as bound (ra), loss and gradients before
// optimization (grad) and after it with the rules that fired (opt), the executor's program with what is
// computed once per run (physical), or SQL text that runs by itself on the database (sql),
// with what chose the engine and, of a server, its estimate of the costs.
func (db *Engine) Explain(ctx context.Context, loss string, params []string, stage string) (_ string, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Explain(ctx, loss, params, stage)
}

// Analyze is the physical stage with times: loss and gradients are computed for the first steps of a run, and nothing
// is trained. batch and size are those of train, "" and 0 for the whole loss. It measures the machine too, and is no
// stage of explain_gradient: a server has other work.
func (db *Engine) Analyze(ctx context.Context, loss string, params []string, batch string, size int64) (_ string,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Analyze(ctx, loss, params, batch, size)
}

// Train minimises a loss over its parameters and returns the run's number. It commits at most once a second
// and at the end, unless a transaction is open.
func (db *Engine) Train(ctx context.Context, loss string, params []string, c train.Config) (_ int64, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.trainer.Train(ctx, loss, params, c)
}

// Resume goes on with a run from its last commit.
func (db *Engine) Resume(ctx context.Context, id int64) (_ int64, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.trainer.Resume(ctx, id)
}

// DeleteRuns removes runs with their losses and the optimizer's state, all of them or none; the parameters stay.
func (db *Engine) DeleteRuns(ctx context.Context, runs ...int64) (failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.trainer.DeleteRuns(ctx, runs...)
}

// What the engine's packages define and callers name.
type (
	// Settings are what a session's user decides about its engine.
	Settings = engine.Settings
	// Events are what a session's user is told of a run, and what runs the statements that only scripts can.
	Events = run.Events
	// Compilation is what it took to make a program.
	Compilation = engine.Compilation
	// CheckOptions say which elements of a gradient are checked, and of which rows the loss is.
	CheckOptions = engine.CheckOptions
	// CheckRow compares one element of a gradient with central differences.
	CheckRow = engine.CheckRow
	// Signature describes a function or procedure of the engine for people.
	Signature = engine.Signature
)

// The values of Settings.Mode.
const (
	ModeAuto  = engine.ModeAuto
	ModeChunk = engine.ModeChunk
	ModeSQL   = engine.ModeSQL
)

// Stages are what Explain can show, in the order of a query's life; "all" shows every one.
var Stages = engine.Stages

// Surface lists the engine's functions. The functions that a loss may use are package kernels' registry.
var Surface = engine.Surface

// ResultOf turns a relation into a statement's result, for printing.
func ResultOf(r *catalog.Relation) *catalog.Result { return engine.ResultOf(r) }
