// Package digits checks the digits of every kernel and of its derivatives of first and second order, over the kernel's
// whole range.
//
// # What
//
// Check goes through the registry. The truth is computed from the definition of a kernel alone (numbers, vectors), with
// 1,600 bits and series of this package, on numbers that carry their derivatives in two directions (dual): no formula
// of a derivative is written down a second time. What a Runner computes in floats is compared with the truth in units
// in the last place. Runners are: reference code, the executor's loops, generated SQL on SQLite, on Postgres with the
// extension and on the portable tier.
//
// # Invariants
//
// A kernel with a derivative that is neither defined here nor exempt panics, so the tests of this package cannot miss
// one. Bounds are those of kernels.Def.Ulps. Where a derivative crosses zero the unit of its terms counts, of vectors
// that of the largest element.
//
// # Errors
//
// Those of the runner.
//
// # Where to add
//
// A kernel's definition: a row of numbers or vectors in truth_test.go. Points where it changes its behaviour:
// cases_test.go.
package digits
