package kernels

var _ = Register(&Def{
	Name: "log_softmax", Args: "x", MinArgs: 1,
	Doc:   "x - ln Σ eˣ over the last axis, without overflow.",
	Infer: inferSame("log_softmax"),
	Eval: evalLast(func(x, out []float64) {
		l := logSumExp(x)
		for i, v := range x {
			out[i] = v - l
		}
	}),
	VJP: func(e, g *Expr) []*Expr {
		return []*Expr{Sub(g, Mul(Build("softmax", e.Args[0]), sumLast(g)))}
	},
	Flops:   perElement(20),
	Samples: lastSamples,
})
