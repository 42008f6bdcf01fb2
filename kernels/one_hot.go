package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

var _ = Register(&Def{
	Name: "one_hot", Args: "label, n", MinArgs: 2, Zero: true,
	Doc: "The double precision vector [n] with 1 at the position label (counted from 0) and 0 elsewhere; n is constant. " +
		"A label outside the vector is an error.",
	Bind: func(args []*Expr) (*Expr, error) {
		n, err := staticInt("one_hot", "size", args[1])
		if err != nil {
			return nil, err
		}
		if n < 1 || n > maxElements {
			return nil, sqlerr.At(args[1].Pos, sqlerr.InvalidParameter,
				"the size of one_hot is %d, not in 1 to %d", n, maxElements)
		}
		return Call(Lookup("one_hot"), Attr{Int: n}, args[0])
	},
	Infer: func(a []Type, at Attr) (Type, error) {
		if a[0].Kind != Int || a[0].Shape != nil {
			return Type{}, wrongType("one_hot", a)
		}
		return Type{Kind: Float64, Shape: []int{int(at.Int)}}, nil
	},
	Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
		if err := checkLabel("one_hot", a[0].I, at.Int); err != nil {
			return Value{}, err
		}
		f := make([]float64, at.Int)
		f[a[0].I] = 1
		return Value{Type: out, F: f}, nil
	},
	Samples: []Sample{{Types: []Type{{Kind: Int}}, Attr: Attr{Int: 4}, Ints: []int64{2}},
		{Types: []Type{{Kind: Int}}, Attr: Attr{Int: 1}, Ints: []int64{0}}},
})
