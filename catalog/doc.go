// Package catalog holds what the engine and a database tell each other about tables, views, types, functions and rows.
//
// # What
//
// TableDef and ViewDef describe relations, Type is a type of the server, Objects is all that a session sees; Result is
// what a statement gave, Relation a result in columns, Version tells one content of a table from another.
//
// Database is a database as the engine sees it, put together from small interfaces; optional.go has what only some can.
//
// # Invariants
//
// Definitions are immutable: who changes one clones it. As long as a definition stands it is the same pointer, by which
// plans see that it has not changed. The embedded store keeps definitions as JSON in its file: fields keep their names.
//
// # Errors
//
// None are made here.
//
// # Where to add
//
// A database implements Database; what only it can is an interface in optional.go. A type of the server is a variable
// in types.go; whether values of it become another type is decided by Implicit and Assignable. What only one database
// needs to know of a relation belongs into its own package.
package catalog
