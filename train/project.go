package train

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlgen"
)

// projection replaces a row's chunk by the nearest element of a set, in the Euclidean norm over all its elements. A
// device may have a loop by its name.
type projection struct {
	chunks bool                                // makes no sense for scalars
	expr   func(x *kernels.Expr) *kernels.Expr // nil: no expression says it, only loops do
}

var projections = map[string]*projection{
	"nonnegative": {false, func(x *kernels.Expr) *kernels.Expr { return kernels.Build("maximum", x, kernels.Num(0)) }},
	"unit_ball":   {false, func(x *kernels.Expr) *kernels.Expr { return toNorm1(x, 1) }},
	// no element of the sphere is nearest to zero, which stays
	"unit_sphere": {true, func(x *kernels.Expr) *kernels.Expr { return toNorm1(x, 0) }},
	// the nonnegative chunks of sum 1 (Duchi et al., ICML 2008, figure 1)
	"simplex": {true, nil},
}

// splitProjection reads 'entity.v: unit_ball'.
func splitProjection(s string) (param, kind string, err error) {
	param, kind, ok := strings.Cut(s, ":")
	param, kind = strings.TrimSpace(param), strings.TrimSpace(kind)
	if !ok || param == "" || kind == "" {
		return "", "", fmt.Errorf("must hold texts such as 'entity.v: unit_ball', not %s", show(s))
	}
	if projections[kind] == nil {
		return "", "", unknown("projection", kind, names(projections))
	}
	return param, kind, nil
}

// toNorm1 divides x by its norm where that is above a bound.
func toNorm1(x *kernels.Expr, above float64) *kernels.Expr {
	n := sqlgen.Norm(x)
	return kernels.Build("case", kernels.Build("gt", n, kernels.Num(above)), kernels.Div(x, n), x)
}
