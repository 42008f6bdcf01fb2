package kernels

import "math"

var _ = Register(&Def{
	Name: "softsign", Args: "x", MinArgs: 1,
	Doc:   "x / (1 + |x|), between -1 and 1.",
	Infer: inferElem("softsign"),
	Elem: func(x []float64) float64 {
		if math.IsInf(x[0], 0) {
			return math.Copysign(1, x[0])
		}
		return x[0] / (1 + math.Abs(x[0]))
	},
	VJP: func(e, g *Expr) []*Expr {
		return []*Expr{Mul(g, Build("square", Div(Num(1), Build("add", Num(1), Build("abs", e.Args[0])))))}
	},
	Flops: perElement(6), Lo: 0.2, Hi: 2,
})
