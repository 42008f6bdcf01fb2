package kernels

var _ = Register(&Def{
	Name: "l2_normalize", Args: "x", MinArgs: 1,
	Doc:   "x divided by its Euclidean norm over the last axis; 0 where the norm is 0.",
	Kink:  "Where the norm is 0 the derivative is 0.",
	Infer: inferSame("l2_normalize"),
	Lane:  func(x [][]float64, out []float64) { unit(x[0], out) },
	VJP:   func(e, g *Expr) []*Expr { return []*Expr{Build("l2_normalize_slope", e.Args[0], g)} },

	Flops: perElement(5), Samples: lastSamples,
})

var _ = Register(&Def{
	Name: "l2_normalize_slope", Args: "x, g", MinArgs: 2, Internal: true, Linear: []int{1},
	Doc: "(g - y·Σ y·g) / |x| for y = l2_normalize(x) over the last axis, with all its digits where one element " +
		"outweighs the others; 0 where x is.",
	Infer: inferLanes("l2_normalize_slope", false),
	Lane:  func(x [][]float64, out []float64) { unitSlope(x[0], x[1], out) },
	VJP: func(e, u *Expr) []*Expr {
		x := e.Args[0]
		n := Build("l2_length", x)
		d := projected(e, u, Build("l2_normalize", x), nonzero(n))
		return []*Expr{Select(Build("eq_mask", n, Num(0)), Num(0), d), Build("l2_normalize_slope", x, u)}
	},
	Flops:   perElement(10),
	Samples: laneSamples,
})

// projected is the derivative in x of f(x, g) = (g - [mean g] - y·Σ y·g) / n, y being x [less its mean] over its length
// n or so, which both normalizations and their lengths share: -(y·Σ u·f + f(x, u)·Σ y·g + f·Σ y·u) / n.
func projected(f, u, y, n *Expr) *Expr {
	x, g := f.Args[0], f.Args[1]
	along := Add(Mul(sumLast(Mul(u, f)), y), Mul(sumLast(Mul(y, g)), Build(f.Def.Name, x, u)))
	return Neg(Div(Add(along, Mul(sumLast(Mul(y, u)), f)), n))
}

var _ = Register(&Def{
	Name: "l2_length", Args: "x", MinArgs: 1, Internal: true,
	Doc:   "The Euclidean norm over the last axis, which is kept with length 1.",
	Infer: inferLanes("l2_length", true),
	Lane:  func(x [][]float64, out []float64) { out[0] = length(x[0]) },
	VJP:   func(e, g *Expr) []*Expr { return []*Expr{Mul(g, Build("l2_normalize", e.Args[0]))} },
	Flops: perElement(3), Samples: lastSamples,
})
