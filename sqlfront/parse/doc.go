// Package parse makes trees of SQL text. It sees pg_query, PostgreSQL 16's grammar.
//
// # What
//
// Parse reads statements, ParseExpr and ParseSelect parts of them; a Converter turns pg_query's trees into those of
// ast. lex.go is a small scanner of the same lexical rules, which finds source ranges and reads what pg_query does not;
// size.go bounds a text before it is parsed.
//
// # Invariants
//
// A construct that the trees cannot hold is refused; nothing is dropped silently except clauses that change storage or
// locking in a server only (COMPRESSION, WITH (fillfactor …), UNLOGGED). No text makes the parser panic or overflow a
// stack: CheckSize runs first.
//
// # Errors
//
// *sqlerr.Error with SQLSTATE and position: 42601 for syntax, 0A000 for a construct outside the trees (the hint names
// the nearest form), 54000 and 54001 for texts that are too large or too deep.
//
// # Where to add
//
// A form of expression: a case in expr.go and a row in convert_test.go; a statement: ddl.go, alter.go or utility.go.
package parse
