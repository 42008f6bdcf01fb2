// Package wire is what a PostgreSQL backend and the engine beside it send each other: frames, errors, blocks of rows.
//
// # What
//
// frames.go lists the frames (the other side is pgbridge/extension/src/engine.c). Rows travel as a Block of columns,
// whose values lie in memory that both sides share. From a server without the extension the same blocks are read in
// the binary form of its own protocol (RowReader), and are sent to it as COPY takes them (WriteCopy).
//
// # Invariants
//
// All chunks of a column have one shape in a block. Numbers are read where they lie, and never beyond the memory.
//
// # Errors
//
// Errors keep SQLSTATE, position, detail, hint and context on the way. A chunk that cannot stand in a column is not an
// error here: the column has it as Odd.
//
// # Where to add
//
// A type of columns: kindOf in block.go, binaryKinds in row_reader.go, and src/block.c of the extension.
package wire
