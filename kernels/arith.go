package kernels

import (
	"math"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// inferArith gives bigint for integers, else the element-wise float rule.
func inferArith(name string) func([]Type, Attr) (Type, error) {
	elem := inferElem(name)
	return func(a []Type, at Attr) (Type, error) {
		for _, t := range a {
			if t.Kind != Int || t.Shape != nil {
				return elem(a, at)
			}
		}
		return Type{Kind: Int}, nil
	}
}

var _ = Register(&Def{
	Name: "add", Args: "a, b", MinArgs: 2, Internal: true, Traits: Shifts,
	Role:  RoleSum,
	Doc:   "a + b, element by element.",
	Infer: inferArith("add"),
	Elem:  func(x []float64) float64 { return x[0] + x[1] },
	Ints: func(x []int64) (int64, error) {
		s := x[0] + x[1]
		return s, overflow((x[0] >= 0) == (x[1] >= 0) && (s >= 0) != (x[0] >= 0))
	},
	VJP: func(e, g *Expr) []*Expr { return []*Expr{SumTo(g, e.Args[0].Type), SumTo(g, e.Args[1].Type)} },
})

var _ = Register(&Def{
	Name: "sub", Args: "a, b", MinArgs: 2, Internal: true, Traits: Shifts,
	Role:  RoleSum,
	Doc:   "a - b, element by element.",
	Infer: inferArith("sub"),
	Elem:  func(x []float64) float64 { return x[0] - x[1] },
	Ints: func(x []int64) (int64, error) {
		s := x[0] - x[1]
		return s, overflow((x[0] >= 0) != (x[1] >= 0) && (s >= 0) != (x[0] >= 0))
	},
	VJP: func(e, g *Expr) []*Expr { return []*Expr{SumTo(g, e.Args[0].Type), Neg(SumTo(g, e.Args[1].Type))} },
})

var _ = Register(&Def{
	Name: "mul", Args: "a, b", MinArgs: 2, Internal: true, Linear: []int{0, 1},
	Labels: []string{",...->...", "...,->...", "...,...->..."},
	Role:   RoleProduct,
	Doc:    "a * b, element by element.",
	Infer:  inferArith("mul"),
	Elem:   func(x []float64) float64 { return x[0] * x[1] },
	Ints: func(x []int64) (int64, error) {
		p := x[0] * x[1]
		return p, overflow(x[0] != 0 && (p/x[0] != x[1] || x[0] == -1 && x[1] == math.MinInt64))
	},
	VJP: func(e, g *Expr) []*Expr {
		a, b := e.Args[0], e.Args[1]
		return []*Expr{mulSumTo(g, b, a.Type), mulSumTo(g, a, b.Type)}
	},
})

// mulSumTo is g * x summed to t, as a dot where t is a scalar and x a whole chunk.
func mulSumTo(g, x *Expr, t Type) *Expr {
	if t.Shape == nil && x.Type.IsChunk() && x.Type.Shape.Equal(g.Type.Shape) {
		return Build("dot", g, x)
	}
	return SumTo(Mul(g, x), t)
}

var _ = Register(&Def{
	Name: "div", Args: "a, b", MinArgs: 2, Internal: true, Linear: []int{0},
	Labels: []string{"...,/->..."},
	Role:   RoleQuotient,
	Doc:    "a / b, element by element; between integers truncated toward zero, and division by zero an error.",
	Infer:  inferArith("div"),
	Elem:   func(x []float64) float64 { return x[0] / x[1] },
	Ints: func(x []int64) (int64, error) {
		if x[1] == 0 {
			return 0, divisionByZero()
		}
		return x[0] / x[1], overflow(x[0] == math.MinInt64 && x[1] == -1)
	},
	VJP: func(e, g *Expr) []*Expr {
		a, b := e.Args[0], e.Args[1]
		out := []*Expr{SumTo(Div(g, b), a.Type), nil}
		if !b.IsConst() {
			out[1] = Neg(mulSumTo(g, Div(e, b), b.Type))
		}
		return out
	},
	Flops: perElement(4), Lo: 0.5, Hi: 3,
})

var _ = Register(&Def{
	Name: "mod", Args: "a, b", MinArgs: 2, Zero: true, Traits: SmallInteger,
	Doc: "a % b between integers, with the sign of a.",
	Infer: func(a []Type, _ Attr) (Type, error) {
		if a[0].Kind != Int || a[1].Kind != Int || a[0].Shape != nil || a[1].Shape != nil {
			return Type{}, wrongType("mod", a)
		}
		return Type{Kind: Int}, nil
	},
	Ints: func(x []int64) (int64, error) {
		if x[1] == 0 {
			return 0, divisionByZero()
		}
		return x[0] % x[1], nil
	},
	Samples: []Sample{{Types: []Type{{Kind: Int}, {Kind: Int}}, Ints: []int64{-7, 3}}},
})

var _ = Register(&Def{
	Name: "neg", Args: "a", MinArgs: 1, Internal: true, Linear: []int{0},
	Labels: []string{"-...->..."},
	Role:   RoleScaled,
	Doc:    "-a, element by element.",
	Infer:  inferArith("neg"),
	Elem:   func(x []float64) float64 { return -x[0] },
	Ints:   func(x []int64) (int64, error) { return -x[0], overflow(x[0] == math.MinInt64) },
	VJP:    func(_, g *Expr) []*Expr { return []*Expr{Neg(g)} },
})

var _ = Register(&Def{
	Name: "power", Args: "x, y", MinArgs: 2, Role: RoleDistance,
	Doc: "x ^ y, element by element; scalars give double precision.",
	Kink: "The derivative in x is y·x^(y-1), computed as y·x^y / x where y - 1 would be rounded, and 0 where y = 0; the " +
		"one in y is x^y·ln x, 0 where x = 0.",
	Infer: func(a []Type, at Attr) (Type, error) {
		t, err := inferElem("power")(a, at)
		return widenScalar(t), err
	},
	Elem: func(x []float64) float64 { return pow(x[0], x[1]) },
	VJP:  vjpPower, Flops: perElement(20), Lo: 0.5, Hi: 2,
})

func vjpPower(e, g *Expr) []*Expr {
	x, y := e.Args[0], e.Args[1]
	if y.IsConst() && y.Type.Shape == nil && !y.Const.Null {
		switch c := y.Const.Float(); c {
		case 0:
			return []*Expr{nil, nil}
		case 1:
			return []*Expr{SumTo(g, x.Type), nil}
		case 2:
			return []*Expr{SumTo(Mul(g, Mul(Num(2), x)), x.Type), nil}
		}
		if c := y.Const.Float(); c >= 0.5 {
			return []*Expr{SumTo(Mul(g, Mul(y, Build("power", x, Num(c-1)))), x.Type), nil}
		}
		return []*Expr{SumTo(Mul(g, Mul(y, lowered(e, x))), x.Type), nil}
	}
	// what is not chosen keeps out its derivative too
	flat, low := Build("eq_mask", y, Num(0)), Build("greater", Num(0.5), y)
	high := Build("power", Select(flat, Num(1), Select(low, Num(1), x)), Sub(y, Num(1)))
	dx := Select(flat, Num(0), Mul(y, Select(flat, Num(1), Select(low, lowered(e, x), high))))
	out := []*Expr{SumTo(Mul(g, dx), x.Type), nil}
	if !y.IsConst() {
		dy := Select(Build("eq_mask", x, Num(0)), Num(0), Mul(e, Build("ln", nonzero(x))))
		out[1] = SumTo(Mul(g, dy), y.Type)
	}
	return out
}

// lowered is x^(y-1) for y < ½ as x^y / x: y - 1 would be rounded, and with it ln x times as many digits of the power.
func lowered(e, x *Expr) *Expr {
	return Select(Build("eq_mask", x, Num(0)), Num(math.Inf(1)), Div(e, nonzero(x)))
}

// widenScalar gives double precision for a scalar real, as Postgres's scalar functions do.
func widenScalar(t Type) Type {
	if t.Shape == nil && t.Kind == Float32 {
		t.Kind = Float64
	}
	return t
}

func divisionByZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

func overflow(bad bool) error {
	if bad {
		return sqlerr.New(sqlerr.NumericOutOfRange, "bigint out of range")
	}
	return nil
}
