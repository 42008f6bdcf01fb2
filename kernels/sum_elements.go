package kernels

var _ = Register(&Def{
	Name: "sum_elements", Args: "x[, axis]", MinArgs: 1, MaxArgs: 2,
	Doc: "The sum of all elements in double precision, or over one axis (counted from 1), which is kept " +
		"with length 1.",
	Bind:    func(args []*Expr) (*Expr, error) { return bindSum("sum_elements", args) },
	Samples: sumSamples,
})

var _ = Register(&Def{
	Name: "mean_elements", Args: "x[, axis]", MinArgs: 1, MaxArgs: 2,
	Doc: "The mean of all elements in double precision, or over one axis (counted from 1), which is kept with length 1.",
	Bind: func(args []*Expr) (*Expr, error) {
		sum, err := bindSum("mean_elements", args)
		if err != nil {
			return nil, err
		}
		return Div(sum, Num(float64(args[0].Type.Size()/sum.Type.Size()))), nil
	},
	Samples: sumSamples,
})

var sumSamples = []Sample{
	{Types: []Type{{Kind: Float32, Shape: []int{2, 3}}}},
	{Types: []Type{{Kind: Float64, Shape: []int{2, 3}}, {Kind: Int}}, Ints: []int64{2}},
	{Types: []Type{f64(1)}},
	{Types: []Type{f32(3), {Kind: Int}}, Ints: []int64{1}},
	{Types: []Type{f64(2, 1, 3)}},
	{Types: []Type{f32(2, 3, 2), {Kind: Int}}, Ints: []int64{1}},
	{Types: []Type{f32(1, 2, 2, 3), {Kind: Int}}, Ints: []int64{4}},
}

func bindSum(name string, args []*Expr) (*Expr, error) {
	axis, err := axisArgs(name, args)
	if err != nil {
		return nil, err
	}
	if !args[0].Type.IsChunk() {
		return nil, wrongType(name, []Type{args[0].Type})
	}
	return BuildAttr("sum_to", Attr{Shape: keptShape(args[0].Type.Shape, axis)}, args[0]), nil
}
