package randquery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// Engine computes a plan's results.
type Engine struct {
	Name string
	// Run returns, per root, the rows with the root's wanted columns, in any order.
	Run func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error)
	Tol float64 // relative to the root's largest value, on double precision
	// TolReal is the tolerance on real; 0: the engine is not run on real.
	TolReal float64
}

// ErrLimit is what an engine returns for a plan that is beyond a limit of its own; such plans are counted.
var ErrLimit = errors.New("randquery: beyond a limit of the engine")

// Oracle is the interpreter.
var Oracle = Engine{Name: "oracle", Tol: 1e-9,
	Run: func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
		return evaluate(ctx, db, plan, env)
	}}

func evaluate(ctx context.Context, src ra.Source, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
	in := interp.New(src, env)
	out := make([][]interp.Row, len(plan.Roots))
	for i, root := range plan.Roots {
		rows, err := in.Eval(ctx, root.Node)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			row := make(interp.Row, len(root.Cols))
			for j, id := range root.Cols {
				row[j] = r[root.Node.Index(id)]
			}
			out[i] = append(out[i], row)
		}
	}
	return out, nil
}

// Checker compares everything with everything for one query at a time.
type Checker struct {
	Engines []Engine
	// Elements is the number of single elements, per parameter, whose derivative is compared with central
	// differences, besides one random direction.
	Elements int
	Stats    Stats
}

// Stats count what was checked.
type Stats struct {
	Queries, NullLoss, Wild, Unreached, EmptyRoots   int
	Differences, Kinks, RulesOff, Transformed, Reals int
	Statements, Limits                               int
	Uses, Fired                                      map[string]int
}

// Listed reports whether a counted use has a name that Constructs or Kernels list.
func Listed(use string) bool {
	return strings.HasPrefix(use, "kernel:") || strings.HasPrefix(use, "variant: ") || use == vectorProduct ||
		use == nullConcat || slices.Contains(Constructs, use)
}

// Add sums the counts of another run.
func (s *Stats) Add(o Stats) {
	s.Queries, s.NullLoss, s.Wild, s.Unreached = s.Queries+o.Queries, s.NullLoss+o.NullLoss, s.Wild+
		o.Wild, s.Unreached+o.Unreached
	s.EmptyRoots, s.Differences, s.Kinks = s.EmptyRoots+o.EmptyRoots, s.Differences+o.Differences, s.Kinks+o.Kinks
	s.RulesOff, s.Transformed, s.Reals = s.RulesOff+o.RulesOff, s.Transformed+o.Transformed, s.Reals+o.Reals
	s.Statements, s.Limits = s.Statements+o.Statements, s.Limits+o.Limits
	for _, m := range []struct{ to, from *map[string]int }{{&s.Uses, &o.Uses}, {&s.Fired, &o.Fired}} {
		if *m.to == nil {
			*m.to = map[string]int{}
		}
		for k, n := range *m.from {
			(*m.to)[k] += n
		}
	}
}

// env is the environment of all runs: dropout draws.
var env = &kernels.Env{Seed: 1, Step: 2, Epoch: 2}

// Plain reports whether the loss means the same as an ordinary statement: no nested gradient, nothing that
// depends on the step, none of the forms that a loss reads differently.
func (q *Query) Plain() bool {
	return len(q.Nested) == 0 && q.Uses["kernel:current_step"]+q.Uses["kernel:current_epoch"]+
		q.Uses["kernel:current_seed"]+q.Uses[vectorProduct]+q.Uses[nullConcat] == 0
}

// Case is a query bound over its database.
type Case struct {
	Q      *Query
	DB     *memdb.DB
	Params []optimizer.Param
	Names  []string // of the parameters that the loss reaches
	Result *optimizer.Result
}

// Open loads a query's database with its views.
func (q *Query) Open(kind kernels.Kind) (*memdb.DB, error) {
	db := q.DB.Mem(kind)
	for _, v := range q.Views {
		if err := db.AddView(v.Name, v.SQL); err != nil {
			return nil, fmt.Errorf("view %s: %w", v.Name, err)
		}
	}
	return db, nil
}

