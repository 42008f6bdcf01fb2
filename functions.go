package relgrad

import (
	"context"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/engine/views"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// functions are the engine's functions for statements of the store (bind.Intrinsics).
type functions struct{ db *DB }

// TableFunc runs gradient(loss, NULL::w), check_gradient(loss, param), delta_table(dir), delta_tensor(dir, name) and
// file_table(file) in FROM.
func (f *functions) TableFunc(ctx context.Context, call *ast.FuncCall, needs ast.Needs, text *ast.Text) (
	*catalog.Relation, bool, error) {
	switch call.Name {
	case "delta_table", "delta_tensor":
		r, err := deltaFunc(ctx, f.db.Dir, call, needs)
		return r, true, err
	case "file_table":
		r, err := fileFunc(ctx, call, needs, f.db.Dir)
		return r, true, err
	case "gradient":
		loss, table, err := bind.GradientArgs(call)
		if err != nil {
			return nil, true, err
		}
		args, err := engine.ReadArgs(call, []string{"loss", "param"}, 2, "step", "seed")
		if err != nil {
			return nil, true, err
		}
		r, err := f.db.Gradient(ctx, loss, table, args.Step(), args.Int("seed", 0))
		return r, true, args.Place(err)
	case "check_gradient":
		args, err := engine.ReadArgs(call, []string{"loss", "param"}, 0, "samples", "step", "seed", "batch", "batch_size")
		if err != nil {
			return nil, true, err
		}
		param, err := engine.OneParam(args.List("param"))
		if err != nil {
			return nil, true, engine.At(err, args.Position("param"))
		}
		if n := args.Int("batch_size", 1); n < 1 {
			return nil, true, sqlerr.At(args.Position("batch_size"), sqlerr.InvalidParameter,
				"batch_size must be at least 1, not %d", n)
		}
		rows, err := f.db.Check(ctx, args.Text("loss"), param, args.CheckOptions())
		if err != nil {
			return nil, true, args.Place(err)
		}
		return checkRelation(rows), true, nil
	}
	return nil, false, nil
}

// ScalarFunc runs backward(), explain_gradient(), current_step(), current_epoch() and current_seed() in expressions.
func (f *functions) ScalarFunc(ctx context.Context, call *ast.FuncCall, text *ast.Text) (string, any, bool, error) {
	switch call.Name {
	case "backward":
		args, err := engine.ReadArgs(call, []string{"loss", "params"}, 0, "step", "seed")
		if err != nil {
			return "", nil, true, err
		}
		x, err := f.db.Backward(ctx, args.Text("loss"), args.List("params"), args.Step(), args.Int("seed", 0))
		return "double precision", x, true, args.Place(err)
	case "explain_gradient":
		args, err := engine.ReadArgs(call, []string{"loss", "param"}, 0, "stage")
		if err != nil {
			return "", nil, true, err
		}
		s, err := f.db.Explain(ctx, args.Text("loss"), args.List("param"), engine.StageOf(args.Value["stage"]))
		return "text", s, true, args.Place(err)
	case "current_step":
		return "bigint", f.db.core.Catalogue.Env.Step, true, nil
	case "current_epoch":
		return "bigint", f.db.core.Catalogue.Env.Epoch, true, nil
	case "current_seed":
		return "bigint", f.db.core.Catalogue.Env.Seed, true, nil
	}
	return "", nil, false, nil
}

func checkRelation(rows []engine.CheckRow) *catalog.Relation {
	return &catalog.Relation{
		Names: []string{"key", "column", "element", "analytic", "numeric", "error", "ok"},
		Types: []string{"text", "text", "bigint", "double precision", "double precision", "double precision", "boolean"},
		Cols: []*column.Column{
			engine.Vector(rows, func(r engine.CheckRow) string { return r.Key }),
			engine.Vector(rows, func(r engine.CheckRow) string { return r.Column }),
			engine.Vector(rows, func(r engine.CheckRow) int64 { return r.Element }),
			engine.Vector(rows, func(r engine.CheckRow) float64 { return r.Analytic }),
			engine.Vector(rows, func(r engine.CheckRow) float64 { return r.Numeric }),
			engine.Vector(rows, func(r engine.CheckRow) float64 { return r.Error }),
			engine.Vector(rows, func(r engine.CheckRow) bool { return r.OK }),
		},
	}
}

// View implements bind.ViewEngine.
func (f *functions) View(ctx context.Context, v *catalog.ViewDef) (*catalog.Relation, bool, error) {
	return f.db.views().View(ctx, v)
}

func (db *DB) views() views.Views {
	return views.Views{Store: db.DB, Engine: db.core, Rows: db.ViewRows}
}
