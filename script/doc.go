// Package script holds what the two halves of a script share: what psql's client and the interpreter of PL/pgSQL need
// of a database, and its results.
//
// # What
//
// A Session is a database as scripts know it: a Store runs trees of statements and COPY, one that reads texts itself is
// a psql.Server. Embedded makes a Store of an embedded store; a Transfer is COPY from or to a file or a program.
//
// # Invariants
//
// Nothing here knows psql's commands, nor PL/pgSQL.
//
// # Errors
//
// *sqlerr.Error, with the position in the script.
//
// # Where to add
//
// What a database must be able to do for scripts: a method of Store, or an optional interface beside its use.
package script
