package relgrad

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// request says what is compiled: a loss, its parameters, and how.
type request struct {
	loss    string
	params  []string
	draw    bool              // dropout draws
	force64 bool              // everything in double precision
	forward bool              // the loss alone, with the parameters as live buffers
	as      string            // what messages call the query; "loss" when empty
	perStep map[object]bool   // tables that are read again at every step
	batch   *bind.Batch       // the relation of which a step reads some rows; nil: none
	seed    int64             // of the draws, where it is known
	beside  int               // numbers that are kept for each of a parameter: an optimizer's state and the like
	with    *executor.Program // a program that is in use at the same time; nil: none
}

// compiled is a request with its plan and program.
type compiled struct {
	request
	query  *bind.Query
	res    *optimizer.Result
	prog   *executor.Program
	tables []*ra.Table   // per parameter
	cols   [][]int       // per parameter: the table columns that are differentiated
	looks  []target      // parameters that look like data; of a run of training
	took   time.Duration // by plan

	read      []*ra.Table                     // the tables that the plan was made from
	defined   map[*ra.Table]*catalog.TableDef // their definitions
	described []description                   // and the sub-queries
}

// Compilation is what it took to make a program. The program is in use, and is gone when the statement is over that it
// was made for.
type Compilation struct {
	Loss      string
	Params    []string
	Planning  time.Duration // binding, differentiating, optimizing
	Reading   time.Duration // tables, from the database
	Structure time.Duration // the structure phase, without Reading
	Program   *executor.Program
}

// plan binds, differentiates and optimizes a request.
func (db *Engine) plan(ctx context.Context, r request) (*compiled, error) {
	if db.OnCompiling != nil {
		db.OnCompiling()
	}
	begin := time.Now()
	db.Refresh()
	c := &compiled{request: r}
	db.cat.perStep, db.cat.tables, db.cat.described = r.perStep, map[object]*ra.Table{}, nil
	defer func() {
		c.rests(db)
		db.cat.perStep, db.cat.tables, db.cat.described = nil, nil, nil
	}()
	var refs []bind.ParamRef
	var ps []optimizer.Param
	for n, name := range r.params {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ref, t, err := bind.ParseParam(ctx, db.cat, name)
		if err != nil {
			return nil, about(err, "params", n)
		}
		p := optimizer.Param{Table: t}
		for i, col := range t.Cols {
			if col.IsValue() && col.NoType == "" && !isKey(t, i) && (ref.Column == "" || ref.Column == col.Name) {
				p.Cols = append(p.Cols, i)
			}
		}
		if err := c.once(t, p.Cols); err != nil {
			return nil, about(err, "params", n)
		}
		refs, ps = append(refs, ref), append(ps, p)
		c.tables, c.cols = append(c.tables, t), append(c.cols, p.Cols)
	}
	if strings.TrimSpace(r.loss) == "" {
		return nil, about(sqlerr.New(sqlerr.InvalidParameter, "the loss is an empty text").
			WithHint("A loss is the name of a view, or the text of a query."), "loss", 0)
	}
	if strings.ContainsAny(r.loss, " (\n") && !bind.IsName(r.loss) {
		if err := db.judged(ctx, r.loss); err != nil {
			return nil, about(err, "loss", 0)
		}
	}
	if err := ctx.Err(); err != nil { // a long text is parsed again, which takes its time
		return nil, err
	}
	b := ra.NewBuilder()
	q, err := bind.BindLoss(ctx, db.cat, b, r.loss, bind.BindOptions{Params: refs, Draw: r.draw, As: r.as, Batch: r.batch})
	if err != nil {
		return nil, about(err, "loss", 0)
	}
	if r.batch != nil && !r.batch.Used {
		return nil, about(sqlerr.New(sqlerr.InvalidParameter, "the loss does not read the batch %q", r.batch.Name), "batch",
			0)
	}
	c.query = q
	if r.forward {
		ps = nil
	} else if r.beside > 0 {
		c.looks = targets(q.Node, q.Cols[0], c.tables, c.cols)
	}
	c.res, err = optimizer.Gradient(ctx, b, q.Node, q.Cols[0], ps, optimizer.Options{Disable: db.Disable})
	var of *autodiff.ParamError
	if errors.As(err, &of) {
		return nil, about(of.Err, "params", of.Param)
	}
	if err == nil && r.as != "" {
		c.res.Plan.Roots[0].Name = r.as
	}
	if err == nil {
		db.cat.markSteps(c.res.Plan)
	}
	c.took = time.Since(begin)
	// it reads the batch, which is no planning
	if err == nil && r.batch != nil && r.batch.Near != "" && r.batch.Order != nil {
		if err := r.batch.Order(ctx); err != nil {
			return nil, about(err, "batch", 0)
		}
	}
	return c, about(err, "loss", 0)
}

