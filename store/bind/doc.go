// Package bind resolves the names and types of Postgres's statements and prints them in SQLite's dialect.
//
// # What
//
// A Binder binds one statement. SelectQuery binds a query, Expr an expression. Each construct has a function in the
// file of its kind: expressions.go, operators.go, casts.go, arrays.go, calls.go, aggregates.go, from.go, select.go,
// recursive.go. Views are printed as CTEs of the statement. Columns that cost much are computed once, behind a fence
// that stops SQLite's optimizer (fences.go). The engine's own functions, such as gradient(), enter a statement in
// intrinsics.go.
//
// # Invariants
//
// Every FROM item is printed under an alias of its own, so that SQLite's rules for names never matter. The printed text
// has the values and types that Postgres gives. Binding writes nothing but results of the engine's functions, which the
// session keeps for the statement.
//
// # Errors
//
// Inside the package errors are panics of *sqlerr.Error with a position; Catch, deferred at the border, returns them.
// Constructs that Postgres supports and the store does not are refused (Refuse).
//
// # Where to add
//
// A form of expression: a line in constructs.go. An item of FROM: a case of fromItem. A conversion: CastSQL.
package bind
