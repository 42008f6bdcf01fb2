// Package interop reads and writes files of numbers: NumPy's npy and npz, safetensors, Arrow and Parquet.
//
// # What
//
// A file is a relation. A Reader says which Columns it has and yields rows; a Sink takes rows. Files of arrays (npy,
// npz, safetensors: array.go, arraysink.go) become relations by one convention: arrays of shape (n, …) are columns of
// n rows, row i holding slice i; or, read whole, each array is one chunk of a single row. Arrow and Parquet
// (arrow.go, arrowsink.go, parquet.go) are relations already; chunks are nested lists there, of fixed size where
// relgrad writes them.
//
// Values are nil (NULL), int64, float64, bool, string, nested []any of these for arrays of other than floats, and
// []byte for a chunk, in the stored form of tensor.Encode: its bits go from file to store and back untouched.
//
// # Invariants
//
// Nothing is changed without a word: a value is taken exactly or refused, but double precision is rounded where the
// column is real, as INSERT does. A file may say anything about itself: each length is compared with the file's
// size before memory is taken, and a panic of a library becomes an error. One row is in memory at a time when
// reading npy, npz and safetensors (a column in Fortran order: all of it), one batch for Arrow, a column's page for
// Parquet; when writing, columns of arrays wait in temporary files.
//
// # Errors
//
// *sqlerr.Error that names the file and what was expected and found. No panic crosses the package's border.
//
// # Where to add
//
// A format: a row of formats in interop.go, with functions that open and create. An element type of array files:
// the table elems in elem.go.
package interop
