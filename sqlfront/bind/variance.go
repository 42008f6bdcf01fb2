package bind

import "github.com/relgrad/relgrad/kernels"

var (
	_ = bindAggregate("var_pop", variance(0, false))
	_ = bindAggregate("var_samp", variance(1, false))
	_ = bindAggregate("variance", variance(1, false))
	_ = bindAggregate("stddev_pop", variance(0, true))
	_ = bindAggregate("stddev_samp", variance(1, true))
	_ = bindAggregate("stddev", variance(1, true))
)

// variance is Σ(x - mean)² / (n - less), or its root; NULL where n is not above less. It takes two passes, because the
// difference of Σx² and (Σx)²/n would cancel.
func variance(less int64, root bool) aggregate {

	return aggregate{
		centered: true,
		parts: func(x *kernels.Expr) []aggPart {
			return append(aggregates["sum"].parts(kernels.Mul(x, x)), aggregates["count"].parts(x)...)
		},
		result: func(p []*kernels.Expr) *kernels.Expr {
			null, n := kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Float64})), kernels.Const(kernels.IntValue(less))
			v := kernels.Div(p[0], kernels.CastTo(kernels.Float64, kernels.Build("sub", p[1], n)))
			if root {
				v = kernels.Build("sqrt", v)
			}
			return kernels.Build("case", kernels.Build("gt", p[1], n), v, null)
		},
	}
}
