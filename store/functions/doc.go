// Package functions holds the functions of Postgres that the embedded store has.
//
// # What
//
// Signatures and Aggregates list the functions' overloads, with a template where SQLite's SQL is enough. Functions
// written in Go are in the tables of numbers.go, texts.go, times.go, arrays.go and aggregates.go; their names in SQL
// begin with "rg_". kernels.go makes a function "rg_k_…" of each kernel in the registry. Register installs all of them.
//
// # Invariants
//
// Functions are pure and know no session; those that do are in package store. A function that may take long runs apart
// from the connection (lite.Conn.Long), so that an interrupt ends the statement at once.
//
// # Errors
//
// *sqlerr.Error with the SQLSTATE and words of Postgres, without a position.
//
// # Where to add
//
// A function: a line in signatures.go and, unless SQLite has it, an entry in the table of its kind; with a statement in
// store/testdata, whose answers Postgres itself writes (-golden).
package functions