// compile binds, differentiates and optimizes a loss.
func compile(ctx context.Context, db bind.Catalog, loss string, params []string,
	opt optimizer.Options) (*optimizer.Result, []optimizer.Param, error) {
	b := ra.NewBuilder()
	var refs []bind.ParamRef
	var ps []optimizer.Param
	for _, p := range params {
		ref, t, err := bind.ParseParam(ctx, db, p)
		if err != nil {
			return nil, nil, err
		}
		q := optimizer.Param{Table: t}
		if ref.Column != "" {
			q.Cols = []int{t.Column(ref.Column)}
		}
		refs, ps = append(refs, ref), append(ps, q)
	}
	q, err := bind.BindLoss(ctx, db, b, loss, bind.BindOptions{Params: refs, Draw: true})
	if err == nil {
		err = ra.ValidateForward(q.Node)
	}
	if err != nil {
		return nil, nil, err
	}
	res, err := optimizer.Gradient(ctx, b, q.Node, q.Cols[:1], ps, opt)
	if err == nil {
		err = ra.Validate(res.Grad.Nodes()...)
	}
	return res, ps, err
}

// unreached reports whether an error says that the loss does not depend on a parameter.
func unreached(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && e.Code == sqlerr.InvalidParameter && strings.HasPrefix(e.Message, "the loss does not ")
}

// prepare compiles the query for the parameters that its loss reaches; nil if it reaches none.
func (c *Checker) prepare(ctx context.Context, q *Query, kind kernels.Kind, opt optimizer.Options) (*Case, error) {
	db, err := q.Open(kind)
	if err != nil {
		return nil, err
	}
	out := &Case{Q: q, DB: db}
	if out.Result, out.Params, err = compile(ctx, db, q.Loss, q.Params, opt); err == nil {
		out.Names = q.Params
		return out, nil
	}
	if !unreached(err) {
		return nil, err
	}
	for _, p := range q.Params {
		_, _, err := compile(ctx, db, q.Loss, []string{p}, optimizer.Options{})
		switch {
		case err == nil:
			out.Names = append(out.Names, p)
		case unreached(err):
			c.Stats.Unreached++
			if err := isConstant(ctx, db, q, p); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	if len(out.Names) == 0 {
		return nil, nil
	}
	out.Result, out.Params, err = compile(ctx, db, q.Loss, out.Names, opt)
	return out, err
}

// isConstant checks that a parameter which the loss is said not to depend on does not move it.
func isConstant(ctx context.Context, db *memdb.DB, q *Query, param string) error {
	b := ra.NewBuilder()
	bound, err := bind.BindLoss(ctx, db, b, q.Loss, bind.BindOptions{Draw: true})
	if err != nil {
		return err
	}
	node, err := autodiff.Expand(ctx, b, bound.Node)
	if err != nil {
		return err
	}
	plan := &ra.Plan{Roots: []ra.Root{{Node: node, Cols: bound.Cols}}}
	table, col, _ := strings.Cut(param, ".")
	var at [2]float64
	for i, h := range []float64{-1e-7, 1e-7} {
		src := &moved{DB: db}
		for j, v := range db.Data[table] {
			if v.Kind() == column.F64 && (col == "" || col == db.Tables[table].Cols[j].Name) {
				src.move(table, j, func(int) float64 { return h })
			}
		}
		rows, err := evaluate(ctx, src, plan, env)
		if err != nil {
			return err
		}
		if len(rows[0]) != 1 || rows[0][0][0].Null {
			return nil
		}
		at[i] = rows[0][0][0].Float()
	}
	// a jump of a piecewise constant function is larger
	if d := math.Abs(at[1] - at[0]); d > 1e-9*math.Max(1, math.Abs(at[0])) && d < 1e-3 {
		return fmt.Errorf("the loss is said not to depend on %s, but moves from %v to %v", param, at[0], at[1])
	}
	return nil
}

// moved is a database with some values moved.
type moved struct {
	*memdb.DB
	data map[string]*column.Column
}

func (m *moved) move(table string, col int, by func(i int) float64) {
	v := m.DB.Data[table][col].Clone()
	for i := range v.F64() {
		v.F64()[i] += by(i)
	}
	if m.data == nil {
		m.data = map[string]*column.Column{}
	}
	m.data[fmt.Sprint(table, " ", col)] = v
}

// Read implements ra.Source.
func (m *moved) Read(ctx context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	out, err := m.DB.Read(ctx, t, cols)
	for i, c := range cols {
		if v := m.data[fmt.Sprint(t.Name, " ", c)]; v != nil {
			out[i] = v
		}
	}
	return out, err
}
