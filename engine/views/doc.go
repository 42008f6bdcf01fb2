// Package views runs views of the embedded store on the executor, where ordinary statements read them.
//
// # What
//
// Views decides whether a view's program gives the rows that the store would give, and runs it. exact.go decides that
// by the types of the view's expressions.
//
// # Invariants
//
// A view runs here only where its rows are the same. Unless that is certain, the store computes it.
//
// # Errors
//
// Those of the executor while it runs. If a view cannot be bound here, the store computes it.
//
// # Where to add
//
// An expression that has the same value in both: a case in exact.go, with a row in the tests of views in the root
// package.
package views
