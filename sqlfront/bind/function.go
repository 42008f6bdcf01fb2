package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// userCall binds a call of a user's function that consists of an expression: it inlines the expression.
func userCall(s *scope, c *ast.FuncCall, fn *ast.CreateFunction) (*kernels.Expr, error) {
	if s.b.calls++; s.b.calls > MaxCalls {
		return nil, s.f.fail(c, sqlerr.TooComplex, "stack depth limit exceeded: %d nested calls of functions", MaxCalls)
	}
	defer func() { s.b.calls-- }()
	e, err := InlineCall(fn, c, s.f.text)
	if err != nil {
		return nil, err
	}
	if err := judgeTree(s.b.ctx, s.b.cat, s.f.text, e); err != nil {
		return nil, err
	}
	if ast.Any(e, func(d *ast.FuncCall) bool { return d.Name == "dropout" && s.f.draws[d] == 0 }) {
		return nil, s.f.fail(c, sqlerr.FeatureNotSupported,
			"dropout inside of the function %s is not supported in a loss", fn.Signature()).
			WithHint("Its draw belongs to a place of a view: write dropout in the view, around the argument or the call.")
	}
	x, err := s.expr(e)
	if err != nil {
		return nil, fn.InContext(s.f.at(err, c), c.At)
	}
	s.b.classes[c] = classOf[fn.Returns.String()]
	return x, nil
}

// castNarrows reports whether Postgres would not make the conversion implicitly: numbers are only widened.
func castNarrows(s *scope, c *ast.Cast, x *kernels.Expr, k kernels.Kind) bool {
	if l, ok := c.X.(*ast.Literal); ok && l.Kind == ast.LitString || x.IsConst() && x.Const.Null {
		return false
	}
	to, from := k, x.Type.Kind
	switch {
	case from == kernels.Text || from == kernels.Bool || to == kernels.Text || to == kernels.Bool:
		return from != to
	case to == kernels.Int:
		return from != kernels.Int
	case c.Type.Name == "numeric":
		return s.class(c.X) == floatClass
	case to == kernels.Float32:
		return from == kernels.Float64 && s.class(c.X) != numericClass
	}
	return false
}
