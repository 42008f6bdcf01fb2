package kernels

import "math"

func inferNorm(name string) func([]Type, Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsChunk() {
			return Type{}, wrongType(name, a)
		}
		return Type{Kind: Float64}, nil
	}
}

func sumSquares(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return s
}

var _ = Register(&Def{
	Name: "sqnorm", Args: "x", MinArgs: 1,
	Doc:   "The sum of the squares of all elements, in double precision.",
	Infer: inferNorm("sqnorm"),
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		return Value{Type: out, X: sumSquares(a[0].F)}, nil
	},
	VJP:     func(e, g *Expr) []*Expr { return []*Expr{Mul(Mul(Num(2), g), e.Args[0])} },
	Flops:   perElement(2),
	Samples: lastSamples,
})

var _ = Register(&Def{
	Name: "norm", Args: "x", MinArgs: 1,
	Doc:   "The Euclidean norm of all elements, in double precision.",
	Kink:  "At 0 the derivative is 0.",
	Infer: inferNorm("norm"),
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		return Value{Type: out, X: math.Sqrt(sumSquares(a[0].F))}, nil
	},
	VJP: func(e, g *Expr) []*Expr {
		return []*Expr{Mul(Select(Build("eq_mask", e, Num(0)), Num(0), Div(g, nonzero(e))), e.Args[0])}
	},
	Flops:   perElement(2),
	Samples: lastSamples,
})
