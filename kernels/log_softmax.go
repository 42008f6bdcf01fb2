package kernels

var _ = Register(&Def{
	Name: "log_softmax", Args: "x", MinArgs: 1, Role: RoleLogarithm,
	Doc:   "x - ln Σ eˣ over the last axis, without overflow.",
	Infer: inferSame("log_softmax"),
	Lane: func(x [][]float64, out []float64) {
		m, more := logSumExpParts(x[0])
		for i, v := range x[0] {
			out[i] = (v - m) - more
		}
	},
	VJP:   func(e, g *Expr) []*Expr { return []*Expr{Build("log_softmax_slope", e.Args[0], g)} },
	Flops: perElement(20), Samples: lastSamples,
})

var _ = Register(&Def{
	Name: "log_softmax_slope", Args: "x, g", MinArgs: 2, Internal: true, Linear: []int{1},
	Doc:   "g - softmax(x)·Σ g over the last axis, with all its digits where one element outweighs the others.",
	Infer: inferLanes("log_softmax_slope", false),
	Lane:  func(x [][]float64, out []float64) { logSoftmaxSlope(x[0], x[1], out) },
	VJP: func(e, u *Expr) []*Expr {
		x, g := e.Args[0], e.Args[1]
		center := Build("softmax_center", x, u)
		return []*Expr{Neg(Mul(sumLast(g), Mul(Build("softmax", x), center))), center}
	},
	Flops:   perElement(25),
	Samples: laneSamples,
})
