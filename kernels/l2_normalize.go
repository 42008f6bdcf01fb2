package kernels

import "math"

var _ = Register(&Def{
	Name: "l2_normalize", Args: "x", MinArgs: 1,
	Doc:   "x divided by its Euclidean norm over the last axis; 0 where the norm is 0.",
	Kink:  "Where the norm is 0 the derivative is 0.",
	Infer: inferSame("l2_normalize"),
	Eval: evalLast(func(x, out []float64) {
		if n := math.Sqrt(sumSquares(x)); n != 0 {
			for i, v := range x {
				out[i] = v / n
			}
		}
	}),
	VJP: func(e, g *Expr) []*Expr {
		n := Build("sqrt", sumLast(Build("square", e.Args[0])))
		d := Div(Sub(g, Mul(e, sumLast(Mul(g, e)))), nonzero(n))
		return []*Expr{Select(Build("eq_mask", n, Num(0)), Num(0), d)}
	},
	Flops:   perElement(5),
	Samples: lastSamples,
})
