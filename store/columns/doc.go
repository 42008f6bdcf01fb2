// Package columns defines how SQLite stores values of Postgres's types.
//
// # What
//
// A value has three forms: a text, as Postgres reads and prints it (TextIn, TextOut, Format); a Go value (value.go);
// and what SQLite stores (ToStored, FromCell). Convert is an explicit cast between types. Reader collects rows into
// vectors of the algebra, and SetVector writes rows of vectors; both copy chunks whole. CopyReader and NewCopyWriter
// read and write COPY's text and csv formats.
//
// Integers and booleans are stored as INTEGER; real (rounded) and double precision as REAL; numeric as its digits,
// compared by the collation rg_numeric, and arrays of it by rg_numeric_array; jsonb as Postgres prints it, compared by
// rg_jsonb; uuid as its canonical text; text, dates and times as TEXT (ISO, times in UTC); real[] and double
// precision[] as BLOB (tensor.Encode); other arrays as JSON text.
//
// # Invariants
//
// FromCell reads what ToStored has made. Stored values of one type sort as in Postgres, by bytes or by the type's
// collation. No scalar is NaN.
//
// # Errors
//
// *sqlerr.Error with Postgres's SQLSTATE and words, without a position: whoever binds a statement adds it.
//
// # Where to add
//
// A type: a line in Storage, a case in TextIn, its casts in Convert, and its kind in the algebra in KernelType.
package columns
