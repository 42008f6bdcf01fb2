package bind

import (
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Postgres's other names of kernels, and functions that are expressions over kernels.
var (
	_ = bindCall("pow", alias("power"))
	_ = bindCall("ceiling", alias("ceil"))
	_ = bindCall("pi", func(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
		if len(c.Args) > 0 {
			return nil, s.f.fail(c, sqlerr.UndefinedFunction, "pi takes no arguments, not %d", len(c.Args))
		}
		return kernels.Num(math.Pi), nil
	})
)

func alias(kernel string) func(*scope, *ast.FuncCall) (*kernels.Expr, error) {
	return func(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
		named := *c
		named.Name = kernel
		return funcCall(s, &named)
	}
}
