package kernels

import "math"

// registerArg registers argmax (sign 1) and argmin (sign -1).
func registerArg(name, doc string, sign float64) {
	Register(&Def{
		Name: name, Args: "x", MinArgs: 1, Zero: true,
		Doc: doc,
		Infer: func(a []Type, _ Attr) (Type, error) {
			if !a[0].IsChunk() || len(a[0].Shape) != 1 {
				return Type{}, wrongType(name, a).WithHint("The argument must be a vector.")
			}
			return Type{Kind: Int}, nil
		},
		Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
			best := 0
			for i, x := range a[0].F {
				if math.IsNaN(x) {
					best = i
					break
				}
				if sign*x > sign*a[0].F[best] {
					best = i
				}
			}
			return Value{Type: out, I: int64(best)}, nil
		},
		Samples: []Sample{{Types: []Type{f32(4)}}, {Types: []Type{f64(3)}}, {Types: []Type{f64(1)}}},
	})
}

func init() {
	registerArg("argmax",
		"The position, from 0, of the largest element of a vector: the first of equal ones, or the first NaN.", 1)
	registerArg("argmin",
		"The position, from 0, of the smallest element of a vector: the first of equal ones, or the first NaN.", -1)
}
