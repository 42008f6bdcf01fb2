// Package pgbridge is a session on a PostgreSQL server for the engine: names, definitions, rows, statements.
//
// # What
//
// A Session answers what the engine asks of a database. It runs SQL through a Conn, of which there are two: Dial
// connects from outside by pgx, and Serve speaks to the backend that has started this process, whose SPI runs the
// statements in the caller's transaction and with the caller's rights (wire.go says how they talk; the other side is
// pgbridge/extension/src/engine.c). Rows travel in Blocks of columns, on the way from a backend in shared memory.
//
// # Invariants
//
// Names in SQL of our own are qualified and quoted; values are never pasted into it but as quoted constants. Rows of a
// table with a key come in the order of the key, so that results do not depend on where rows lie. Definitions that have
// not changed are the same pointers.
//
// # Errors
//
// Errors of the server keep SQLSTATE, position, detail, hint and context. Chunks of several shapes, NULL elements and
// lower bounds other than 1 are errors that name table and row.
//
// # Where to add
//
// A type of columns: kindOf in block.go. What the engine asks of a database: session.go.
package pgbridge
