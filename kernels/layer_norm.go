package kernels

var _ = Register(&Def{
	Name: "layer_norm", Args: "x", MinArgs: 1,
	Doc:   "(x - mean) / sqrt(variance + 1e-5) over the last axis, with the population variance.",
	Infer: inferSame("layer_norm"),
	Lane: func(x [][]float64, out []float64) {
		_, sd := centered(x[0], out)
		for i := range out {
			out[i] /= sd
		}
	},
	VJP:   func(e, g *Expr) []*Expr { return []*Expr{Build("layer_norm_slope", e.Args[0], g)} },
	Flops: perElement(8), Samples: lastSamples,
})

var _ = Register(&Def{
	Name: "layer_norm_slope", Args: "x, g", MinArgs: 2, Internal: true, Linear: []int{1},
	Doc: "(g - mean(g) - y·mean(y·g)) / sd over the last axis for y = layer_norm(x) and its deviation sd, with all " +
		"its digits where what is taken away leaves little.",
	Infer: inferLanes("layer_norm_slope", false),
	Lane:  func(x [][]float64, out []float64) { layerNormSlope(x[0], x[1], out) },
	VJP: func(e, u *Expr) []*Expr {
		x := e.Args[0]
		size := Num(float64(x.Type.Shape[len(x.Type.Shape)-1]))
		d := projected(e, u, Build("layer_norm", x), Mul(size, Build("layer_norm_deviation", x)))
		return []*Expr{d, Build("layer_norm_slope", x, u)}
	},
	Flops:   perElement(15),
	Samples: laneSamples,
})

var _ = Register(&Def{
	Name: "layer_norm_deviation", Args: "x", MinArgs: 1, Internal: true,
	Doc:   "sqrt(variance + 1e-5) over the last axis, which is kept with length 1.",
	Infer: inferLanes("layer_norm_deviation", true),
	Lane: func(x [][]float64, out []float64) {
		scale, sd := centered(x[0], make([]float64, len(x[0])))
		out[0] = sd / scale
	},
	VJP: func(e, g *Expr) []*Expr {
		x := e.Args[0]
		return []*Expr{Div(Mul(g, Build("layer_norm", x)), Num(float64(x.Type.Shape[len(x.Type.Shape)-1])))}
	},
	Flops: perElement(5), Samples: lastSamples,
})
