package kernels

// Trait is what a kernel means to code that looks at the form of a condition, at NULLs or at types, not at values.
type Trait uint16

const (
	// Equates: the call holds where its two arguments are equal.
	Equates Trait = 1 << iota
	// Shifts: with a constant as one argument, the result tells the values of the other one apart.
	Shifts
	// TestsNull: the call reads of its argument only whether it is NULL.
	TestsNull
	// Branches: conditions and values alternate, and a last value stands for all other rows.
	Branches
	// NullWhereAllAre: the call is NULL where all its arguments are, and nowhere else.
	NullWhereAllAre
	// ReturnsArgument: the result is one of the arguments as it is.
	ReturnsArgument
	// Converts: the result's type is part of what the call computes.
	Converts
	// OnlySelects: all arguments but the first decide whether the first one is the result.
	OnlySelects
	// SmallInteger: the result is an integer in Postgres, unless an argument is a bigint.
	SmallInteger
)
