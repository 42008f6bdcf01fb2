// Package session is a session on a PostgreSQL server as the engine sees it: a catalog.Database.
//
// # What
//
// A Session consists of parts, one for each interface of a database: names, settings, rows, statements, transactions,
// runs. Each has only the state that it needs. They all use server, the shared line to the server, and what names need:
// the search path, the types, facts about the contents of tables. reach finds what a query reads, rights what the user
// may do, planned prints checks of what a plan depends on.
//
// # Invariants
//
// Names in SQL of our own are qualified and quoted. Values are in it only as quoted constants. Rows of a table with a
// key come in the order of the key, so that results do not depend on where rows are stored. A definition that has not
// changed is the same pointer as before. What a part keeps of the server's answers is dropped by server.forget.
//
// # Errors
//
// Errors of the server keep SQLSTATE, position, detail, hint and context. Chunks of several shapes, NULL elements and
// lower bounds other than 1 are errors that name table and row. A method that cannot return an error keeps it
// (server.fail); the next method that can returns it.
//
// # Where to add
//
// A type of the server: textForms in type_texts.go. What the engine asks of a database: a method of the part that it
// belongs to. A part that keeps answers has a method drop, and is in the list known.
package session
