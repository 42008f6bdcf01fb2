// Package script runs SQL scripts as psql runs them: psql's command language, the splitting of
// statements, PL/pgSQL bodies and functions, and psql's output.
//
// # What
//
// A Runner reads a script line by line (lexer.go), runs backslash commands (table.go lists them; commands*.go,
// describe.go, copy.go, condition.go), hands statements to an Interp and prints results (print*.go). An Interp runs one
// statement tree: DO blocks, CALL and functions are interpreted here (pl*.go, function.go), everything
// else goes to a Store. On a Server there is no Interp: it gets texts and gives what is printed (server.go).
// RunTerminal is the interactive shell (shell.go); Complete says how a line may go on (complete.go).
//
// # Invariants
//
// A variable of PL/pgSQL enters SQL as a sqlfront.Bound node in the tree, never as text. An expression has
// PostgreSQL's types and results: eval.go computes only what it can compute exactly as PostgreSQL
// does, and the Store computes all else. A body runs in one transaction up to its COMMIT; an error
// or a cancelled context rolls back to the last commit.
//
// # Errors
//
// *sqlerr.Error with the position in the script or in the body, and a context line for each PL/pgSQL
// function on the way. Nothing here panics on a script.
//
// # Where to add
//
// A backslash command: a row of commandTable. A PL/pgSQL statement: sqlfront's tree, then a case in
// (*frame).statement. An output format: a case in (*Runner).print.
package script
