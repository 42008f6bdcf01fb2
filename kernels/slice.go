package kernels

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

var _ = Register(&Def{
	Name: "slice", Args: "x", MinArgs: 1, Internal: true,
	Doc: "x[a:b][c:d]…: the box of the attribute's shape that starts at the attribute's (0-based) indices.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if !a[0].IsChunk() {
			return Type{}, wrongType("slice", a)
		}
		if err := checkBox(at.From, at.Shape, a[0].Shape); err != nil {
			return Type{}, err
		}
		return Type{Kind: a[0].Kind, Shape: at.Shape}, nil
	},
	Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
		res := make([]float64, 0, out.Size())
		box(at.From, out.Shape, a[0].Type.Shape, func(off int) { res = append(res, a[0].F[off]) })
		return Value{Type: out, F: res}, nil
	},
	VJP: func(e, g *Expr) []*Expr {
		return []*Expr{BuildAttr("pad", Attr{Shape: e.Args[0].Type.Shape, From: e.Attr.From}, g)}
	},
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{4}}}, Attr: Attr{Shape: []int{2}, From: []int{1}}},
		{Types: []Type{{Kind: Float64, Shape: []int{3, 4}}}, Attr: Attr{Shape: []int{2, 1}, From: []int{1, 3}}},
		{Types: []Type{f64(1)}, Attr: Attr{Shape: []int{1}, From: []int{0}}},
		{Types: []Type{f32(2, 2, 3)}, Attr: Attr{Shape: []int{1, 2, 2}, From: []int{1, 0, 1}}},
		{Types: []Type{f64(2, 1, 2, 3)}, Attr: Attr{Shape: []int{1, 1, 2, 1}, From: []int{0, 0, 0, 2}}},
	},
})

var _ = Register(&Def{
	Name: "pad", Args: "x", MinArgs: 1, Internal: true,
	Doc: "Zeros of the attribute's shape with x placed at the attribute's (0-based) indices: the derivative of slice.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if !a[0].IsChunk() {
			return Type{}, wrongType("pad", a)
		}
		if err := checkBox(at.From, a[0].Shape, at.Shape); err != nil {
			return Type{}, err
		}
		return Type{Kind: a[0].Kind, Shape: at.Shape}, nil
	},
	Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
		res, i := make([]float64, out.Size()), 0
		box(at.From, a[0].Type.Shape, out.Shape, func(off int) { res[off] = a[0].F[i]; i++ })
		return Value{Type: out, F: res}, nil
	},
	VJP: func(e, g *Expr) []*Expr {
		return []*Expr{BuildAttr("slice", Attr{Shape: e.Args[0].Type.Shape, From: e.Attr.From}, g)}
	},
	Samples: []Sample{
		{Types: []Type{f32(2, 1)}, Attr: Attr{Shape: []int{3, 4}, From: []int{1, 3}}},
		{Types: []Type{f64(1)}, Attr: Attr{Shape: []int{3}, From: []int{0}}},
		{Types: []Type{f64(1, 2, 2)}, Attr: Attr{Shape: []int{2, 2, 3}, From: []int{1, 0, 1}}},
		{Types: []Type{f32(1, 1, 2, 1)}, Attr: Attr{Shape: []int{2, 1, 2, 3}, From: []int{0, 0, 0, 2}}},
	},
})

// checkBox refuses a box that is not inside a chunk of shape s.
func checkBox(from []int, size, s tensor.Shape) error {
	ok := len(from) == len(s) && len(size) == len(s)
	for i := 0; ok && i < len(s); i++ {
		ok = from[i] >= 0 && size[i] >= 1 && from[i]+size[i] <= s[i]
	}
	if !ok {
		return sqlerr.New(sqlerr.ArraySubscript, "a box of shape %v at %v is not inside shape %v", size, from, s)
	}
	return nil
}

// box calls f with the offset in a chunk of shape s of each element of the box, in row-major order.
func box(from []int, size, s tensor.Shape, f func(off int)) {
	st, start, step := make([]int, len(s)), 0, 1
	for i := len(s) - 1; i >= 0; i-- {
		st[i] = step
		start += from[i] * step
		step *= s[i]
	}
	for c, more := newCursor(size, st), true; more; more = c.next() {
		f(start + c.off[0])
	}
}

// Bound is one slice from:to as SQL writes it: from 1, both ends included.
type Bound struct{ From, To int }

// Slice is x[from:to]…; axes without a bound are taken whole. A bound outside the shape or an empty slice is
// an error, because the shape of a chunk is static.
func Slice(x *Expr, bounds []Bound) (*Expr, error) {
	s := x.Type.Shape
	if !x.Type.IsChunk() || len(bounds) > len(s) {
		return nil, sqlerr.New(sqlerr.ArraySubscript, "%d slices of a value of type %v", len(bounds), x.Type)
	}
	at := Attr{Shape: append(tensor.Shape{}, s...), From: make([]int, len(s))}
	for i, b := range bounds {
		if b.From < 1 || b.To > s[i] || b.From > b.To {
			return nil, sqlerr.New(sqlerr.ArraySubscript, "slice %d:%d of dimension %d is outside 1:%d", b.From, b.To, i+1, s[i])
		}
		at.Shape[i], at.From[i] = b.To-b.From+1, b.From-1
	}
	return Call(Lookup("slice"), at, x)
}
