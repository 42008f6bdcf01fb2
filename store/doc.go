// Package store is the embedded store: one SQLite file that understands Postgres's SQL.
//
// # What
//
// Statement trees of sqlfront enter, rows leave. A binder resolves names and types as Postgres does and prints SQLite's
// dialect from the tree (bind*.go, query.go, fence.go); exec.go, dml.go, ddl.go, alter.go and copy.go run it;
// the functions are those of package functions, and store/lite holds some in C. Views are printed as
// CTEs of the statement. source.go reads and writes whole columns for the engine, and systemviews.go holds the views of
// the catalogue, constraint.go names keys and checks as Postgres does, matview.go keeps materialized views as tables,
// intrinsics.go is where the engine's own functions, gradient() and its like, enter a statement.
//
// How values lie in the file is told by package columns. Tables of the schema public have their own names, others
// schema.name; capitals and '^' are escaped by '^', because SQLite folds case. The catalogue is the table
// relgrad_catalog; with a table's definition it keeps how many rows there are and which columns hold NULL, as of the
// last statement that wrote most of it (catalogue.go). Keys of one integer are SQLite's row id.
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
// A function of Postgres: package functions. A type: package columns. A construct: a case in bindExpr or
// binder.fromItem. A statement: exec.go. Each with a statement in testdata, whose answers Postgres itself writes
// (-golden).
package store
