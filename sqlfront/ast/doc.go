// Package ast holds the trees of SQL statements, queries and expressions, as relgrad reads them.
//
// # What
//
// Statement, Select and Expr and their structs (ast.go, ast_stmt.go); walks and rewrites that find a struct's fields by
// themselves (walk.go); what a tree tells by itself: a function's signature and arguments (function.go), conditions on
// rows field by field (rows.go).
//
// # Invariants
//
// A tree is immutable once built: Rewrite copies. Positions are 0-based byte offsets into Text.SQL. Nothing here knows
// the parser, a catalogue or the algebra.
//
// # Errors
//
// *sqlerr.Error, with the position of the tree.
//
// # Where to add
//
// A form that the trees do not hold: a struct in ast.go (statements: ast_stmt.go), a case in parse and one in print.
// Walks find its fields by themselves.
package ast
