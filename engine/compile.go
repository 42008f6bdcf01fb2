package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/train"
)

// Request tells what to compile: a loss, its parameters, and how.
type Request struct {
	Loss    string
	Params  []string
	Draw    bool              // dropout draws
	force64 bool              // everything in double precision
	shown   bool              // it is explained, as a training run has it
	Forward bool              // only the loss, with the parameters as live buffers
	As      string            // the query's name in messages; "": "loss"
	Figures bool              // it may have several columns, which Figures gives
	PerStep map[Object]bool   // tables whose rows are read again at every step
	Batch   *bind.Batch       // the relation of which a step reads some rows; nil: none
	Seed    int64             // seed of the draws, if known
	Beside  int               // numbers kept for each number of a parameter, such as an optimizer's state
	With    *executor.Program // a program in use at the same time; nil: none
}

// Compiled is a request with its plan and program.
type Compiled struct {
	Request
	query  *bind.Query
	Res    *optimizer.Result
	Prog   *executor.Program
	Tables []*ra.Table   // per parameter
	Cols   [][]int       // per parameter: the columns that are differentiated
	Looks  []target      // of a training run: parameters that look like data
	took   time.Duration // time of planning
	placed *physical.Choice
	stays  string // why the processors compute it though the device is chosen automatically
	// queries are those at other servers, where the databases compute the loss; nil: it is computed here.
	queries *Queries

	Read      []*ra.Table                     // tables from which the plan was made
	Defined   map[*ra.Table]*catalog.TableDef // their definitions
	described []description                   // sub-queries from which it was made
}

// Compilation tells what it took to make a program. The program is in use; it is freed after the statement for which it
// was made.
type Compilation struct {
	Loss      string
	Params    []string
	Planning  time.Duration // binding, differentiating, optimizing
	Reading   time.Duration // reading tables from the database
	Structure time.Duration // the structure phase without Reading
	Program   *executor.Program
	Placed    *physical.Choice // of several sites
}

// compiler makes plans and programs of losses.
type compiler struct{ session }

// Plan binds, differentiates and optimizes a request.
func (db *compiler) Plan(ctx context.Context, r Request) (*Compiled, error) {
	if db.OnCompiling != nil {
		db.OnCompiling()
	}
	begin := time.Now()
	db.Refresh()
	c := &Compiled{Request: r}
	db.Catalogue.perStep, db.Catalogue.tables, db.Catalogue.described = r.PerStep, map[Object]*ra.Table{}, nil
	defer func() {
		c.rests(db)
		db.Catalogue.perStep, db.Catalogue.tables, db.Catalogue.described = nil, nil, nil
	}()
	refs, ps, err := db.parameters(ctx, c)
	if err != nil {
		return nil, err
	}
	b := ra.NewBuilder()
	if err := db.bound(ctx, c, b, refs); err != nil {
		return nil, err
	}
	if q := c.query; r.Forward {
		ps = nil
	} else if r.Beside > 0 {
		c.Looks = targets(q.Node, q.Cols[0], c.Tables, c.Cols)
	}
	if err := db.differentiated(ctx, c, b, ps); err != nil {
		return nil, err
	}
	c.took = time.Since(begin)
	if o := r.Batch; o != nil && o.Near != "" && o.Order != nil { // ordering reads the batch, which is not planning
		if err := o.Order(ctx); err != nil {
			return nil, About(err, "batch", 0)
		}
	}
	return c, nil
}

// parameters finds a request's parameters and those of their columns that are differentiated.
func (db *compiler) parameters(ctx context.Context, c *Compiled) (refs []bind.ParamRef, ps []optimizer.Param,
	err error) {
	for n, name := range c.Params {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		ref, t, err := bind.ParseParam(ctx, db.Catalogue, name)
		if err != nil {
			return nil, nil, About(err, "params", n)
		}
		p := optimizer.Param{Table: t}
		for i, col := range t.Cols {
			if col.IsValue() && col.NoType == "" && !IsKey(t, i) && (ref.Column == "" || ref.Column == col.Name) {
				p.Cols = append(p.Cols, i)
			}
		}
		if err := c.once(t, p.Cols); err != nil {
			return nil, nil, About(err, "params", n)
		}
		refs, ps = append(refs, ref), append(ps, p)
		c.Tables, c.Cols = append(c.Tables, t), append(c.Cols, p.Cols)
	}
	return refs, ps, nil
}

