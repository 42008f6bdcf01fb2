package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

var _ = Register(&Def{
	Name: "dot", Args: "a, b", MinArgs: 2, Linear: []int{0, 1}, Labels: []string{"...,...->"},
	Role:  RoleScalar,
	Doc:   "The sum of a * b over all elements of two chunks of one shape, in double precision.",
	Infer: inferPair("dot"),
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		s := 0.0
		for i, x := range a[0].F {
			s += x * a[1].F[i]
		}
		return Value{Type: out, X: s}, nil
	},
	VJP:     func(e, g *Expr) []*Expr { return []*Expr{Mul(g, e.Args[1]), Mul(g, e.Args[0])} },
	Flops:   perElement(2),
	Samples: pairSamples,
})

var pairSamples = []Sample{
	{Types: []Type{f64(3), f64(3)}},
	{Types: []Type{f32(2, 3), f64(2, 3)}},
	{Types: []Type{f32(1), f32(1)}},
	{Types: []Type{f32(2, 1, 3), f32(2, 1, 3)}},
	{Types: []Type{f64(2, 2, 1, 2), f32(2, 2, 1, 2)}},
}

// inferPair is the rule of kernels that take two chunks of one shape to a double precision number.
func inferPair(name string) func([]Type, Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsChunk() || !a[1].IsChunk() {
			return Type{}, wrongType(name, a)
		}
		if !a[0].Shape.Equal(a[1].Shape) {
			return Type{}, sqlerr.New(sqlerr.ArraySubscript, "different shapes %v and %v in %s", a[0].Shape, a[1].Shape, name)
		}
		return Type{Kind: Float64}, nil
	}
}
