package kernels

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

var _ = Register(&Def{
	Name: "concat_axis", Args: "a, b, axis", MinArgs: 3,
	Doc: "a and b joined along a constant axis (counted from 1); all other axes are equal. The operator || " +
		"joins along the first.",
	Bind: func(args []*Expr) (*Expr, error) {
		axis, err := staticAxis("concat_axis", args[0].Type, args[2])
		if err != nil {
			return nil, err
		}
		return Call(Lookup("concat_axis"), Attr{Axis: axis}, args[0], args[1])
	},
	Infer: func(a []Type, at Attr) (Type, error) {
		if !a[0].IsChunk() || !a[1].IsChunk() {
			return Type{}, wrongType("concat_axis", a)
		}
		s, t := a[0].Shape, a[1].Shape
		if len(s) != len(t) || !keptShape(s, at.Axis).Equal(keptShape(t, at.Axis)) {
			return Type{}, sqlerr.New(sqlerr.ArraySubscript,
				"different shapes %v and %v in concat_axis along axis %d", s, t, at.Axis+1)
		}
		out := append(tensor.Shape{}, s...)
		out[at.Axis] += t[at.Axis]
		return Type{Kind: floatKind(a[0], a[1]), Shape: out}, nil
	},
	Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
		inner := out.Shape[at.Axis+1:].Size()
		na, nb := a[0].Type.Shape[at.Axis]*inner, a[1].Type.Shape[at.Axis]*inner
		res := make([]float64, 0, out.Size())
		for i := range out.Shape[:at.Axis].Size() {
			res = append(res, a[0].F[i*na:(i+1)*na]...)
			res = append(res, a[1].F[i*nb:(i+1)*nb]...)
		}
		return Value{Type: out, F: res}, nil
	},
	VJP: func(e, g *Expr) []*Expr {
		s, t := e.Args[0].Type.Shape, e.Args[1].Type.Shape
		from := make([]int, len(s))
		to := append([]int(nil), from...)
		to[e.Attr.Axis] = s[e.Attr.Axis]
		return []*Expr{BuildAttr("slice", Attr{Shape: s, From: from}, g), BuildAttr("slice", Attr{Shape: t, From: to}, g)}
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{3}}, {Kind: Float64, Shape: []int{2}}}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 3}}, {Kind: Float64, Shape: []int{2, 1}}}, Attr: Attr{Axis: 1}},
		{Types: []Type{f32(1), f32(1)}},
		{Types: []Type{f32(2, 1, 2), f32(2, 3, 2)}, Attr: Attr{Axis: 1}},
		{Types: []Type{f64(1, 2, 2, 1), f32(1, 2, 2, 2)}, Attr: Attr{Axis: 3}},
	},
})
