// Package sqlfront turns SQL text into relgrad's own trees and binds queries to the algebra.
//
// # What
//
// Text enters, trees of ast.go leave. It is the only package that sees pg_query (PostgreSQL 16's
// grammar); every other package works on Statement, Expr and Select. lex.go is a small scanner of the
// same lexical rules, used to bound a text before it is parsed, to find source ranges and to read
// PL/pgSQL (plpgsql*.go), whose trees carry exact positions. walk.go visits and rewrites trees,
// print_*.go gives queries as text again, for a server.
//
// # Invariants
//
// Positions are 0-based byte offsets into Text.SQL. A tree is immutable once built: Rewrite copies.
// A construct that the trees cannot hold is refused; nothing is dropped silently except clauses that
// change storage or locking in a server only (COMPRESSION, WITH (fillfactor …), UNLOGGED).
// No text makes the parser panic or overflow a stack: CheckSize runs first.
//
// # Errors
//
// *sqlerr.Error with SQLSTATE and position: 42601 for syntax, 0A000 for a construct outside the
// trees (the hint names the nearest form), 54000 and 54001 for texts that are too large or too deep.
//
// # Where to add
//
// A construct of differentiable SQL is one file sqlfront/bind_<construct>.go that enters itself into a table of
// constructs.go. A form that the trees do not hold needs first a struct in ast.go (statements: ast_stmt.go), its
// case in convert_*.go and one in print_*.go, a row in convert_test.go and one in print_test.go; walks and rewrites find
// its fields by themselves.
package sqlfront
