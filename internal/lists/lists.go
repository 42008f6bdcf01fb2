// Package lists has what slices of the standard library lacks.
//
// # What
//
// Map makes a list of what a function gives for each item of another.
//
// # Invariants
//
// A result is never nil: who tells an empty list from none writes his own loop.
//
// # Errors
//
// None.
//
// # Where to add
//
// Only what three packages need, and neither slices nor maps has.
package lists

// Map is the list of what f gives for the items of in, in order.
func Map[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}
