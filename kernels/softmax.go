package kernels

var _ = Register(&Def{
	Name: "softmax", Args: "x", MinArgs: 1,
	Doc:   "eˣ / Σ eˣ over the last axis, without overflow.",
	Infer: inferSame("softmax"),
	Lane:  func(x [][]float64, out []float64) { softmax(x[0], out) },
	VJP:   func(e, g *Expr) []*Expr { return []*Expr{Mul(e, Build("softmax_center", e.Args[0], g))} },
	Flops: perElement(20), Samples: lastSamples,
})

var _ = Register(&Def{
	Name: "softmax_center", Args: "x, g", MinArgs: 2, Internal: true, Linear: []int{1},
	Doc:   "g - Σ softmax(x)·g over the last axis, with all its digits where one element outweighs the others.",
	Infer: inferLanes("softmax_center", false),
	Lane:  func(x [][]float64, out []float64) { softmaxCenter(x[0], x[1], out) },
	VJP: func(e, u *Expr) []*Expr {
		x := e.Args[0]
		return []*Expr{Neg(Mul(sumLast(u), Mul(Build("softmax", x), e))), Build("log_softmax_slope", x, u)}
	},
	Flops:   perElement(25),
	Samples: laneSamples,
})

// softmaxAlong is softmax over an axis, over all elements for axis -1.
func softmaxAlong(x *Expr, axis int) *Expr {
	s := x.Type.Shape
	switch {
	case axis == len(s)-1 || axis < 0 && len(s) == 1:
		return Build("softmax", x)
	case axis < 0:
		flat := BuildAttr("reshape", Attr{Shape: []int{s.Size()}}, x)
		return BuildAttr("reshape", Attr{Shape: s}, Build("softmax", flat))
	}
	all := "abcdefgh"[:len(s)]
	last := all[:axis] + all[axis+1:] + all[axis:axis+1]
	moved := BuildAttr("einsum", Attr{Spec: all + "->" + last}, x)
	return BuildAttr("einsum", Attr{Spec: last + "->" + all}, Build("softmax", moved))
}
