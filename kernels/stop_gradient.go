package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

var _ = Register(&Def{
	Name: "stop_gradient", Args: "x", MinArgs: 1, Zero: true,
	Doc:  "x itself, as a constant for the derivative.",
	Kink: "The derivative is 0 by definition.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsFloat() {
			return Type{}, wrongType("stop_gradient", a)
		}
		return a[0], nil
	},
	Eval:    func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) { return a[0], nil },
	Samples: append([]Sample{{Types: []Type{f64()}}, {Types: []Type{f32()}}}, lastSamples...),
})

var _ = Register(&Def{
	Name: "dropout", Args: "x, p", MinArgs: 2,
	Doc: "In an ordinary SELECT and in validation x itself. In a loss each element is 0 with " +
		"probability p, else x/(1-p), " +
		"drawn anew at each step; p is a constant in [0,1), met to 2⁻³².",
	NoGrad: "Outside a loss dropout draws nothing; within one it is x * drop_mask.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsFloat() || a[1].Shape != nil || !a[1].IsFloat() && a[1].Kind != Int {
			return Type{}, wrongType("dropout", a)
		}
		return Type{Kind: a[0].Kind, Shape: a[0].Shape}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) {
		if p := a[1].Float(); !(p >= 0 && p < 1) {
			return Value{}, sqlerr.New(sqlerr.InvalidParameter, "dropout probability %v is not in [0,1)", p)
		}
		return a[0], nil
	},
	Samples: []Sample{{Types: []Type{f32(3), f64()}}, {Types: []Type{f64(), f64()}}, {Types: []Type{f64(1), f64()}},
		{Types: []Type{f64(2, 3), f64()}}, {Types: []Type{f64(2, 1, 2), f64()}}, {Types: []Type{f32(1, 2, 1, 2), f64()}}},
	Lo: 0.1, Hi: 0.9,
})
