// Package store is the embedded store: one SQLite file that understands Postgres's SQL.
//
// # What
//
// Statement trees of sqlfront enter, rows leave. A DB is a session: a connection to the file (connection.go), settings,
// the catalogue and transactions, each a layer over those before it. exec.go runs statements: queries through package
// bind, which prints SQLite's dialect, and those that write through a writer, which binds and runs them (dml.go,
// conflict.go; ddl.go, alter.go, constraint.go, drop.go, matview.go, function.go). copy.go and copyrows.go load and
// unload rows, source.go reads and writes whole columns for the engine, native.go runs its generated SQL, and
// results.go keeps what its functions give for a statement. session_functions.go holds the functions that depend on the
// session.
//
// How values lie in the file is told by package columns, how tables do by package definitions. The catalogue is the
// table relgrad_catalog; with a table's definition it keeps how many rows there are and which columns hold NULL, as of
// the last statement that wrote most of it (catalogue.go).
//
// # Invariants
//
// A statement that fails leaves the store as it was, and inside BEGIN aborts the transaction. Law 1 of the
// design holds after each writing statement (checkSlots). Definitions in the catalogue are immutable; a
// rollback restores the set of them. A DB is one session, used by one goroutine at a time; functions of the
// engine run on its connection while a statement is bound. WAL, 64 KB pages, no mmap: kill -9 loses only
// uncommitted work, a power failure at most the last commits.
//
// # Errors
//
// *sqlerr.Error with Postgres's SQLSTATE; those found while binding have a position. What Postgres can do and
// the store cannot is 0A000 with a hint that names --db. What it takes it answers as PostgreSQL 15 does, which
// internal/pgsuite compares. Known differences: text compares byte by byte; sums of floats are compensated; varchar(n)
// is a checked text; sequences roll back; NaN in a scalar is refused (22003).
//
// # Where to add
//
// A function of Postgres: package functions. A type: package columns. A construct: package bind. A statement:
// runWriting in exec.go. Each with a statement in testdata, whose answers Postgres itself writes (-golden).
package store
