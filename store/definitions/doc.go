// Package definitions is the set of definitions of a store, and how SQLite's file has them.
//
// # What
//
// A Set holds tables, views, functions and schemas by name; it answers what a name means on a search path (Relation,
// Function) and what depends on what (dependents.go). tables.go prints a table for SQLite: its name, its columns,
// CREATE TABLE and CREATE INDEX. systemviews.go fills the views of the catalogue, functions.go keeps functions.
//
// # Invariants
//
// A set that is in use does not change: who changes one clones it. Tables of the schema public have their own names in
// the file, others schema.name; capitals and '^' are escaped by '^', because SQLite folds case. Keys of one integer are
// SQLite's row id.
//
// # Errors
//
// *sqlerr.Error with Postgres's SQLSTATE, without a position.
//
// # Where to add
//
// A view of the catalogue is an entry of SystemViews.
package definitions
