package kernels

var _ = Register(&Def{
	Name: "zeros", Args: "shape", MinArgs: 1,
	Doc:  "A double precision chunk of zeros of a constant shape (bigint[]).",
	Bind: func(args []*Expr) (*Expr, error) { return bindFull("zeros", args[0], Num(0)) },
	Samples: []Sample{
		{Types: []Type{{Kind: Int, Shape: []int{2}}}},
		{Types: []Type{{Kind: Int, Shape: []int{1}}}, Attr: Attr{Shape: []int{1}}},
		{Types: []Type{{Kind: Int, Shape: []int{3}}}, Attr: Attr{Shape: []int{2, 1, 2}}},
		{Types: []Type{{Kind: Int, Shape: []int{4}}}, Attr: Attr{Shape: []int{1, 2, 1, 2}}},
	},
})

var _ = Register(&Def{
	Name: "full", Args: "shape, x", MinArgs: 2,
	Doc:  "A double precision chunk of a constant shape (bigint[]) with the number x everywhere.",
	Bind: func(args []*Expr) (*Expr, error) { return bindFull("full", args[0], args[1]) },
	Samples: []Sample{
		{Types: []Type{{Kind: Int, Shape: []int{2}}, f64()}},
		{Types: []Type{{Kind: Int, Shape: []int{1}}, f32()}, Attr: Attr{Shape: []int{1}}},
		{Types: []Type{{Kind: Int, Shape: []int{3}}, f64()}, Attr: Attr{Shape: []int{2, 1, 2}}},
		{Types: []Type{{Kind: Int, Shape: []int{4}}, {Kind: Int}}, Attr: Attr{Shape: []int{1, 2, 1, 2}}},
	},
})

func bindFull(name string, shape, x *Expr) (*Expr, error) {
	s, err := staticShape(name, shape)
	if err != nil {
		return nil, err
	}
	if x.Type.Shape != nil {
		return nil, wrongType(name, []Type{shape.Type, x.Type})
	}
	return Call(Lookup("expand_to"), Attr{Shape: s}, x)
}
