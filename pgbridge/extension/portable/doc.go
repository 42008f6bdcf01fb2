// Package portable writes the extension's functions in SQL and PL/pgSQL, for servers on which no library can be installed.
//
// # What
//
// SQL is the text of migrations/006_kernels.sql: each function, operator and aggregate of the extension, in the schema
// relgrad. Overloads in double precision are written from the tables of this package, over the functions impl_… of the
// migrations before; those in real call them and round. Package migrations installs them.
//
// # Invariants
//
// The committed file is what SQL gives. It has the extension's functions with their names, arguments, results, volatility and
// treatment of NULL, so that views and generated SQL have one meaning on both.
//
// # Errors
//
// SQL fails on a function of the extension for which the tables have no text.
//
// # Where to add
//
// An element-wise kernel is a row of maps, another kernel a row of bodies: by the symbol that its C function has.
package portable
