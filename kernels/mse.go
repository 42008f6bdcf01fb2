package kernels

var _ = Register(&Def{
	Name: "mse", Args: "a, b", MinArgs: 2, Role: RoleDifference,
	Doc:   "The mean of (a - b)² over all elements of two chunks of one shape, in double precision.",
	Infer: inferPair("mse"),
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		s := 0.0
		for i, x := range a[0].F {
			d := x - a[1].F[i]
			s += d * d
		}
		return Value{Type: out, X: s / float64(len(a[0].F))}, nil
	},
	VJP: func(e, g *Expr) []*Expr {
		a, b := e.Args[0], e.Args[1]
		d := Mul(Mul(Num(2/float64(a.Type.Size())), g), Sub(a, b))
		return []*Expr{d, Neg(d)}
	},
	Flops: perElement(3), Samples: pairSamples,
})
