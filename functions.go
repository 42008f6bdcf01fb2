package relgrad

import (
	"context"
	"strconv"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// functions are the engine's functions inside statements (store.Intrinsics).
type functions struct{ db *DB }

// TableFunc runs gradient(loss, NULL::w) and check_gradient(loss, param) in FROM.
func (f *functions) TableFunc(ctx context.Context, call *ast.FuncCall, text *ast.Text) (*catalog.Relation, bool,
	error) {
	switch call.Name {
	case "gradient":
		loss, table, err := bind.GradientArgs(call)
		if err != nil {
			return nil, true, err
		}
		args, err := readArgs(call, []string{"loss", "param"}, 2, "step", "seed")
		if err != nil {
			return nil, true, err
		}
		r, err := f.db.Gradient(ctx, loss, table, args.step(), args.int("seed", 0))
		return r, true, args.place(err)
	case "check_gradient":
		args, err := readArgs(call, []string{"loss", "param"}, 0, "samples", "step", "seed", "batch", "batch_size")
		if err != nil {
			return nil, true, err
		}
		param, err := oneParam(args.list("param"))
		if err != nil {
			return nil, true, at(err, int(args.expr["param"].Position()))
		}
		if n := args.int("batch_size", 1); n < 1 {
			return nil, true, sqlerr.At(int(args.expr["batch_size"].Position()), sqlerr.InvalidParameter,
				"batch_size must be at least 1, not %d", n)
		}
		rows, err := f.db.Check(ctx, args.text("loss"), param, CheckOptions{Samples: int(args.int("samples", 100)),
			Step: args.step(), Seed: args.int("seed", 0), Batch: args.text("batch"), BatchSize: args.int("batch_size", 0)})
		if err != nil {
			return nil, true, args.place(err)
		}
		return checkRelation(rows), true, nil
	}
	return nil, false, nil
}

// ScalarFunc runs backward(), explain_gradient(), current_step() and current_seed() in expressions.
func (f *functions) ScalarFunc(ctx context.Context, call *ast.FuncCall, text *ast.Text) (string, any, bool, error) {
	switch call.Name {
	case "backward":
		args, err := readArgs(call, []string{"loss", "params"}, 0, "step", "seed")
		if err != nil {
			return "", nil, true, err
		}
		x, err := f.db.Backward(ctx, args.text("loss"), args.list("params"), args.step(), args.int("seed", 0))
		return "double precision", x, true, args.place(err)
	case "explain_gradient":
		args, err := readArgs(call, []string{"loss", "param"}, 0, "stage")
		if err != nil {
			return "", nil, true, err
		}
		s, err := f.db.Explain(ctx, args.text("loss"), args.list("param"), stageOf(args.value["stage"]))
		return "text", s, true, args.place(err)
	case "current_step":
		return "bigint", f.db.cat.env.Step, true, nil
	case "current_seed":
		return "bigint", f.db.cat.env.Seed, true, nil
	}
	return "", nil, false, nil
}

func checkRelation(rows []CheckRow) *catalog.Relation {
	return &catalog.Relation{
		Names: []string{"key", "column", "element", "analytic", "numeric", "error", "ok"},
		Types: []string{"text", "text", "bigint", "double precision", "double precision", "double precision", "boolean"},
		Cols: []*ra.Vector{
			vector(rows, func(r CheckRow) string { return r.Key }), vector(rows, func(r CheckRow) string { return r.Column }),
			vector(rows, func(r CheckRow) int64 { return r.Element }),
			vector(rows, func(r CheckRow) float64 { return r.Analytic }),
			vector(rows, func(r CheckRow) float64 { return r.Numeric }),
			vector(rows, func(r CheckRow) float64 { return r.Error }),
			vector(rows, func(r CheckRow) bool { return r.OK }),
		},
	}
}

// Gradient returns rows of the table's type: identity and attributes copied, the gradient of the loss in the
// value columns (law 3). A loss that draws needs a step.
func (db *Engine) Gradient(ctx context.Context, loss, table string, step *int64, seed int64) (out *catalog.Relation,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	err := db.onOneState(func() (err error) {
		out, err = db.gradient(ctx, request{loss: loss, params: []string{table}, draw: true}, step, seed)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (db *Engine) gradient(ctx context.Context, r request, step *int64, seed int64) (*catalog.Relation, error) {
	switch c, env, err := db.push(ctx, r, step, seed); {
	case err != nil:
		return nil, err
	case c != nil:
		return db.pushedRelation(ctx, c, env)
	}
	return db.executed(ctx, r, step, seed)
}

// executed is Gradient by the executor.
func (db *Engine) executed(ctx context.Context, r request, step *int64, seed int64) (*catalog.Relation, error) {
	c, err := db.session(ctx, r)
	if err != nil {
		return nil, err
	}
	if _, err := db.once(ctx, c, step, seed); err != nil {
		return nil, err
	}
	return db.gradientOf(ctx, c, 0, stepEnv(step, seed))
}

// gradientOf is the gradient of parameter i that the executor has computed, refused where it is not finite.
func (db *Engine) gradientOf(ctx context.Context, c *compiled, i int, env kernels.Env) (*catalog.Relation, error) {
	r, err := c.relation(i)
	if err == nil {
		err = db.finiteGradient(ctx, c, i, r, env)
	}
	return r, err
}

func stepEnv(step *int64, seed int64) kernels.Env {
	env := kernels.Env{Seed: seed}
	if step != nil {
		env.Step = *step
	}
	return env
}

// once runs a compiled loss for a call of gradient() or backward().
func (db *Engine) once(ctx context.Context, c *compiled, step *int64, seed int64) (float64, error) {
	if err := c.drawn(step); err != nil {
		return 0, err
	}
	env := stepEnv(step, seed)
	x, err := c.run(ctx, env)
	if err == nil {
		err = db.finite(ctx, c, x, env)
	}
	return x, about(err, "loss", 0)
}

// relation returns the gradient of parameter i with the table's columns in the table's order.
func (c *compiled) relation(i int) (*catalog.Relation, error) {
	cols, err := c.prog.Result(1 + i)
	if err != nil {
		return nil, err
	}
	t := c.tables[i]
	out := &catalog.Relation{}
	for tc, def := range t.Cols {
		for j, k := range c.res.Cols[i] {
			if k == tc {
				out.Names, out.Types, out.Cols = append(out.Names, def.Name), append(out.Types, def.PGType),
					append(out.Cols, cols[j].Plain())
			}
		}
	}
	return out, nil
}

// Backward computes the loss and all gradients in one pass and fills the temporary tables <table>_grad.
func (db *Engine) Backward(ctx context.Context, loss string, params []string, step *int64, seed int64) (x float64,
	failed error) {
	defer exported(&failed)
	defer db.rescue(db.InTransaction(), &failed)
	if len(params) == 0 {
		return 0, about(sqlerr.New(sqlerr.InvalidParameter, "backward needs at least one parameter, e.g. ARRAY['w']"),
			"params", 0)
	}
	err := db.onOneState(func() (err error) {
		x, err = db.backward(ctx, request{loss: loss, params: params, draw: true}, step, seed)
		return err
	})
	return x, err
}

func (db *Engine) backward(ctx context.Context, r request, step *int64, seed int64) (float64, error) {
	c, env, err := db.push(ctx, r, step, seed)
	if err == nil && c == nil {
		c, err = db.session(ctx, r)
	}
	if err != nil {
		return 0, err
	}
	if err := c.distinctGrads(); err != nil {
		return 0, err
	}
	if c.prog == nil {
		return db.pushedBackward(ctx, c, env)
	}
	x, err := db.once(ctx, c, step, seed)
	if err != nil {
		return 0, err
	}
	grads := make([]*catalog.Relation, len(c.tables))
	for i := range c.tables {
		if grads[i], err = db.gradientOf(ctx, c, i, stepEnv(step, seed)); err != nil {
			return 0, err
		}
	}
	for i, t := range c.tables {
		if err := db.putGrad(ctx, t, grads[i]); err != nil {
			return 0, err
		}
	}
	return x, nil
}

// constant reads an argument that is a constant: nil, bool, int64, float64, string or []string.
func constant(e ast.Expr) (any, error) {
	switch x := e.(type) {
	case *ast.Literal:
		switch x.Kind {
		case ast.LitNull:
			return nil, nil
		case ast.LitBool:
			return x.Value == "true", nil
		case ast.LitString:
			return x.Value, nil
		case ast.LitInt:
			if i, err := strconv.ParseInt(x.Value, 0, 64); err == nil {
				return i, nil
			}
		}
		f, err := strconv.ParseFloat(x.Value, 64)
		return f, err
	case *ast.Bound:
		switch v := x.Value.(type) {
		case nil, bool, int64, float64:
			return v, nil
		case string:
			if f, err := strconv.ParseFloat(v, 64); err == nil && x.Type == "numeric" {
				return f, nil
			}
			return v, nil
		case []any:
			var list []string
			for _, s := range v {
				t, ok := s.(string)
				if s == nil {
					return nil, sqlerr.At(int(x.At), sqlerr.NullNotAllowed, "an array of names must hold texts, not NULL")
				}
				if !ok {
					return nil, sqlerr.At(int(x.At), sqlerr.InvalidParameter, "an array of names must hold texts, not %s", quoted(s))
				}
				list = append(list, t)
			}
			return list, nil
		}
	case *ast.Unary:
		v, err := constant(x.X)
		switch n := v.(type) {
		case int64:
			if x.Op == "-" {
				return -n, err
			}
		case float64:
			if x.Op == "-" {
				return -n, err
			}
		}
	case *ast.Cast:
		v, err := constant(x.X)
		if s, ok := v.(string); ok && err == nil {
			switch x.Type.Name {
			case "smallint", "integer", "bigint":
				i, err := strconv.ParseInt(s, 10, 64)
				if err == nil {
					return i, nil
				}
			case "real", "double precision", "numeric":
				f, err := strconv.ParseFloat(s, 64)
				if err == nil {
					return f, nil
				}
			}
		}
		return v, err
	case *ast.ArrayLit:
		list := []string{}
		for _, el := range x.Elems {
			v, err := constant(el)
			if err != nil {
				return nil, err
			}
			s, ok := v.(string)
			if v == nil {
				return nil, sqlerr.At(int(el.Position()), sqlerr.NullNotAllowed, "an array of names must hold texts, not NULL")
			}
			if !ok {
				return nil, sqlerr.At(int(el.Position()), sqlerr.InvalidParameter, "an array of names must hold texts, not %s",
					quoted(v))
			}
			list = append(list, s)
		}
		return list, nil
	}
	return nil, sqlerr.At(int(e.Position()), sqlerr.FeatureNotSupported, "this argument must be a constant")
}
