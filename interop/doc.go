// Package interop reads and writes files of numbers: NumPy's npy and npz, safetensors, Arrow and Parquet.
//
// # What
//
// A file is read as a relation. A Reader has Columns and returns rows; a Sink takes rows. Files of arrays (npy, npz,
// safetensors: array.go, arraysink.go) become relations by one convention: arrays of shape (n, …) are columns of n
// rows, and row i holds slice i; or, read whole, each array is one chunk of a single row. Arrow and Parquet files
// (arrow.go, arrowsink.go, parquet.go) are relations; their chunks are nested lists, of fixed size where relgrad writes
// them.
//
// Tables of other programs that are made of Parquet files (interop/delta) need more of Parquet than COPY: structs,
// maps, binaries, row groups by their statistics. OpenParquet (parquetopen.go, parquetassemble.go) and CreateParquet
// (parquetcreate.go, parquetshred.go) have it, over values that field.go describes.
//
// Values are nil (NULL), int64, float64, bool, string, nested []any of these for arrays that are not of floats, and
// []byte for a chunk, in the stored form of tensor.Encode: its bits do not change between file and store.
//
// # Invariants
//
// No value changes silently: it is taken exactly or refused, except that double precision is rounded for a column of
// real, as INSERT does. A file may claim anything about itself, so each length is compared with the file's size
// before memory is taken, and a panic of a library becomes an error. Reading holds in memory one row of npy, npz and
// safetensors (of a column in Fortran order: all of it), one batch of Arrow, one page of a column of Parquet, or one
// value where that is longer. When writing, columns of arrays wait in temporary files.
//
// # Errors
//
// *sqlerr.Error that names the file and what was expected and found. No panic crosses the package's border.
//
// # Where to add
//
// A format: a row of formats in interop.go, with functions that open and create, and its name in
// ast.FileFormats, without which the parser refuses it. An element type of array files:
// the table elems in elem.go.
package interop
