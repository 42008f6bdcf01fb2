package kernels

var _ = Register(&Def{
	Name: "outer", Args: "a, b", MinArgs: 2, Linear: []int{0, 1}, Labels: []string{"i,j->ij"},
	Doc: "The outer product of the vectors a [m] and b [n]: [m,n].",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if len(a[0].Shape) != 1 || len(a[1].Shape) != 1 || !a[0].IsFloat() || !a[1].IsFloat() {
			return Type{}, wrongType("outer", a).WithHint("Both arguments must be vectors.")
		}
		return Type{Kind: floatKind(a[0], a[1]), Shape: []int{a[0].Shape[0], a[1].Shape[0]}}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		res := make([]float64, 0, out.Size())
		for _, x := range a[0].F {
			for _, y := range a[1].F {
				res = append(res, x*y)
			}
		}
		return Value{Type: out, F: res}, nil
	},
	VJP:     func(e, g *Expr) []*Expr { return []*Expr{Build("matmul", g, e.Args[1]), Build("matmul", e.Args[0], g)} },
	Samples: []Sample{{Types: []Type{f32(2), f64(3)}}, {Types: []Type{f64(1), f64(2)}}, {Types: []Type{f32(3), f32(1)}}},
})
