// Package ast holds the trees of SQL statements, queries and expressions, as relgrad reads them.
//
// # What
//
// Statement, Select, Expr and their structs are in ast.go and ast_stmt.go. walk.go walks and rewrites trees; it finds
// the fields of structs by reflection. function.go has a function's signature and arguments, rows.go splits conditions
// on rows into conditions on their fields.
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
// A construct that the trees do not hold: a struct in ast.go (statements: ast_stmt.go), a case in parse and one in
// print. Walks need no change.
package ast
