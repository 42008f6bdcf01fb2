// Package views runs views of the embedded store on the executor, where ordinary statements read them.
//
// # What
//
// Views says of a view whether its program gives the rows that the store would give, and what they are; exact.go judges
// that by the types of its expressions.
//
// # Invariants
//
// A view runs here only where nobody could tell: what is not known to mean the same to both, the store computes.
//
// # Errors
//
// Those of the executor while it runs. What cannot be bound is no error: the store computes it.
//
// # Where to add
//
// An expression that means the same to both: a case in exact.go, with a row in the tests of views of the root package.
package views
