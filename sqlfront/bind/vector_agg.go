package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// vector_agg is Σ value · e, where e has its 1 at index; rows where one is NULL add nothing.
var _ = bindAggregate("vector_agg", aggregate{
	parts:  func(x *kernels.Expr) []aggPart { return []aggPart{{ra.Sum, x}} },
	result: func(p []*kernels.Expr) *kernels.Expr { return p[0] },
	args:   scatterCall,
})

func scatterCall(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	if len(c.Args) != 3 {
		return nil, s.f.fail(c, sqlerr.UndefinedFunction, "vector_agg takes 3 arguments, not %d", len(c.Args)).
			WithHint("Write vector_agg(index, value, size).")
	}
	args, err := s.exprs(c.Args)
	if err != nil {
		return nil, err
	}
	value := args[1]
	if value.Type.Kind == kernels.Int && value.Type.Shape == nil {
		value = kernels.CastTo(kernels.Float64, value)
	}
	if !value.Type.IsFloat() || value.Type.Shape != nil {
		return nil, s.f.fail(c.Args[1], sqlerr.DatatypeMismatch, "vector_agg takes numbers, not %v", value.Type).
			WithHint("array_agg(x ORDER BY key) stacks chunks.")
	}
	size, err := folded(s, c.Args[2], args[2])
	if err != nil {
		return nil, err
	}
	if !size.IsConst() {
		return nil, s.f.fail(c.Args[2], sqlerr.FeatureNotSupported, "the size of vector_agg must be a constant in a loss").
			WithDetail("Shapes are known before any row is read.")
	}
	unit, err := kernels.Lookup("one_hot").Bind([]*kernels.Expr{args[0], size})
	if err != nil {
		return nil, s.f.at(err, c)
	}
	x := kernels.Mul(value, kernels.CastTo(value.Type.Kind, unit))
	if x.Type.Nullable { // a row without index or value adds zero, but counts as a row
		x = kernels.NullToZero(x)
	}
	return x, nil
}
