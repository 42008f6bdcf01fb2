// Package functions holds the functions of Postgres that the embedded store knows.
//
// # What
//
// Signatures and Aggregates list their overloads, with a template of SQLite's SQL where that is all it takes; the
// tables of numbers.go, texts.go, times.go, arrays.go and aggregates.go hold those that are written in Go, whose name
// in SQL is "rg_" and their own. kernels.go makes each kernel of the registry one, "rg_k_" and its name. Register
// installs them all.
//
// # Invariants
//
// A function is pure and knows nothing of a session: those that do are store's. One that may take long is called apart
// from the connection (lite.Conn.Long), so that an interrupt ends the wait for it.
//
// # Errors
//
// *sqlerr.Error with the SQLSTATE and words of Postgres, without a position.
//
// # Where to add
//
// A function is a line in signatures.go and, unless SQLite has it, an entry in the table of its kind; with a statement
// in store/testdata, whose answers Postgres itself writes (-golden).
package functions
