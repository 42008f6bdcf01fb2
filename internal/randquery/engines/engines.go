// Package engines holds what random queries are run on besides the oracle.
//
// # What
//
// Executor runs a plan in the chunk executor, SQLite as generated SQL, Statement runs the loss itself as a
// statement of the embedded store.
//
// # Invariants
//
// An Engine is used by one goroutine at a time.
//
// # Errors
//
// Those of the engines; randquery.ErrLimit for a plan that is beyond a limit of SQLite.
//
// # Where to add
//
// Another engine is another function that returns a randquery.Engine.
package engines

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/autodiff"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqlrun"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store"
)

// Executor runs a plan on one worker and on two, which must agree to the bit. Real is computed in double
// precision, except over a database of real columns.
func Executor() randquery.Engine {
	return randquery.Engine{Name: "executor", Tol: 1e-9, TolReal: 2e-3,
		Run: func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
			var first [][]interp.Row
			for workers := 1; workers <= 2; workers++ {
				rows, err := execute(ctx, db, plan, executor.Options{Workers: workers, Force64: !hasReal(db), Env: *env})
				if err != nil {
					return nil, fmt.Errorf("%d workers: %w", workers, err)
				}
				if first == nil {
					first = rows
				} else if err := bitEqual(first, rows); err != nil {
					return nil, fmt.Errorf("one worker against two: %w", err)
				}
			}
			return first, nil
		}}
}

func hasReal(db *memdb.DB) bool {
	for _, cols := range db.Data {
		for _, v := range cols {
			if v.Kind() == column.F32 {
				return true
			}
		}
	}
	return false
}

func execute(ctx context.Context, db *memdb.DB, plan *ra.Plan, opt executor.Options) ([][]interp.Row, error) {
	p, err := executor.Compile(ctx, plan, db, opt)
	if err != nil {
		return nil, err
	}
	return results(ctx, p, plan, opt.Env)
}

// results runs a program once and closes it.
func results(ctx context.Context, p *executor.Program, plan *ra.Plan, env kernels.Env) ([][]interp.Row, error) {
	defer p.Close()
	return once(ctx, p, plan, env)
}

// once runs a program once.
func once(ctx context.Context, p *executor.Program, plan *ra.Plan, env kernels.Env) ([][]interp.Row, error) {
	if err := p.Run(ctx, env); err != nil {
		return nil, err
	}
	out := make([][]interp.Row, len(plan.Roots))
	for i := range plan.Roots {
		cols, err := p.Result(i)
		if err != nil {
			return nil, err
		}
		for r := range cols[0].Len() {
			row := make(interp.Row, len(cols))
			for j, c := range cols {
				row[j] = c.Value(r)
			}
			out[i] = append(out[i], row)
		}
	}
	return out, nil
}

func bitEqual(a, b [][]interp.Row) error {
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return fmt.Errorf("root %d: %d rows against %d", i, len(a[i]), len(b[i]))
		}
		for r := range a[i] {
			for c := range a[i][r] {
				x, y := a[i][r][c], b[i][r][c]
				if x.Null != y.Null || !x.Type.IsFloat() && x.String() != y.String() {
					return fmt.Errorf("root %d row %d: %v against %v", i, r, x, y)
				}
				if x.Null || !x.Type.IsFloat() {
					continue
				}
				f, g := x.Floats(), y.Floats()
				for e := range f {
					if math.Float64bits(f[e]) != math.Float64bits(g[e]) {
						return fmt.Errorf("root %d row %d column %d: %v against %v", i, r, c, f[e], g[e])
					}
				}
			}
		}
	}
	return nil
}

// SQLite runs a plan as generated SQL. The caller closes the engine after use.
func SQLite() (randquery.Engine, func() error, error) {
	e, err := sqlrun.New()
	if err != nil {
		return randquery.Engine{}, nil, err
	}
	run := func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
		for _, root := range plan.Roots {
			if expansions(root.Node) > maxExpansions {
				return nil, randquery.ErrLimit
			}
		}
		rows, err := e.Run(ctx, db, plan, env)
		if err != nil && (strings.Contains(err.Error(), "Expression tree is too large") ||
			strings.Contains(err.Error(), "at most 64 tables in a join") ||
			strings.Contains(err.Error(), "is not a number")) {
			return nil, randquery.ErrLimit // a scalar of SQLite holds no NaN, also one that no row of the result reads
		}
		if sqlerr.Code(err) == sqlerr.TooComplex { // a second derivative whose text is longer than sqlgen lets it be
			return nil, randquery.ErrLimit
		}
		return rows, err
	}
	return randquery.Engine{Name: "sqlite", Tol: 1e-9, TolReal: 2e-3, Run: run}, e.Close, nil
}

