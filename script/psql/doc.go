// Package psql runs SQL scripts as psql runs them: psql's command language, the splitting of statements, and psql's
// output.
//
// # What
//
// A Runner reads a script line by line (lexer.go), runs backslash commands (table.go lists them; commands*.go,
// describe.go, copy.go, condition.go), hands statements to an interpreter (script/plpgsql) and prints results
// (print*.go). On a Server there is no interpreter: it gets texts and gives what is printed (server.go). RunTerminal is
// the interactive shell (shell.go); Complete says how a line may go on (complete.go).
//
// # Invariants
//
// What is printed is what psql prints. A result of any length takes the memory of a part.
//
// # Errors
//
// *sqlerr.Error with the position in the script. Nothing here panics on a script.
//
// # Where to add
//
// A backslash command: a row of commandTable. An output format: a case in (*Runner).print.
package psql
