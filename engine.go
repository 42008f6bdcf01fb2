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

// below is the engine's database. It wraps the database so that methods of the same name in a DB come first.
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

// Check compares sampled elements of the gradient with central differences of the loss, all in float64, worst first.
func (db *Engine) Check(ctx context.Context, loss, param string, o engine.CheckOptions) (out []engine.CheckRow,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Check(ctx, loss, param, o)
}

// Explain shows a stage of a loss and its gradients: the query as bound (ra); loss and gradients before optimization
// (grad), and after it with the rules that fired (opt); the executor's program with what it computes once per run
// (physical); or SQL text that the database runs by itself (sql), with the reason for the choice of the engine and a
// server's estimate of the costs.
func (db *Engine) Explain(ctx context.Context, loss string, params []string, stage string) (_ string, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Explain(ctx, loss, params, stage)
}

// Analyze is the physical stage with measured times: it computes loss and gradients for the first steps of a run and
// trains nothing. batch and size are those of train; "" and 0: the whole loss. Since it measures the machine too, it is
// no stage of explain_gradient, which a busy server may run.
func (db *Engine) Analyze(ctx context.Context, loss string, params []string, batch string, size int64) (_ string,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Analyze(ctx, loss, params, batch, size)
}

// Picture is what Explain shows of a stage, or Analyze (stage analyze), as a graph for drawing.
func (db *Engine) Picture(ctx context.Context, loss string, params []string, stage, batch string,
	size int64) (_ *engine.Picture, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.core.Picture(ctx, loss, params, stage, batch, size)
}

// Train minimises a loss over its parameters and returns the run's number. It commits at most once a second
// and at the end, unless a transaction is open.
func (db *Engine) Train(ctx context.Context, loss string, params []string, c train.Config) (_ int64, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.trainer.Train(ctx, loss, params, c)
}

// Resume continues a run from its last commit, with its options. CALL train(resume => …) may change some of them.
func (db *Engine) Resume(ctx context.Context, id int64) (_ int64, failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.trainer.Resume(ctx, id, nil)
}

// DeleteRuns removes runs with their losses and the optimizer's state, all of them or none; the parameters stay.
func (db *Engine) DeleteRuns(ctx context.Context, runs ...int64) (failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	return db.trainer.DeleteRuns(ctx, runs...)
}

// Types of the engine's packages that callers name.
type (
	// Settings are a session's settings of its engine.
	Settings = engine.Settings
	// Events are a session's callbacks during training.
	Events = run.Events
	// Compilation tells what it took to make a program.
	Compilation = engine.Compilation
	// CheckOptions choose the elements of a gradient to check, and the rows of the loss.
	CheckOptions = engine.CheckOptions
	// CheckRow compares one element of a gradient with central differences.
	CheckRow = engine.CheckRow
	// Signature describes a function or procedure of the engine for its users.
	Signature = engine.Signature
)

// Values of Settings.Mode.
const (
	ModeAuto  = engine.ModeAuto
	ModeChunk = engine.ModeChunk
	ModeSQL   = engine.ModeSQL
)

// Stages are the stages that Explain shows, in the order of a query's life. "all" shows all.
var Stages = engine.Stages

// Surface lists the engine's functions. Functions in losses are listed by the registry of package kernels.
var Surface = engine.Surface

// ResultOf makes a statement's result of a relation, for printing.
func ResultOf(r *catalog.Relation) *catalog.Result { return engine.ResultOf(r) }
