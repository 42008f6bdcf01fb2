package kernels

var _ = Register(&Def{
	Name: "select", Args: "mask, a, b", MinArgs: 3, Internal: true,
	Role: RoleChoice, Chosen: func(int) []int { return []int{1, 2} },
	Doc:  "Element by element a where the mask is not 0, else b. The other side's value does not matter, even if NaN.",
	Kink: "The mask has derivative 0.",
	Infer: func(a []Type, at Attr) (Type, error) {
		m, err := inferElem("select")(a[:1], at)
		if err != nil {
			return Type{}, wrongType("select", a)
		}
		t, err := inferElem("select")(a[1:], at)
		if err != nil {
			return Type{}, err
		}
		shape, ok := BroadcastShapes(m.Shape, t.Shape)
		if !ok {
			return Type{}, shapeMismatch("select", m, t)
		}
		if m.IsChunk() && t.Shape == nil {
			t.Kind = m.Kind
		}
		t.Shape = shape
		return t, nil
	},
	Elem: func(x []float64) float64 {
		if x[0] != 0 {
			return x[1]
		}
		return x[2]
	},
	VJP: func(e, g *Expr) []*Expr {
		m, z := e.Args[0], Num(0)
		return []*Expr{nil, SumTo(Select(m, g, z), e.Args[1].Type), SumTo(Select(m, z, g), e.Args[2].Type)}
	},
})

var _ = Register(&Def{
	Name: "greater", Args: "a, b", MinArgs: 2, Zero: true,
	Doc:   "Element by element 1 where a > b, else 0 (also where one is NaN).",
	Infer: inferElem("greater"),
	Elem: func(x []float64) float64 {
		if x[0] > x[1] {
			return 1
		}
		return 0
	},
})

var _ = Register(&Def{
	Name: "eq_mask", Args: "a, b", MinArgs: 2, Internal: true, Zero: true,
	Doc:   "Element by element 1 where a = b, else 0 (also where one is NaN).",
	Infer: inferElem("eq_mask"),
	Elem: func(x []float64) float64 {
		if x[0] == x[1] {
			return 1
		}
		return 0
	},
})
