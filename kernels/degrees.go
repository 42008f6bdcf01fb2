package kernels

import "math"

// radian is a degree in radians.
const radian = math.Pi / 180

// Functions of angles in degrees are right to the last digit at multiples of 30 and 45, as Postgres's are, whose way of
// computing them this is (utils/adt/float.c).
var angles = []unary{
	{name: "cot", doc: "The cotangent of x radians; Infinity at 0.", pg: true, flops: 25, lo: 0.5, hi: 1.5,
		f: cot,
		d: func(_, e, g *Expr) *Expr { return Neg(Mul(g, Build("add", Num(1), Build("square", e)))) }},
	{name: "sind", doc: "The sine of x degrees.", pg: true, flops: 25, lo: -170, hi: 170,
		f: sind, d: func(x, _, g *Expr) *Expr { return Mul(Mul(Num(radian), g), Build("cosd", x)) }},
	{name: "cosd", doc: "The cosine of x degrees.", pg: true, flops: 25, lo: -170, hi: 170,
		f: cosd, d: func(x, _, g *Expr) *Expr { return Mul(Mul(Num(-radian), g), Build("sind", x)) }},
	{name: "tand", doc: "The tangent of x degrees; Infinity at 90, -Infinity at 270.", pg: true, flops: 30,
		lo: -60, hi: 60, f: tand, d: func(_, e, g *Expr) *Expr {
			return Mul(Mul(Num(radian), g), Build("add", Num(1), Build("square", e)))
		}},
	{name: "cotd", doc: "The cotangent of x degrees; Infinity at 0, -Infinity at 180.", pg: true, flops: 30,
		ulps: 12, // Postgres's way of computing it is 3 to 4 off near 0, and its second derivative has the third power
		lo:   30, hi: 80, f: cotd, d: func(_, e, g *Expr) *Expr {
			return Mul(Mul(Num(-radian), g), Build("add", Num(1), Build("square", e)))
		}},
}

func init() {
	for _, u := range angles {
		registerUnary(u)
	}
}

// The numbers by which results are divided, so that those at 30, 45 and 60 degrees come out exactly.
var (
	thirty    = 30.0 // a variable: products of constants are not rounded as those of arguments are
	sin30     = math.Sin(thirty * radian)
	lessCos60 = 1 - math.Cos(2*thirty*radian)
	tan45     = sind90(45) / cosd90(45)
	cot45     = cosd90(45) / sind90(45)
)

// sind30 is the sine of 0 to 30 degrees, cosd60 the cosine of 0 to 60; sind90 and cosd90 are those of a right angle.
func sind30(x float64) float64 { return math.Sin(x*radian) / sin30 / 2 }
func cosd60(x float64) float64 { return 1 - (1-math.Cos(x*radian))/lessCos60/2 }

func sind90(x float64) float64 {
	if x <= 30 {
		return sind30(x)
	}
	return cosd60(90 - x)
}

func cosd90(x float64) float64 {
	if x <= 60 {
		return cosd60(x)
	}
	return sind30(90 - x)
}

// quarter turns x into an angle from 0 to 90 degrees, and says which signs sine and cosine have there.
func quarter(x float64) (angle, sine, cosine float64) {
	sine, cosine = 1, 1
	x = math.Mod(x, 360)
	if x < 0 {
		x, sine = -x, -1
	}
	if x > 180 {
		x, sine = 360-x, -sine
	}
	if x > 90 {
		x, cosine = 180-x, -1
	}
	return x, sine, cosine
}

func sind(x float64) float64 {
	a, s, _ := quarter(x)
	return s * sind90(a)
}

func cosd(x float64) float64 {
	a, _, c := quarter(x)
	return c * cosd90(a)
}

func tand(x float64) float64 {
	a, s, c := quarter(x)
	return s * c * (sind90(a) / cosd90(a) / tan45)
}

func cotd(x float64) float64 {
	a, s, c := quarter(x)
	return s * c * (cosd90(a) / sind90(a) / cot45)
}

var _ = Register(&Def{
	Name: "degrees", Args: "x", MinArgs: 1,
	Doc:     "An angle of x radians in degrees.",
	Bind:    func(args []*Expr) (*Expr, error) { return Call(Lookup("div"), Attr{}, args[0], Num(radian)) },
	Samples: floatSamples,
})

var _ = Register(&Def{
	Name: "radians", Args: "x", MinArgs: 1,
	Doc:     "An angle of x degrees in radians.",
	Bind:    func(args []*Expr) (*Expr, error) { return Call(Lookup("mul"), Attr{}, args[0], Num(radian)) },
	Samples: floatSamples,
})
