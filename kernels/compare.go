package kernels

import (
	"cmp"
	"math"
	"strings"
)

// comparableTypes reports whether two scalars compare: numbers, booleans or texts with their like.
func comparableTypes(a, b Type) bool {
	if a.Shape != nil || b.Shape != nil {
		return false
	}
	num := func(t Type) bool { return t.IsFloat() || t.Kind == Int }
	return a.Kind == b.Kind || num(a) && num(b)
}

// Compare orders two valid scalars as Postgres does: NaN equals NaN and is above all numbers; texts
// by bytes (collation "C"); false before true.
func Compare(a, b Value) int {
	switch {
	case a.Type.Kind == Text:
		return strings.Compare(a.T, b.T)
	case !a.Type.IsFloat() && !b.Type.IsFloat():
		return cmp.Compare(a.I, b.I)
	}
	x, y := a.Float(), b.Float()
	switch {
	case math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x):
		return 1
	case math.IsNaN(y):
		return -1
	}
	return cmp.Compare(x, y)
}

func inferCompare(name string) func([]Type, Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		if a[0].IsChunk() || a[1].IsChunk() {
			return Type{}, wrongType(name, a).WithDetail("A comparison of whole arrays is lexicographic and has no derivative.").
				WithHint("Element by element there are maximum(a, b), minimum(a, b) and greater(a, b).")
		}
		if !comparableTypes(a[0], a[1]) {
			return Type{}, wrongType(name, a)
		}
		return Type{Kind: Bool}, nil
	}
}

func registerCompare(name, op string, holds func(c int) bool) *Def {
	i, f, b, t := Type{Kind: Int}, Type{Kind: Float64}, Type{Kind: Bool}, Type{Kind: Text}
	return Register(&Def{
		Name: name, Args: "a, b", MinArgs: 2, Internal: true, Zero: true,
		Doc:   "a " + op + " b between numbers, booleans or texts; NaN equals NaN and is above all numbers.",
		Infer: inferCompare(name),
		Eval: func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) {
			return BoolValue(holds(Compare(a[0], a[1]))), nil
		},
		Samples: []Sample{{Types: []Type{i, f}, Ints: []int64{1}}, {Types: []Type{b, b}, Ints: []int64{0, 1}},
			{Types: []Type{t, t}}},
	})
}

func init() {
	registerCompare("eq", "=", func(c int) bool { return c == 0 }).Traits = Equates
	registerCompare("ne", "<>", func(c int) bool { return c != 0 })
	registerCompare("lt", "<", func(c int) bool { return c < 0 })
	registerCompare("le", "<=", func(c int) bool { return c <= 0 })
	registerCompare("gt", ">", func(c int) bool { return c > 0 })
	registerCompare("ge", ">=", func(c int) bool { return c >= 0 })
}

var _ = Register(&Def{
	Name: "is_distinct", Args: "a, b", MinArgs: 2, Internal: true, Zero: true, NonStrict: true,
	Doc:  "a IS DISTINCT FROM b.",
	Null: "NULL is not distinct from NULL, and distinct from all else; never NULL.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if _, err := inferCompare("eq")(a, at); err != nil {
			return Type{}, err
		}
		return Type{Kind: Bool}, nil
	},
	Eval: func(_ *Env, a []Value, _ Attr, _ Type) (Value, error) {
		if a[0].Null || a[1].Null {
			return BoolValue(a[0].Null != a[1].Null), nil
		}
		return BoolValue(Compare(a[0], a[1]) != 0), nil
	},
	Samples: []Sample{{Types: []Type{{Kind: Int}, {Kind: Int}}, Ints: []int64{1, 2}}},
})
