package values

import (
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
)

// FoldStepConstants folds what is constant in a step: integers and conditions that read no column become constants, and
// branches of CASE that the step does not take are removed. A key that only one branch reads is then known to be that
// column. What cannot be computed stays in the expression, and fails where it is used.
func FoldStepConstants(e *kernels.Expr, env *kernels.Env) *kernels.Expr {
	memo := map[*kernels.Expr]*kernels.Expr{}
	var visit func(e *kernels.Expr) *kernels.Expr
	visit = func(e *kernels.Expr) *kernels.Expr {
		if e.Def == nil {
			return e
		}
		if out := memo[e]; out != nil {
			return out
		}
		out := known(e, env)
		if out == nil {
			args := lists.Map(e.Args, visit)
			var err error
			if out, err = kernels.Call(e.Def, e.Attr, args...); err != nil {
				out = e
			}
		}
		memo[e] = out
		return out
	}
	return kernels.Simplify(visit(e))
}

// known is the constant value of a number or condition that reads no column, nil for anything else.
func known(e *kernels.Expr, env *kernels.Env) *kernels.Expr {
	if e.Type.IsFloat() || e.Type.Kind == kernels.Text || e.Type.Shape != nil ||
		e.Any(func(x *kernels.Expr) bool { return x.IsCol }) {
		return nil
	}
	v, err := e.Eval(env, nil)
	if err != nil || v.Null {
		return nil
	}
	v.Type = e.Type
	v.Type.Nullable = false
	return kernels.Const(v)
}
