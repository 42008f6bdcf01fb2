// Package portable writes the extension's functions in SQL and PL/pgSQL, for servers on which no library can be
// installed.
//
// # What
//
// Files are migrations: 006_kernels.sql has each function, operator and aggregate of the extension but for those that
// an engine answers, 007_runs.sql the tables of training runs, 009_comments.sql what psql says of each object, all in
// the schema relgrad. Overloads in double precision
// are written from the tables of this package, over the functions impl_… of the migrations before; those in real call
// them and round. Package migrations installs them.
//
// # Invariants
//
// The committed files are what Files gives. They have the extension's functions with their names, arguments, results,
// volatility and treatment of NULL, so that views and generated SQL have one meaning on both.
//
// # Errors
//
// Files fails on a function of the extension for which the tables have no text.
//
// # Where to add
//
// An element-wise kernel is a row of maps, another kernel a row of bodies: by the symbol that its C function has.
package portable
