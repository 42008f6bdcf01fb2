package kernels

var _ = Register(&Def{
	Name: "logsumexp", Args: "x[, axis]", MinArgs: 1, MaxArgs: 2,
	Doc: "ln Σ eˣ without overflow, over all elements in double precision or over one axis (counted from 1), which is " +
		"kept with length 1.",
	Kink:  "Where all elements are -Infinity the derivative is NaN.",
	Bind:  func(args []*Expr) (*Expr, error) { return bindReduce("logsumexp", args) },
	Infer: inferReduce("logsumexp"),
	Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
		res := make([]float64, out.Size())
		lanes(a[0].F, a[0].Type.Shape, at.Axis, func(i int, lane []float64) { res[i] = logSumExp(lane) })
		return floats(out, res), nil
	},
	VJP:     func(e, g *Expr) []*Expr { return []*Expr{Mul(g, softmaxAlong(e.Args[0], e.Attr.Axis))} },
	Flops:   perElement(18),
	Samples: reduceSamples,
})
