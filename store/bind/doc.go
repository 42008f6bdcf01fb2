// Package bind resolves the names and types of Postgres's statements and prints them in SQLite's dialect.
//
// # What
//
// A Binder is made for one statement. Select binds a query, Expr an expression; each construct has a function beside
// those of its kind: expressions.go, operators.go, casts.go, arrays.go, calls.go, aggregates.go, from.go, select.go,
// recursive.go. Views are printed as CTEs of the statement, and what is costly to compute twice is fenced off from
// SQLite's optimizer (fences.go). intrinsics.go is where the engine's own functions, gradient() and its like, enter a
// statement.
//
// # Invariants
//
// Every FROM item is printed under an alias of its own, so that SQLite's rules for names never matter. What is printed
// has the values and types that Postgres gives. Nothing is written, but results of the engine's functions, which the
// session keeps for the statement.
//
// # Errors
//
// Inside they travel as panics of *sqlerr.Error with a position; Catch, deferred at the border, turns them back. What
// Postgres can do and the store cannot is refused (Refuse).
//
// # Where to add
//
// A form of expression: a line in constructs.go. An item of FROM: a case of fromItem. A conversion: castSQL.
package bind
