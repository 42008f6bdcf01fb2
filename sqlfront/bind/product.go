package bind

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// product is the product of numbers: of the k numbers that are 0, and of the others, e^Σln|x| with the sign of an even
// or odd number of negative ones. The first factor is written as 1, Σz and ((Σz)² - Σz²) / 2 of the zeros z for
// k = 0, 1 and 2: as a value 0 from k = 1 on, with the derivatives by each z that the product has, up to the second
// order. From k = 3 on these are 0.
var _ = bindAggregate("product", aggregate{
	takes: func(t kernels.Type) error {
		if t.Shape != nil || !t.IsFloat() && t.Kind != kernels.Int {
			return sqlerr.New(sqlerr.UndefinedFunction, "product(%v) does not exist", t).
				WithHint("It takes numbers; reduce each chunk first, e.g. with sum_elements.")
		}
		return nil
	},
	parts:  productParts,
	result: productOf,
})

func productParts(x *kernels.Expr) []aggPart {
	x = kernels.CastTo(kernels.Float64, x)
	zero := kernels.Build("eq_mask", x, kernels.Num(0))
	only := func(y *kernels.Expr) *kernels.Expr { return kernels.Select(zero, y, kernels.Num(0)) }
	negative := kernels.Build("case", kernels.Build("lt", x, kernels.Num(0)), intConst(1), nullInt())
	return []aggPart{
		{ra.Sum, kernels.Build("ln", kernels.Build("abs", kernels.Select(zero, kernels.Num(1), x)))},
		{ra.Count, negative}, {ra.Sum, zero}, {ra.Sum, only(x)}, {ra.Sum, only(kernels.Build("square", x))},
	}
}

func productOf(p []*kernels.Expr) *kernels.Expr {
	logs, negative, zeros, sum, squares := p[0], p[1], p[2], p[3], p[4]
	sign := kernels.Sub(kernels.Num(1),
		kernels.Mul(kernels.Num(2), kernels.CastTo(kernels.Float64, kernels.Build("mod", negative, intConst(2)))))
	are := func(n float64) *kernels.Expr { return kernels.Build("eq", zeros, kernels.Num(n)) }
	two := kernels.Mul(kernels.Num(0.5), kernels.Sub(kernels.Build("square", sum), squares))
	factor := kernels.Build("case", are(0), kernels.Num(1), are(1), sum, are(2), two, kernels.Num(0))
	return kernels.Mul(kernels.Mul(sign, kernels.Build("exp", logs)), factor)
}
