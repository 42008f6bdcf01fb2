package kernels

import "github.com/relgrad/relgrad/internal/sqlerr"

var _ = Register(&Def{
	Name: "stack_row", Args: "position, rows, missing", MinArgs: 3, Internal: true, Zero: true,
	Doc: "The position of a row in the array that array_agg stacks, from 0. It is an error where the group does not " +
		"have the attribute's number of rows, " +
		"or where the row's value is missing.",
	Infer: func(a []Type, at Attr) (Type, error) {
		if a[0].Kind != Int || a[1].Kind != Int || a[2].Kind != Bool && a[2].Kind != Int || a[0].Shape != nil ||
			a[1].Shape != nil || at.Int < 1 {
			return Type{}, wrongType("stack_row", a)
		}
		return Type{Kind: Int}, nil
	},
	Eval: func(_ *Env, a []Value, at Attr, _ Type) (Value, error) {
		switch {
		case a[2].True():
			return Value{}, sqlerr.New(sqlerr.NullNotAllowed, "array_agg cannot collect NULL").
				WithHint("Give it a value, such as coalesce(x, 0).")
		case a[1].I != at.Int:
			return Value{}, sqlerr.New(sqlerr.ArraySubscript, "array_agg: a group has %d rows, others have %d", a[1].I, at.Int).
				WithHint("Chunks of a column have one shape: choose groups of one size.")
		}
		return a[0], nil
	},
	Samples: []Sample{{Types: []Type{{Kind: Int}, {Kind: Int}, {Kind: Bool}}, Attr: Attr{Int: 4}, Ints: []int64{2, 4, 0}},
		{Types: []Type{{Kind: Int}, {Kind: Int}, {Kind: Bool}}, Attr: Attr{Int: 1}, Ints: []int64{0, 1, 0}}},
})
