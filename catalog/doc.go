// Package catalog defines how the engine and a database describe tables, views, types, functions and rows to each
// other.
//
// # What
//
// TableDef and ViewDef describe relations, Type is a type of the server, Objects are all objects that a session sees.
// Result is the result of a statement, Relation a result in columns, Version identifies the content of a table.
//
// Database is a database as the engine needs it, composed of small interfaces; optional.go has what only some databases
// can do.
//
// # Invariants
//
// Definitions are immutable: to change one, clone it. While a definition is unchanged its pointer is the same, so plans
// compare pointers. The embedded store keeps definitions as JSON in its file, so their fields keep their names.
//
// # Errors
//
// None are made here.
//
// # Where to add
//
// A database: implement Database; what only it can do is an interface in optional.go. A type of the store's SQL: a
// variable in types.go, and its conversions in Implicit and Assignable. What only one database needs to know of a
// relation belongs in its own package.
package catalog