// bound binds the loss.
func (db *compiler) bound(ctx context.Context, c *Compiled, b *ra.Builder, refs []bind.ParamRef) (err error) {
	r := &c.Request
	if strings.TrimSpace(r.Loss) == "" {
		return About(sqlerr.New(sqlerr.InvalidParameter, "the loss is an empty text").
			WithHint("A loss is the name of a view, or the text of a query."), "loss", 0)
	}
	if strings.ContainsAny(r.Loss, " (\n") && !bind.IsName(r.Loss) {
		if err := db.judged(ctx, r.Loss); err != nil {
			return About(err, "loss", 0)
		}
	}
	if err := ctx.Err(); err != nil { // parsing a long text again takes time
		return err
	}
	c.query, err = bind.BindLoss(ctx, db.Catalogue, b, r.Loss,
		bind.BindOptions{Params: refs, Draw: r.Draw, As: r.As, Figures: r.Figures, Batch: r.Batch})
	if err != nil {
		return About(err, "loss", 0)
	}
	for _, what := range c.query.Surprises { // once in a session
		if !db.said[what] {
			db.said[what] = true
			db.Notify("NOTICE", what)
		}
	}
	if r.Batch != nil && !r.Batch.Used {
		return About(sqlerr.New(sqlerr.InvalidParameter, "the loss does not read the batch %q", r.Batch.Name), "batch", 0)
	}
	return nil
}

// differentiated makes the plan of the loss and its gradients.
func (db *compiler) differentiated(ctx context.Context, c *Compiled, b *ra.Builder, ps []optimizer.Param) (err error) {
	c.Res, err = optimizer.Gradient(ctx, b, c.query.Node, c.query.Cols, ps, optimizer.Options{Disable: db.Disable})
	var of *autodiff.ParamError
	if errors.As(err, &of) {
		return About(of.Err, "params", of.Param)
	}
	if err != nil {
		return About(err, "loss", 0)
	}
	if c.As != "" {
		c.Res.Plan.Roots[0].Name = c.As
	}
	db.Catalogue.markSteps(c.Res.Plan)
	return nil
}

// rests records the tables and sub-queries from which a plan was made. A database that computes the plan must check
// them.
func (c *Compiled) rests(db *compiler) {
	if _, ok := db.Database.(catalog.Pusher); !ok || c.Res == nil {
		return
	}
	order := func(a, b *ra.Table) int { return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name)) }
	c.Read, c.described = slices.SortedFunc(maps.Values(db.Catalogue.tables), order), db.Catalogue.described
	c.Read = slices.CompactFunc(c.Read, func(a, b *ra.Table) bool { return order(a, b) == 0 })
	c.Defined = map[*ra.Table]*catalog.TableDef{}
	for _, t := range c.Read {
		c.Defined[t], _ = db.Relation(nil, t.Schema, t.Name)
	}
}

// judged lets the database check a query text before it is bound. The binder's error is preferred if it is about the
// same thing: it is better for unknown names and for texts that are nested too deeply.
func (db *compiler) judged(ctx context.Context, loss string) error {
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
	_, other := bind.BindLoss(ctx, db.Catalogue, ra.NewBuilder(), loss, bind.BindOptions{})
	if errors.As(other, &ours) && (ours.Pos == theirs.Pos || ours.Code == sqlerr.TooComplex && theirs.Code == ours.Code) {
		return other
	}
	return err
}

// once refuses a column that belongs to another parameter already.
func (c *Compiled) once(t *ra.Table, cols []int) error {
	for i, u := range c.Tables {
		for _, k := range c.Cols[i] {
			if u.Schema == t.Schema && u.Name == t.Name && slices.Contains(cols, k) {
				return sqlerr.New(sqlerr.InvalidParameter, "parameter \"%s.%s\" is named twice", t.Name, t.Cols[k].Name)
			}
		}
	}
	return nil
}

func IsKey(t *ra.Table, col int) bool { return slices.Contains(t.Key, col) }

