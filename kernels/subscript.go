package kernels

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

var _ = Register(&Def{
	Name: "subscript", Args: "x, i, …", MinArgs: 2, MaxArgs: 1 + tensor.MaxRank, Internal: true,
	Doc: "The element x[i][j]…, one bigint index for each dimension, from 1. A constant index outside the " +
		"shape is an error.",
	Null: "A computed index outside the shape gives NULL, as in Postgres.",
	Bind: func(args []*Expr) (*Expr, error) {
		from, err := checkIndices(args[0], args[1:])
		if err != nil {
			return nil, err
		}
		if from != nil {
			return Call(Lookup("subscript"), Attr{From: from}, args[0])
		}
		return Call(Lookup("subscript"), Attr{}, args...)
	},
	Infer: func(a []Type, at Attr) (Type, error) {
		err := inferIndices("subscript", a, at, a[0].Shape)
		if !a[0].IsChunk() {
			err = wrongType("subscript", a)
		}
		return Type{Kind: a[0].Kind, Nullable: at.From == nil}, err
	},
	Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
		if off, ok := offset(a[1:], at, a[0].Type.Shape); ok {
			return Value{Type: out, X: a[0].F[off]}, nil
		}
		return NullOf(out), nil
	},
	VJP: func(e, g *Expr) []*Expr {
		x := e.Args[0]
		out := make([]*Expr, len(e.Args))
		at := Attr{Shape: x.Type.Shape, From: e.Attr.From, Kind: x.Type.Kind}
		out[0] = BuildAttr("put", at, append([]*Expr{g}, e.Args[1:]...)...)
		return out
	},
	Flops: func([]Type, Attr, Type) float64 { return 1 },
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{2, 3}}}, Attr: Attr{From: []int{1, 2}}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 3}}, {Kind: Int}, {Kind: Int}}, Ints: []int64{2, 1}},
		{Types: []Type{f64(1)}, Attr: Attr{From: []int{0}}},
		{Types: []Type{f64(2, 1, 3)}, Attr: Attr{From: []int{1, 0, 2}}},
		{Types: []Type{f32(1, 2, 2, 1), {Kind: Int}, {Kind: Int}, {Kind: Int}, {Kind: Int}}, Ints: []int64{1, 2, 1, 1}},
	},
})

var _ = Register(&Def{
	Name: "put", Args: "g, i, …", MinArgs: 1, MaxArgs: 1 + tensor.MaxRank, Internal: true,
	Doc: "Zeros of the attribute's shape and type with the scalar g at [i][j]…: the derivative of a subscript. All " +
		"zeros where an index is outside.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if !a[0].IsFloat() || a[0].Shape != nil || at.Shape == nil {
			return Type{}, wrongType("put", a)
		}
		return Type{Kind: at.Kind, Shape: at.Shape}, inferIndices("put", a, at, at.Shape)
	},
	Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
		f := make([]float64, out.Size())
		if off, ok := offset(a[1:], at, at.Shape); ok {
			f[off] = a[0].X
		}
		return Value{Type: out, F: f}, nil
	},
	VJP: func(e, g *Expr) []*Expr {
		out := make([]*Expr, len(e.Args))
		s := BuildAttr("subscript", Attr{From: e.Attr.From}, append([]*Expr{g}, e.Args[1:]...)...)
		out[0] = NullToZero(s)
		return out
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float64}}, Attr: Attr{Shape: []int{2, 3}, From: []int{1, 2}, Kind: Float32}},
		{Types: []Type{{Kind: Float64}, {Kind: Int}}, Attr: Attr{Shape: []int{3}}, Ints: []int64{2}},
		{Types: []Type{f32()}, Attr: Attr{Shape: []int{1}, From: []int{0}}},
		{Types: []Type{f64()}, Attr: Attr{Shape: []int{2, 1, 3}, From: []int{1, 0, 2}}},
		{Types: []Type{f64(), {Kind: Int}, {Kind: Int}, {Kind: Int}, {Kind: Int}}, Attr: Attr{Shape: []int{1, 2, 2, 1}},
			Ints: []int64{1, 2, 1, 1}},
	},
})

// checkIndices refuses constant indices outside the shape; it returns them, 0-based, when all are constant.
func checkIndices(x *Expr, idx []*Expr) ([]int, error) {
	s := x.Type.Shape
	if len(idx) != len(s) || !x.Type.IsChunk() {
		return nil, sqlerr.At(x.Pos, sqlerr.ArraySubscript, "%d subscripts of a value of type %v", len(idx), x.Type).
			WithHint("Give one subscript for each dimension, or slices such as x[1:1].")
	}
	from := make([]int, 0, len(idx))
	for i, e := range idx {
		if !e.IsConst() || e.Const.Null || e.Type.Kind != Int || e.Type.Shape != nil {
			continue
		}
		if e.Const.I < 1 || e.Const.I > int64(s[i]) {
			return nil, sqlerr.At(e.Pos, sqlerr.ArraySubscript, "subscript %d of dimension %d is outside 1:%d", e.Const.I, i+1,
				s[i]).WithDetail("The array has shape %v.", s)
		}
		from = append(from, int(e.Const.I)-1)
	}
	if len(from) < len(idx) {
		return nil, nil
	}
	return from, nil
}

// inferIndices checks the indices of subscript and put: all in the attributes, or one argument each.
func inferIndices(name string, a []Type, at Attr, s tensor.Shape) error {
	n := len(a) - 1
	if at.From != nil {
		n += len(at.From)
	}
	ok := n == len(s) && (at.From == nil || len(a) == 1)
	for _, t := range a[1:] {
		if t.Kind != Int || t.Shape != nil {
			return sqlerr.New(sqlerr.DatatypeMismatch, "a subscript must be an integer, not %v", t)
		}
	}
	for i, x := range at.From {
		ok = ok && x >= 0 && x < s[i]
	}
	if !ok {
		return wrongType(name, a)
	}
	return nil
}

// offset returns the offset of the indexed element in a chunk of shape s; false when an index is outside.
func offset(idx []Value, at Attr, s tensor.Shape) (int, bool) {
	off := 0
	for d, n := range s {
		var i int64
		if at.From != nil {
			i = int64(at.From[d])
		} else if i = idx[d].I - 1; i < 0 || i >= int64(n) {
			return 0, false
		}
		off = off*n + int(i)
	}
	return off, true
}
