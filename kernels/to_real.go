package kernels

var _ = Register(&Def{
	Name: "to_real", Args: "a", MinArgs: 1, Internal: true, NoGrad: "It stands only where no parameter is read.",
	Role: RoleScaled,
	Doc: "a rounded to single precision: CAST(a AS real) where no parameter is read, so that comparisons " +
		"and keys see what " +
		"is stored. Where one is, the cast stays exact in double precision, else central differences would see steps.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsFloat() && (a[0].Kind != Int || a[0].Shape != nil) {
			return Type{}, wrongType("to_real", a)
		}
		return Type{Kind: Float32, Shape: a[0].Shape}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		r := Value{Type: out}
		if out.Shape == nil {
			r.X = float64(float32(a[0].Float()))
			return r, nil
		}
		r.F = make([]float64, len(a[0].F))
		for i, x := range a[0].F {
			r.F[i] = float64(float32(x))
		}
		return r, nil
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float64}}},
		{Types: []Type{f64(1)}},
		{Types: []Type{f32(3)}},
		{Types: []Type{f64(2, 3)}},
		{Types: []Type{f64(2, 1, 2)}},
		{Types: []Type{f32(1, 2, 1, 2)}},
		{Types: []Type{{Kind: Int}}, Ints: []int64{3}},
	},
})
