package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

var _ = bindExpr(func(s *scope, x *ast.RowExpr) (*kernels.Expr, error) {
	return nil, s.f.fail(x, sqlerr.FeatureNotSupported, "a row as a value is not supported in a loss").
		WithHint("Rows of as many fields may be compared, and (a, b) may be IN (SELECT c, d …).")
})
