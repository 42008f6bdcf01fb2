package kernels

import "strconv"

var _ = Register(&Def{
	Name: "decimal", Args: "a", MinArgs: 1, Internal: true, NoGrad: "It stands only where no parameter is read.",
	Doc: "a rounded to 15 significant decimal digits, which double precision holds: the result of arithmetic with numeric " +
		"values where no parameter is read, so that 3 * 1.1 = 3.3 as in Postgres.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if a[0].Kind != Float64 || a[0].Shape != nil {
			return Type{}, wrongType("decimal", a)
		}
		return Type{Kind: Float64}, nil
	},
	Elem: func(x []float64) float64 {
		y, _ := strconv.ParseFloat(strconv.FormatFloat(x[0], 'e', 14, 64), 64) // never malformed; infinity and NaN stay
		return y
	},
	Samples: []Sample{{Types: []Type{{Kind: Float64}}}},
})
