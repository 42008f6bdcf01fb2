// Package session is a session on a PostgreSQL server as the engine sees it: a catalog.Database.
//
// # What
//
// A Session is put together from parts, one for each interface of a database: names, settings, rows, statements,
// transactions, runs. Each has the state that it alone needs. Below them stand server, the line that all share, and
// what names need: the search path, the types, facts about the contents of tables. reach finds what a query reads,
// rights what the user may do, planned prints what a plan rests on.
//
// # Invariants
//
// Names in SQL of our own are qualified and quoted; values are never pasted into it but as quoted constants. Rows of a
// table with a key come in the order of the key, so that results do not depend on where rows lie. Definitions that have
// not changed are the same pointers. What a part has kept of the server's answers goes when server.forget is called.
//
// # Errors
//
// Errors of the server keep SQLSTATE, position, detail, hint and context. Chunks of several shapes, NULL elements and
// lower bounds other than 1 are errors that name table and row. An error of a question whose answer cannot hold one is
// kept (server.fail), and is that of the next that can.
//
// # Where to add
//
// A type of the server: textForms in type_texts.go. What the engine asks of a database: a method of the part that it
// belongs to. A part that keeps answers has a method drop, and is in the list known.
package session
