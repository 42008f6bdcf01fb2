package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

var _ = Register(&Def{
	Name: "cross_entropy", Args: "logits, label", MinArgs: 2,
	Doc: "-log_softmax(logits)[label] of a vector of logits and a label that counts from 0, in double precision, without overflow. " +
		"A label outside the vector is an error.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if !a[0].IsChunk() || len(a[0].Shape) != 1 || a[1].Kind != Int || a[1].Shape != nil {
			return Type{}, wrongType("cross_entropy", a).WithHint("The arguments must be a vector of logits and a bigint label.")
		}
		return Type{Kind: Float64}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		z, label := a[0].F, a[1].I
		if err := checkLabel("cross_entropy", label, int64(len(z))); err != nil {
			return Value{}, err
		}
		return Value{Type: out, X: logSumExp(z) - z[label]}, nil
	},
	VJP: func(e, g *Expr) []*Expr {
		z := e.Args[0]
		hot := BuildAttr("one_hot", Attr{Int: int64(z.Type.Shape[0])}, e.Args[1])
		return []*Expr{Mul(g, Sub(Build("softmax", z), CastTo(z.Type.Kind, hot))), nil}
	},
	Flops: perElement(20),
	Samples: []Sample{
		{Types: []Type{f32(4), {Kind: Int}}, Ints: []int64{2}},
		{Types: []Type{f64(3), {Kind: Int}}, Ints: []int64{0}},
		{Types: []Type{f64(1), {Kind: Int}}, Ints: []int64{0}},
	},
})

// checkLabel refuses a label outside 0 … n-1.
func checkLabel(kernel string, label, n int64) error {
	if label >= 0 && label < n {
		return nil
	}
	return sqlerr.New(sqlerr.ArraySubscript, "label %d of %s is not in 0 to %d", label, kernel, n-1)
}