// maxExpansions bounds the work of SQLite's parser, which copies a CTE for every path on which it is reached.
const maxExpansions = 10000

// expansions counts the paths from root to all nodes.
func expansions(root *ra.Node) int {
	var order []*ra.Node
	ra.Walk(func(n *ra.Node) { order = append(order, n) }, root)
	paths, sum := map[*ra.Node]int{root: 1}, 0
	for i := len(order) - 1; i >= 0; i-- {
		sum += paths[order[i]]
		for _, in := range order[i].Inputs {
			paths[in] = min(paths[in]+paths[order[i]], maxExpansions+1)
		}
	}
	return sum
}

// Statement runs the loss as an ordinary statement of the embedded store and compares it with the oracle: the
// one check of what the binder makes of SQL. Queries that mean something else there are left out: nested
// gradients, what depends on the step, and the forms that randquery.Plain names. It reports whether it ran.
func Statement(ctx context.Context, q *randquery.Query) (bool, error) {
	if !q.Plain() {
		return false, nil
	}
	want, err := plainLoss(ctx, q)
	if err != nil {
		return false, err
	}
	got, err := runScript(ctx, q)
	if err != nil && strings.Contains(err.Error(), "a chunk that holds -0 is not supported") {
		return false, nil // the store refuses what its DISTINCT and UNION would change
	}
	if err != nil {
		return false, err
	}
	tol := 1e-9
	if q.Uses["cast to real"] > 0 { // the store rounds, the oracle does not
		tol = 1e-5
	}
	x, ok := got.(float64)
	if s, isText := got.(string); isText { // numeric
		x, err = strconv.ParseFloat(s, 64)
		ok = err == nil
	}
	switch {
	case want.Null != (got == nil) || got != nil && !ok:
		return true, fmt.Errorf("store: the loss is %v, not %v", got, want)
	case ok && !(math.Abs(x-want.Float()) <= tol*math.Max(1, math.Abs(want.Float()))) &&
		!(math.IsNaN(x) && math.IsNaN(want.Float())):
		return true, fmt.Errorf("store: the loss is %.15g, not %.15g", x, want.Float())
	}
	return true, nil
}

// runScript creates the query's database in a new store and returns the loss.
func runScript(ctx context.Context, q *randquery.Query) (any, error) {
	db, err := store.OpenTemp()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	sql := q.DB.Script(kernels.Float64)
	loss := q.Loss
	for _, v := range q.Views {
		sql = append(sql, fmt.Sprintf("CREATE VIEW %s AS %s;", v.Name, v.SQL))
		if v.Name == q.Loss {
			loss = "SELECT * FROM " + v.Name
		}
	}
	var got any
	for _, s := range append(sql, loss) {
		text := &ast.Text{SQL: s}
		list, err := parse.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("store: %s: %w", s, err)
		}
		for _, st := range list {
			r, err := db.Exec(ctx, st.Stmt, text)
			if err != nil {
				return nil, fmt.Errorf("store: %w in: %s", err, s)
			}
			if r.HasRows && len(r.Rows) != 1 {
				return nil, fmt.Errorf("store: the loss has %d rows", len(r.Rows))
			}
			if r.HasRows {
				got = r.Rows[0][0]
			}
		}
	}
	return got, nil
}

// plainLoss evaluates the loss with the oracle as an ordinary SELECT means it: nothing is dropped out.
func plainLoss(ctx context.Context, q *randquery.Query) (kernels.Value, error) {
	db, err := q.Open(kernels.Float64)
	if err != nil {
		return kernels.Value{}, err
	}
	b := ra.NewBuilder()
	bound, err := bind.BindLoss(ctx, db, b, q.Loss, bind.BindOptions{})
	if err != nil {
		return kernels.Value{}, err
	}
	node, err := autodiff.Expand(ctx, b, bound.Node)
	if err != nil {
		return kernels.Value{}, err
	}
	plan := &ra.Plan{Roots: []ra.Root{{Node: node, Cols: bound.Cols}}}
	rows, err := randquery.Oracle.Run(ctx, db, plan, &kernels.Env{})
	if err != nil {
		return kernels.Value{}, err
	}
	if len(rows[0]) != 1 {
		return kernels.Value{}, fmt.Errorf("the loss has %d rows", len(rows[0]))
	}
	return rows[0][0][0], nil
}
