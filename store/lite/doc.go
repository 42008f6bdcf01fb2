// Package lite is a thin, fast interface to the SQLite that github.com/mattn/go-sqlite3 compiles.
//
// # What
//
// A Conn runs statements; a row crosses from C to Go in one call. Go functions, aggregates (also as window functions)
// and collations are registered without reflection and see their arguments without a copy. native.c holds the scalar
// functions that every printed expression may use, tables.c the table functions rg_series and rg_unnest.
//
// # Invariants
//
// A Conn and all that comes from it is used by one goroutine at a time; only Interrupt may be called
// from another. Bytes of a Cell are valid until the next Step, or until the function returns.
//
// # Errors
//
// *Error with SQLite's extended code. A function's own error comes back as the same Go value.
// No panic crosses the border: one inside a function becomes an error of the statement.
//
// # Where to add
//
// A function in C: native.c and its table. A function in Go: package store/functions.
package lite