// Compile plans a request and runs the structure phase.
func (db *compiler) Compile(ctx context.Context, r Request) (*Compiled, error) {
	c, err := db.Plan(ctx, r)
	if err != nil {
		return nil, err
	}
	return c, db.Build(ctx, c)
}

// lossBeside compiles the loss of a program that is in use, alone, with the parameters as live buffers.
func (db *compiler) lossBeside(ctx context.Context, c *Compiled) (*Compiled, error) {
	f := &Compiled{Request: c.Request, query: c.query, Tables: c.Tables, Cols: c.Cols}
	f.Forward, f.With = true, c.Prog
	if err := db.differentiated(ctx, f, ra.NewBuilder(c.Res.RA.Nodes()...), nil); err != nil {
		return nil, err
	}
	return f, db.Build(ctx, f)
}

// Build runs the structure phase of a plan.
func (db *compiler) Build(ctx context.Context, c *Compiled) (err error) {
	o := db.options(c.With)
	// an optimizer's state means a training run
	o.Force64, o.Env, o.Beside, o.Many = c.force64, kernels.Env{Seed: c.Seed}, c.Beside, c.Beside > 0
	if c.Batch != nil {
		o.Batch = c.Batch.Bytes
	}
	begin, reading := time.Now(), db.Catalogue.reading
	c.Prog, err = db.compiled(ctx, c, o)
	if err == nil && db.OnCompiled != nil {
		read := db.Catalogue.reading - reading
		db.OnCompiled(Compilation{Loss: c.Loss, Params: c.Params, Planning: c.took, Reading: read,
			Structure: time.Since(begin) - read, Program: c.Prog, Placed: c.placed})
	}
	return About(located(ctx, db, c, err, kernels.Env{Seed: c.Seed}, nil), "loss", 0)
}

// Draws reports whether the loss depends on the step.
func (c *Compiled) Draws() bool { return c.query.Draws }

// drawn refuses a loss that draws but has no step.
func (c *Compiled) drawn(step *int64) error {
	if step != nil && *step < 0 {
		return About(sqlerr.New(sqlerr.InvalidParameter, "step is %d, not at least 0", *step), "step", 0)
	}
	if c.query.Draws && step == nil {
		return sqlerr.New(sqlerr.InvalidParameter, "the loss draws (dropout or current_step()), so it needs a step").
			WithHint("Add step => 1; the same step and seed give the same draw.")
	}
	return nil
}

// Run computes one step and returns the loss.
func (c *Compiled) Run(ctx context.Context, env kernels.Env) (float64, error) {
	if err := c.Prog.Run(ctx, env); err != nil {
		return 0, err
	}
	x, null, err := c.Prog.Scalar(0)
	if err != nil {
		return 0, err
	}
	if null {
		return 0, c.IsNull()
	}
	return x, nil
}

// Names are those of the query's columns.
func (c *Compiled) Names() []string { return c.query.Names }

// Metrics reports whether a figure is made of a metric.
func (c *Compiled) Metrics() bool { return c.query.Metrics }

// Guesses reports whether figures come from metrics and one is NaN: the database may have an error or a number instead.
func (c *Compiled) Guesses(figures []train.Figure) bool {
	return c.query.Metrics && slices.ContainsFunc(figures, func(f train.Figure) bool {
		return f.Value != nil && math.IsNaN(*f.Value)
	})
}

// Figures computes all columns of the row of a validation. The first one is not NULL.
func (c *Compiled) Figures(ctx context.Context, env kernels.Env) ([]train.Figure, error) {
	if err := c.Prog.Run(ctx, env); err != nil {
		return nil, err
	}
	values, err := c.Prog.Scalars(0)
	if err != nil {
		return nil, err
	}
	if values[0] == nil {
		return nil, c.IsNull()
	}
	out := make([]train.Figure, len(values))
	for i, x := range values {
		out[i] = train.Figure{Name: c.query.Names[i], Value: x}
	}
	return out, nil
}

// IsNull explains why a loss is NULL by the empty tables that it reads.
func (c *Compiled) IsNull() error {
	e := sqlerr.New(sqlerr.NullNotAllowed, "the %s is NULL", c.Res.Plan.Roots[0].Name).
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
