// Package digits checks the digits of kernels and of their derivatives: every one, of first and second order, over its
// whole range.
//
// # What
//
// Check goes through the registry. Truth comes from the definition of a kernel alone (numbers, vectors): it is computed
// in 1,600 bits by series of this package, on numbers that carry their derivatives in two directions (dual), so that no
// formula for a derivative is written down twice. What a Runner computes in floats is compared with that in units in
// the last place: reference code, the executor's loops, generated SQL on SQLite, on Postgres with the extension and on
// the portable tier.
//
// # Invariants
//
// A kernel with a derivative that is neither defined here nor exempt panics: the tests of this package cannot miss one.
// Bounds are those of kernels.Def.Ulps; where a derivative crosses zero the unit of its terms counts, of vectors that
// of the largest element.
//
// # Errors
//
// Those of the runner.
//
// # Where to add
//
// The definition of a kernel is a row of numbers or of vectors in truth.go. Where it changes its ways, points are added
// in cases.go.
package digits
