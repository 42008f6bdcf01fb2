package kernels

var _ = Register(&Def{
	Name: "zeros", Args: "shape", MinArgs: 1,
	Doc:     "A double precision chunk of zeros of a constant shape (bigint[]).",
	Bind:    func(args []*Expr) (*Expr, error) { return bindFull("zeros", args[0], Num(0)) },
	Samples: []Sample{{Types: []Type{{Kind: Int, Shape: []int{2}}}}},
})

var _ = Register(&Def{
	Name: "full", Args: "shape, x", MinArgs: 2,
	Doc:     "A double precision chunk of a constant shape (bigint[]) with the number x everywhere.",
	Bind:    func(args []*Expr) (*Expr, error) { return bindFull("full", args[0], args[1]) },
	Samples: []Sample{{Types: []Type{{Kind: Int, Shape: []int{2}}, {Kind: Float64}}}},
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
