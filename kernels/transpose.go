package kernels

import "github.com/relgrad/relgrad/tensor"

var _ = Register(&Def{
	Name: "transpose", Args: "m", MinArgs: 1, Linear: []int{0}, Labels: []string{"...ij->...ji"},
	Doc: "m with its last two axes exchanged.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsChunk() || len(a[0].Shape) < 2 {
			return Type{}, wrongType("transpose", a).WithHint("The argument must have at least two dimensions.")
		}
		s := append(tensor.Shape{}, a[0].Shape...)
		n := len(s)
		s[n-1], s[n-2] = s[n-2], s[n-1]
		return Type{Kind: a[0].Kind, Shape: s}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		n := len(out.Shape)
		rows, cols := out.Shape[n-2], out.Shape[n-1]
		res := make([]float64, out.Size())
		for i := range res {
			at := i / (rows * cols) * (rows * cols)
			r, c := (i-at)/cols, (i-at)%cols
			res[i] = a[0].F[at+c*rows+r]
		}
		return Value{Type: out, F: res}, nil
	},
	VJP: func(_, g *Expr) []*Expr { return []*Expr{Transpose(g)} },
	Samples: []Sample{
		{Types: []Type{{Kind: Float32, Shape: []int{2, 3}}}},
		{Types: []Type{{Kind: Float64, Shape: []int{2, 3, 2}}}},
		{Types: []Type{f64(1, 1)}},
		{Types: []Type{f32(2, 1, 3, 2)}},
	},
})

// Transpose exchanges the last two axes; it undoes a transpose.
func Transpose(e *Expr) *Expr {
	if e.Def != nil && e.Def.Name == "transpose" {
		return e.Args[0]
	}
	return Build("transpose", e)
}
