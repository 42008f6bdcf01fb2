package kernels

func inferNorm(name string) func([]Type, Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsChunk() {
			return Type{}, wrongType(name, a)
		}
		return Type{Kind: Float64}, nil
	}
}

var _ = Register(&Def{
	Name: "sqnorm", Args: "x", MinArgs: 1, Role: RoleDistance,
	Doc:   "The sum of the squares of all elements, in double precision.",
	Infer: inferNorm("sqnorm"),
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		return Value{Type: out, X: sumSquares(a[0].F)}, nil
	},
	VJP:   func(e, g *Expr) []*Expr { return []*Expr{Mul(Mul(Num(2), g), e.Args[0])} },
	Flops: perElement(2), Samples: lastSamples,
})

var _ = Register(&Def{
	Name: "norm", Args: "x", MinArgs: 1, Role: RoleDistance,
	Doc: "The Euclidean norm of all elements, in double precision, also where their squares are out of range. Its " +
		"second derivative, which the square of " +
		"the norm divides, needs that in range; that of l2_normalize does not.",
	Kink: "At 0 the derivative is 0.", Infer: inferNorm("norm"),
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		return Value{Type: out, X: length(a[0].F)}, nil
	},
	VJP: func(e, g *Expr) []*Expr {
		return []*Expr{Mul(Select(Build("eq_mask", e, Num(0)), Num(0), Div(g, nonzero(e))), e.Args[0])}
	},
	Flops: perElement(2), Samples: lastSamples,
})
