// Package columns is how values of Postgres's types lie in SQLite's columns.
//
// # What
//
// A value has three forms: a text, as Postgres reads and prints it (TextIn, TextOut, Format); a Go value (see
// value.go); and what SQLite holds (ToStored, FromCell). Convert is an explicit cast between types. Reader collects
// rows into the vectors of the algebra, SetVector puts rows of vectors back; chunks pass between the two without a
// value for each element. CopyReader and NewCopyWriter are COPY's text and csv formats.
//
// Integers and booleans are INTEGER; real (rounded) and double precision REAL; numeric the digits, compared by the
// collation rg_numeric, arrays of it by rg_numeric_array; jsonb Postgres's output of it, compared by rg_jsonb; uuid its
// canonical text; text, dates and times TEXT (ISO, times in UTC); real[] and double precision[] BLOB (tensor.Encode);
// other arrays JSON text.
//
// # Invariants
//
// What ToStored gives, FromCell reads back. Stored values of one type order as Postgres orders them, by bytes or by the
// type's collation. NaN is in no scalar.
//
// # Errors
//
// *sqlerr.Error with Postgres's SQLSTATE and words, without a position: who binds a statement adds it.
//
// # Where to add
//
// A type: a line in Storage, a case in TextIn, and in Convert what it can be cast from; its kind in the algebra in
// KernelType.
package columns