// rests notes what a plan was made from, which a database that computes it must look at again.
func (c *compiled) rests(db *Engine) {
	if _, ok := db.Database.(catalog.Pusher); !ok || c.res == nil {
		return
	}
	order := func(a, b *ra.Table) int { return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name)) }
	c.read, c.described = slices.SortedFunc(maps.Values(db.cat.tables), order), db.cat.described
	c.read = slices.CompactFunc(c.read, func(a, b *ra.Table) bool { return order(a, b) == 0 })
	c.defined = map[*ra.Table]*catalog.TableDef{}
	for _, t := range c.read {
		c.defined[t], _ = db.Relation(nil, t.Schema, t.Name)
	}
}

// judged lets the database judge a query text first. Of a name that does not exist, and of a text that is nested too
// deeply, the binder says more: its error counts where it is about the same.
func (db *Engine) judged(ctx context.Context, loss string) error {
	err := db.Prepare(ctx, loss)
	var theirs, ours *sqlerr.Error
	if !errors.As(err, &theirs) {
		return err
	}
	switch theirs.Code {
	case sqlerr.UndefinedTable, sqlerr.UndefinedColumn, sqlerr.UndefinedFunction, sqlerr.TooComplex:
	default:
		return err
	}
	_, other := bind.BindLoss(ctx, db.cat, ra.NewBuilder(), loss, bind.BindOptions{})
	if errors.As(other, &ours) && (ours.Pos == theirs.Pos || ours.Code == sqlerr.TooComplex && theirs.Code == ours.Code) {
		return other
	}
	return err
}

// once refuses a column that another parameter has already.
func (c *compiled) once(t *ra.Table, cols []int) error {
	for i, u := range c.tables {
		for _, k := range c.cols[i] {
			if u.Schema == t.Schema && u.Name == t.Name && slices.Contains(cols, k) {
				return sqlerr.New(sqlerr.InvalidParameter, "parameter \"%s.%s\" is named twice", t.Name, t.Cols[k].Name)
			}
		}
	}
	return nil
}

func isKey(t *ra.Table, col int) bool {
	for _, k := range t.Key {
		if k == col {
			return true
		}
	}
	return false
}

// compile plans a request and runs the structure phase.
func (db *Engine) compile(ctx context.Context, r request) (*compiled, error) {
	c, err := db.plan(ctx, r)
	if err != nil {
		return nil, err
	}
	return c, db.build(ctx, c)
}

// build runs the structure phase of a plan.
func (db *Engine) build(ctx context.Context, c *compiled) (err error) {
	o := db.options(c.with)
	// an optimizer's state: a run of training
	o.Force64, o.Env, o.Beside, o.Many = c.force64, kernels.Env{Seed: c.seed}, c.beside, c.beside > 0
	begin, reading := time.Now(), db.cat.reading
	c.prog, err = executor.Compile(ctx, c.res.Plan, db.cat, o)
	if err == nil && db.OnCompiled != nil {
		read := db.cat.reading - reading
		db.OnCompiled(Compilation{Loss: c.loss, Params: c.params, Planning: c.took, Reading: read,
			Structure: time.Since(begin) - read, Program: c.prog})
	}
	return about(err, "loss", 0)
}

// drawn checks that a loss that draws has been given a step.
func (c *compiled) drawn(step *int64) error {
	if c.query.Draws && step == nil {
		return sqlerr.New(sqlerr.InvalidParameter, "the loss draws (dropout or current_step()), so it needs a step").
			WithHint("Add step => 1; the same step and seed give the same draw.")
	}
	return nil
}

// run computes one step and returns the loss.
func (c *compiled) run(ctx context.Context, env kernels.Env) (float64, error) {
	if err := c.prog.Run(ctx, env); err != nil {
		return 0, err
	}
	x, null, err := c.prog.Scalar(0)
	if err != nil {
		return 0, err
	}
	if null {
		return 0, c.isNull()
	}
	return x, nil
}

// isNull explains a loss that is NULL by the empty tables that it reads.
func (c *compiled) isNull() error {
	e := sqlerr.New(sqlerr.NullNotAllowed, "the %s is NULL", c.res.Plan.Roots[0].Name).
		WithDetail("Aggregates of no rows, or of NULL only, are NULL.").
		WithHint("Check that the joins of the loss find partners, or use coalesce(…, 0).")
	var empty []string
	for _, n := range c.query.Scans {
		if n.Table.Rows == 0 {
			empty = append(empty, n.Table.Name)
		}
	}
	if slices.Sort(empty); len(empty) > 0 {
		e = e.WithDetail("Without rows: %s.", strings.Join(empty, ", ")).WithHint("Fill the tables that the loss reads.")
	}
	return e
}
