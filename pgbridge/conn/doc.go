// Package conn connects to a PostgreSQL server: from outside, or as the child of a backend.
//
// # What
//
// A Conn runs SQL, of which there are two. Dial gives a Remote, a connection of pgx. NewChild gives a Child, which
// speaks to the backend that has started this process: the backend runs the statements by SPI, in the caller's
// transaction and with the caller's rights. Serve answers the calls of the engine's functions that come this way.
//
// # Invariants
//
// One statement runs at a time. What only reads and fails inside a transaction undoes nothing else of it.
//
// # Errors
//
// Errors of the server keep SQLSTATE, position, detail, hint and context. Where there is no connection, ErrConnect is
// in the chain.
//
// # Where to add
//
// What the engine needs of a line to a server is a method of Conn.
package conn
