package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

var _ = Register(&Def{
	Name: "sum_to", Args: "x", MinArgs: 1, Internal: true, Linear: []int{0},
	Doc: "Sums x over the axes in which the attribute's shape has length 1 or no axis (aligned at the " +
		"right): the inverse " +
		"of broadcasting. Without a shape, the sum of all elements in double precision.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if !a[0].IsFloat() {
			return Type{}, wrongType("sum_to", a)
		}
		if s, ok := BroadcastShapes(a[0].Shape, at.Shape); !ok || !s.Equal(a[0].Shape) {
			return Type{}, sqlerr.New(sqlerr.ArraySubscript, "shape %v is not a sum of shape %v", at.Shape, a[0].Shape)
		}
		if at.Shape == nil {
			return Type{Kind: Float64}, nil
		}
		return Type{Kind: a[0].Kind, Shape: at.Shape}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		sum := make([]float64, out.Size())
		x, to := a[0].Floats(), newCursor(a[0].Type.Shape, strides(out.Shape, a[0].Type.Shape))
		for _, v := range x {
			sum[to.off[0]] += v
			to.next()
		}
		return floats(out, sum), nil
	},
	VJP: func(e, g *Expr) []*Expr { return []*Expr{ExpandTo(g, e.Args[0].Type)} },
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{2, 3}}}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 3}}}, Attr: Attr{Shape: []int{3}}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 3, 2}}}, Attr: Attr{Shape: []int{3, 1}}},
		{Types: []Type{f64(1)}},
		{Types: []Type{f64(1)}, Attr: Attr{Shape: []int{1}}},
		{Types: []Type{f32(2, 3, 1, 2)}, Attr: Attr{Shape: []int{2, 1, 1, 2}}},
		{Types: []Type{f64(2, 3, 1, 2)}},
	},
})

var _ = Register(&Def{
	Name: "expand_to", Args: "x", MinArgs: 1, Internal: true, Linear: []int{0},
	Doc: "Repeats x to the attribute's shape as broadcasting does. A scalar becomes a chunk of the attribute's type.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if a[0].Shape != nil && !a[0].IsFloat() || a[0].Kind == Text || a[0].Kind == Bool || at.Shape == nil {
			return Type{}, wrongType("expand_to", a)
		}
		if s, ok := BroadcastShapes(a[0].Shape, at.Shape); !ok || !s.Equal(at.Shape) {
			return Type{}, sqlerr.New(sqlerr.ArraySubscript, "shape %v does not expand to shape %v", a[0].Shape, at.Shape)
		}
		if a[0].Shape == nil {
			return Type{Kind: at.Kind, Shape: at.Shape}, nil
		}
		return Type{Kind: a[0].Kind, Shape: at.Shape}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		return floats(out, broadcast(func(x []float64) float64 { return x[0] }, a, out)), nil
	},
	VJP: func(e, g *Expr) []*Expr { return []*Expr{SumTo(g, e.Args[0].Type)} },
	Samples: []Sample{
		{Types: []Type{{Kind: Float64}}, Attr: Attr{Shape: []int{2, 2}, Kind: Float32}},
		{Types: []Type{{Kind: Float32, Shape: []int{2, 1}}}, Attr: Attr{Shape: []int{3, 2, 2}}},
		{Types: []Type{f64(1)}, Attr: Attr{Shape: []int{1}}},
		{Types: []Type{f64()}, Attr: Attr{Shape: []int{1}}},
		{Types: []Type{f64(2, 1, 2)}, Attr: Attr{Shape: []int{2, 2, 3, 2}}},
		{Types: []Type{f32(1, 2, 1, 2)}, Attr: Attr{Shape: []int{2, 2, 2, 2}}},
	},
})

// ExpandTo repeats g to the shape of t; g itself where it has that shape already.
func ExpandTo(g *Expr, t Type) *Expr {
	if g.Type.Shape.Equal(t.Shape) {
		return g
	}
	return BuildAttr("expand_to", Attr{Shape: t.Shape, Kind: t.Kind}, g)
}

// floats makes a float value of type t from its elements.
func floats(t Type, f []float64) Value {
	if t.Shape == nil {
		return Value{Type: t, X: f[0]}
	}
	return Value{Type: t, F: f}
}
