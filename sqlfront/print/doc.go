// Package print prints queries, expressions and types as SQL text for a server.
//
// # What
//
// Print and PrintStatement print trees of ast, PrintType prints a type. Names are quoted where necessary (name.go).
//
// # Invariants
//
// The printed text means what was parsed: the tests parse it again and compare the trees. Operators and functions keep
// their schemas.
//
// # Errors
//
// *sqlerr.Error for a tree that has no text.
//
// # Where to add
//
// A form of expression: a case in expr.go, and a row in print_test.go.
package print
