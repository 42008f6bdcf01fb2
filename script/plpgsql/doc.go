// Package plpgsql runs statements for a script, and interprets PL/pgSQL: DO blocks, CALL and functions.
//
// # What
//
// An Interp runs one statement tree at a time. It interprets DO blocks, CALL and functions itself (pl*.go,
// function.go); everything else goes to the Store. The rows of a long query come in parts (parts.go).
//
// # Invariants
//
// A variable of PL/pgSQL enters SQL as an ast.Bound node in the tree, never as text. An expression has PostgreSQL's
// types and results: eval.go computes only what it can compute exactly as PostgreSQL does, and leaves the rest to the
// Store. A body runs in one transaction up to its COMMIT; an error or a cancelled context rolls back to the last
// commit.
//
// # Errors
//
// *sqlerr.Error with the position in the body, and a context line for each PL/pgSQL function on the way. Nothing here
// panics on a script.
//
// # Where to add
//
// A PL/pgSQL statement: the tree of sqlfront/plpgsql, then a case in (*frame).statement.
package plpgsql
