// Package conn connects to a PostgreSQL server: from outside, or as the child of a backend.
//
// # What
//
// A Conn runs SQL. There are two kinds. Dial makes a Remote, a connection of pgx. NewChild makes a Child, which speaks
// to the backend that has started this process: the backend runs the statements by SPI, in the caller's transaction and
// with the caller's rights. Serve answers the calls of the engine's functions that arrive on this line.
//
// # Invariants
//
// One statement runs at a time. A statement that only reads and fails inside a transaction undoes nothing else of it.
//
// # Errors
//
// Errors of the server keep SQLSTATE, position, detail, hint and context. If there is no connection, ErrConnect is in
// the chain.
//
// # Where to add
//
// What the engine needs of a line to a server is a method of Conn.
package conn
