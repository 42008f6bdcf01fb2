package kernels

import "math"

// layerNormEps is added to the variance, as ML frameworks do by default.
const layerNormEps = 1e-5

var _ = Register(&Def{
	Name: "layer_norm", Args: "x", MinArgs: 1,
	Doc:   "(x - mean) / sqrt(variance + 1e-5) over the last axis, with the population variance.",
	Infer: inferSame("layer_norm"),
	Eval: evalLast(func(x, out []float64) {
		n, mean, variance := float64(len(x)), 0.0, 0.0
		for _, v := range x {
			mean += v / n
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / n
		}
		for i, v := range x {
			out[i] = (v - mean) / math.Sqrt(variance+layerNormEps)
		}
	}),
	VJP: func(e, g *Expr) []*Expr {
		c := Sub(e.Args[0], meanLast(e.Args[0]))
		sd := Build("sqrt", Build("add", meanLast(Build("square", c)), Num(layerNormEps)))
		return []*Expr{Div(Sub(Sub(g, meanLast(g)), Mul(e, meanLast(Mul(g, e)))), sd)}
	},
	Flops:   perElement(8),
	Samples: lastSamples,
})
