// Package kernelfunc registers the functions that generated SQL (package sqlgen) calls on a SQLite connection.
//
// # What
//
// Register adds relgrad_<kernel> for every kernel of expressions, the constructors relgrad_full, relgrad_zeros and
// relgrad_chunk, and the aggregate relgrad_sum of scalars and chunks. The arguments of a kernel's function are its
// run-time arguments; then, if the kernel draws, the seed and the step; then, if it has static arguments
// (kernels.Def.Static), their text (kernels.Attr.Encode).
//
// # Invariants
//
// Values carry their types: INTEGER is bigint or boolean, REAL double precision, TEXT text, BLOB a chunk
// (tensor.Encode). Where a kernel takes a bigint[], it is a text "[1,2]". A scalar of type real is a REAL; only the
// cast to text must know that, which is relgrad_real_text. The functions depend on their arguments alone.
//
// # Errors
//
// Those of the kernels. SQLite makes NULL of a NaN, so a scalar result that is NaN is an error here.
//
// # Where to add
//
// A kernel is added in package kernels and appears here by itself; a helper goes into the table in helpers.go.
package kernelfunc
