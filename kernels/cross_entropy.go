package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

var _ = Register(&Def{
	Name: "cross_entropy", Args: "logits, label", MinArgs: 2,
	Doc: "-log_softmax(logits)[label] of a vector of logits and a label that counts from 0, in double precision, " +
		"without overflow. " +
		"A label outside the vector is an error.",
	Infer: func(a []Type, _ Attr) (Type, error) { return Type{Kind: Float64}, logitsAndLabel("cross_entropy", a) },
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		z, label := a[0].F, a[1].I
		if err := checkLabel("cross_entropy", label, int64(len(z))); err != nil {
			return Value{}, err
		}
		m, more := logSumExpParts(z)
		return Value{Type: out, X: m - z[label] + more}, nil
	},
	VJP:     func(e, g *Expr) []*Expr { return []*Expr{Mul(g, Build("cross_entropy_slope", e.Args...)), nil} },
	Flops:   perElement(20),
	Samples: labelSamples,
})

var labelSamples = []Sample{
	{Types: []Type{f32(4), {Kind: Int}}, Ints: []int64{2}},
	{Types: []Type{f64(3), {Kind: Int}}, Ints: []int64{0}},
	{Types: []Type{f64(1), {Kind: Int}}, Ints: []int64{0}},
}

func logitsAndLabel(name string, a []Type) error {
	if a[0].IsChunk() && len(a[0].Shape) == 1 && a[1].Kind == Int && a[1].Shape == nil {
		return nil
	}
	return wrongType(name, a).WithHint("The arguments must be a vector of logits and a bigint label.")
}

var _ = Register(&Def{
	Name: "cross_entropy_slope", Args: "logits, label", MinArgs: 2, Internal: true,
	Doc:   "softmax(logits) less 1 at the label, with all its digits where that is almost 1.",
	Infer: func(a []Type, _ Attr) (Type, error) { return a[0], logitsAndLabel("cross_entropy_slope", a) },
	Eval: func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		z, label := a[0].F, a[1].I
		if err := checkLabel("cross_entropy", label, int64(len(z))); err != nil {
			return Value{}, err
		}
		res := make([]float64, len(z))
		crossEntropySlope(z, label, res)
		return Value{Type: out, F: res}, nil
	},
	VJP: func(e, u *Expr) []*Expr {
		z := e.Args[0]
		return []*Expr{Mul(Build("softmax", z), Build("softmax_center", z, u)), nil}
	},
	Flops:   perElement(20),
	Samples: labelSamples,
})

// checkLabel refuses a label outside 0 … n-1.
func checkLabel(kernel string, label, n int64) error {
	if label >= 0 && label < n {
		return nil
	}
	return sqlerr.New(sqlerr.ArraySubscript, "label %d of %s is not in 0 to %d", label, kernel, n-1)
}

// LabelOf is the argument of a call that counts from 0 and must be below n, an error otherwise; nil: it has none.
func LabelOf(e *Expr) (label *Expr, n int64) {
	switch {
	case e.Def == nil:
	case e.Def.Name == "one_hot":
		return e.Args[0], e.Attr.Int
	case e.Def.Name == "cross_entropy", e.Def.Name == "cross_entropy_slope":
		return e.Args[1], int64(e.Args[0].Type.Size())
	}
	return nil, 0
}
