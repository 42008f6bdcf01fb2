// Package definitions is the set of definitions of a store, and how SQLite's file has them.
//
// # What
//
// A Set holds tables, views, functions and schemas by name. It resolves names on a search path (Relation, Function) and
// knows what depends on what (dependents.go). tables.go prints a table for SQLite: its name, columns, CREATE TABLE and
// CREATE INDEX. systemviews.go fills the views of the system catalogue, functions.go encodes functions.
//
// # Invariants
//
// A Set in use does not change: to change it, clone it. A table in schema public has its own name in the file, any
// other is schema.name. Capitals and '^' are escaped by '^', because SQLite folds case. A key of one integer is
// SQLite's row id.
//
// # Errors
//
// *sqlerr.Error with Postgres's SQLSTATE, without a position.
//
// # Where to add
//
// A view of the system catalogue: an entry of SystemViews.
package definitions
