// Package plpgsql reads bodies of PL/pgSQL.
//
// # What
//
// ParsePLpgSQL makes a Block from a body: its declarations and statements (ast.go, stmt.go), with the SQL in them
// parsed by package parse.
//
// # Invariants
//
// Trees carry exact positions in the body's text. No body makes it panic.
//
// # Errors
//
// *sqlerr.Error with the position in the body: 42601 for syntax, 0A000 for a statement that it does not know.
//
// # Where to add
//
// A statement: a struct in ast.go, a case in stmt.go; then a case in the interpreter (script/plpgsql).
package plpgsql
