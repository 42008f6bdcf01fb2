package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
)

// The lowest validation is the best. Of some figures the highest is: a run that stops by such a one, or restores the
// parameters that gave the lowest, keeps its worst model.

// rising are the figures of which higher is better.
var rising = []string{"accuracy", "auc", "f1", "ndcg"}

// warnDirection warns of a validation that decides by a figure of which higher is better.
func (r *parameterSet) warnDirection(ctx context.Context) {
	if r.config.Validate == "" || r.config.Patience == 0 && !r.config.RestoreBest {
		return
	}
	sel := r.validation(ctx)
	if sel == nil || len(sel.Targets) == 0 {
		return
	}
	if name := rises(sel.Targets[0].X, sel.Targets[0].Name); name != "" {
		r.db.Notify("WARNING", fmt.Sprintf("train: validate decides by %s, of which higher is better, but the lowest "+
			"validation is taken for the best; write 1 - %s(…)", name, name))
	}
}

// validation is the query of validate, or of the view that it names; nil where it cannot be read.
func (r *parameterSet) validation(ctx context.Context) *ast.Select {
	sel, _, err := bind.LossQuery(ctx, r.db.Catalogue, "validation", r.config.Validate)
	if err != nil || !bind.IsName(r.config.Validate) {
		return sel
	}
	from := sel.From[0].(*ast.TableRef)
	v, err := r.db.Catalogue.View(ctx, nil, from.Schema, from.Name)
	if err != nil || v == nil {
		return nil
	}
	return v.Query
}

// rises returns the name of a figure of which higher is better, where an expression of that name is one; "" else. A
// difference, such as 1 - auc(z, y), may have any name.
func rises(x ast.Expr, name string) string {
	switch e := x.(type) {
	case *ast.Unary:
		return ""
	case *ast.Binary:
		if e.Op == "-" {
			return ""
		}
	case *ast.Cast:
		return rises(e.X, name)
	case *ast.ColumnRef:
		if n := len(e.Names); n > 0 && slices.Contains(rising, e.Names[n-1]) {
			return e.Names[n-1]
		}
	case *ast.FuncCall:
		if slices.Contains(rising, e.Name) {
			return e.Name
		}
		if len(e.Args) > 0 && slices.Contains([]string{"round", "avg"}, e.Name) {
			return rises(e.Args[0], name)
		}
	case *ast.SubLink:
		if e.Kind == ast.SubScalar && e.Query != nil && len(e.Query.Targets) == 1 {
			if found := rises(e.Query.Targets[0].X, e.Query.Targets[0].Name); found != "" {
				return found
			}
		}
	}
	if slices.Contains(rising, name) {
		return name
	}
	return ""
}
