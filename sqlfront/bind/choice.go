package bind

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// COALESCE, CASE, GREATEST and LEAST choose among expressions, which are converted to one type (manual, 10.5).

// unifyChoices converts the expressions among which at chooses to one type.
func unifyChoices(s *scope, list []ast.Expr, args []*kernels.Expr, at ast.Tree) error {
	if err := typeTexts(s, list, args); err != nil {
		return err
	}
	oneReal(s, list, args)
	typeNulls(args)
	return oneType(s, args, at)
}

// typeNulls gives untyped NULLs the type of the first typed value among args.
func typeNulls(args []*kernels.Expr) {
	for _, a := range args {
		if a.IsConst() && a.Const.Null {
			continue
		}
		for i, n := range args {
			if n.IsConst() && n.Const.Null {
				args[i] = kernels.Const(kernels.NullOf(a.Type))
			}
		}
		return
	}
}

// oneReal casts args to real where there is a real beside integers and numerics, such as the literal 0.1, but no double
// precision. Postgres converts these to real, and never real to one of them.
func oneReal(s *scope, list []ast.Expr, args []*kernels.Expr) {
	found := false
	var others []int
	for i, x := range args {
		switch {
		case x.Type.Shape != nil:
			return
		case x.IsConst() && x.Const.Null:
		case x.Type.Kind == kernels.Float32:
			found = true
		case x.Type.Kind == kernels.Float64 && s.class(list[i]) != numericClass:
			return
		case x.Type.Kind == kernels.Float64, x.Type.Kind == kernels.Int:
			others = append(others, i)
		}
	}
	for _, i := range others {
		switch {
		case !found:
		case s.depends(args[i]):
			args[i] = kernels.CastTo(kernels.Float32, args[i])
		default:
			args[i] = kernels.Build("to_real", args[i])
		}
	}
}
