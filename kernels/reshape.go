package kernels

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

var _ = Register(&Def{
	Name: "reshape", Args: "x, shape", MinArgs: 2, Linear: []int{0},
	Doc: "The elements of x in row-major order with another constant shape of the same size.",
	Bind: func(args []*Expr) (*Expr, error) {
		s, err := staticShape("reshape", args[1])
		if err != nil {
			return nil, err
		}
		return Call(Lookup("reshape"), Attr{Shape: s}, args[0])
	},
	Infer: func(a []Type, at Attr) (Type, error) {
		if !a[0].IsChunk() {
			return Type{}, wrongType("reshape", a)
		}
		if a[0].Size() != at.Shape.Size() {
			return Type{}, sqlerr.New(sqlerr.ArraySubscript,
				"shape %v has %d elements, shape %v has %d", a[0].Shape, a[0].Size(), at.Shape, at.Shape.Size())
		}
		return Type{Kind: a[0].Kind, Shape: at.Shape}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) { return Value{Type: out, F: a[0].F}, nil },
	VJP:  func(e, g *Expr) []*Expr { return []*Expr{Reshape(g, e.Args[0].Type.Shape)} },
	Samples: []Sample{
		{Types: []Type{f32(2, 3)}, Attr: Attr{Shape: []int{3, 2}}},
		{Types: []Type{f64(4)}, Attr: Attr{Shape: []int{2, 1, 2}}},
		{Types: []Type{f64(1)}, Attr: Attr{Shape: []int{1, 1}}},
		{Types: []Type{f32(2, 1, 2, 2)}, Attr: Attr{Shape: []int{8}}},
		{Types: []Type{f32(1, 2, 3)}, Attr: Attr{Shape: []int{3, 2}}},
	},
})

// Reshape gives e another shape of the same size.
func Reshape(e *Expr, s tensor.Shape) *Expr {
	if e.Type.Shape.Equal(s) {
		return e
	}
	return BuildAttr("reshape", Attr{Shape: s}, e)
}
