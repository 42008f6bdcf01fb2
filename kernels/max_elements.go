package kernels

import "math"

var _ = Register(&Def{
	Name: "max_elements", Args: "x[, axis]", MinArgs: 1, MaxArgs: 2,
	Doc: "The largest element in double precision, or the largest along one axis (counted from 1), which is kept with " +
		"length 1. NaN where one is.",
	Kink:  "Elements that tie share the gradient equally.",
	Bind:  func(args []*Expr) (*Expr, error) { return bindReduce("max_elements", args) },
	Infer: inferReduce("max_elements"),
	Eval: func(_ *Env, a []Value, at Attr, out Type) (Value, error) {
		res := make([]float64, out.Size())
		lanes(a[0].F, a[0].Type.Shape, at.Axis, func(i int, lane []float64) { res[i] = maxOf(lane) })
		return floats(out, res), nil
	},
	VJP: func(e, g *Expr) []*Expr {
		x := e.Args[0]
		mask := Build("eq_mask", x, e)
		return []*Expr{Select(mask, Div(g, SumTo(mask, e.Type)), Num(0))}
	},
	Samples: reduceSamples,
})

var _ = Register(&Def{
	Name: "min_elements", Args: "x[, axis]", MinArgs: 1, MaxArgs: 2,
	Doc: "The least element in double precision, or the least along one axis (counted from 1), which is kept with " +
		"length 1. NaN where one is.",
	Kink: "Elements that tie share the gradient equally.",
	Bind: func(args []*Expr) (*Expr, error) {
		axis, err := axisArgs("min_elements", args)
		if err != nil {
			return nil, err
		}
		if !args[0].Type.IsChunk() {
			return nil, wrongType("min_elements", []Type{args[0].Type})
		}
		x, err := Call(Lookup("max_elements"), Attr{Axis: axis}, Neg(args[0]))
		if err != nil {
			return nil, err
		}
		return Neg(x), nil
	},
	Samples: sumSamples,
})

func maxOf(x []float64) float64 {
	m := math.Inf(-1)
	for _, v := range x {
		m = larger(m, v)
	}
	return m
}

// bindReduce takes the axis of (x[, axis]) into the attributes.
func bindReduce(name string, args []*Expr) (*Expr, error) {
	axis, err := axisArgs(name, args)
	if err != nil {
		return nil, err
	}
	return Call(Lookup(name), Attr{Axis: axis}, args[0])
}
