// Package wire is the protocol between a PostgreSQL backend and the engine beside it: frames, errors, blocks of rows.
//
// # What
//
// frames.go lists the frames (the other side is pgbridge/extension/src/engine.c). Rows travel as a Block of columns,
// whose values are in memory that both sides share. From a server without the extension the same blocks are read from
// the binary form of its own protocol (RowReader), and are sent to it in COPY's binary format (WriteCopy).
//
// # Invariants
//
// All chunks of a column have one shape in a block. Numbers are read in place, and never outside of the memory.
//
// # Errors
//
// Errors keep SQLSTATE, position, detail, hint and context on the way. A chunk that does not fit its column is not an
// error here: the column reports it as Odd.
//
// # Where to add
//
// A type of columns: kindOf in block.go, binaryKinds in row_reader.go, and src/block.c of the extension.
package wire
