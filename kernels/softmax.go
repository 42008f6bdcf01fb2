package kernels

import "math"

var _ = Register(&Def{
	Name: "softmax", Args: "x", MinArgs: 1,
	Doc:   "eˣ / Σ eˣ over the last axis, without overflow.",
	Infer: inferSame("softmax"),
	Eval:  evalLast(softmax),
	VJP: func(e, g *Expr) []*Expr {
		return []*Expr{Mul(e, Sub(g, sumLast(Mul(g, e))))}
	},
	Flops:   perElement(20),
	Samples: lastSamples,
})

func softmax(x, out []float64) {
	m, s := maxOf(x), 0.0
	for i, v := range x {
		out[i] = math.Exp(v - m)
		s += out[i]
	}
	for i := range out {
		out[i] /= s
	}
}
