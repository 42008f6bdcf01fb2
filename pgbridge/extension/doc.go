// Package extension writes the SQL script of relgrad's Postgres extension: a function for each kernel of the registry,
// and the engine's functions.
//
// # What
//
// SQL is the text of relgrad--0.1.sql: for each kernel the overloads that its shape rule accepts, the operators on
// chunks, and the aggregates; then the functions that the engine answers, its procedure train and its tables. Beside it
// are the extension's C code (folder src, with the loops of kernels/cpu), control file and Makefile; scripts/pg-install
// builds and installs them.
//
// # Invariants
//
// The committed file is what SQL returns. Every kernel and aggregate of the registry is in it, or in the list of those
// that Postgres has itself. All overloads of a name are one C function, relgrad_<name>, which looks up its types.
//
// # Errors
//
// SQL fails on a kernel none of whose overloads its shape rule accepts, and on an aggregate that it does not know.
//
// # Where to add
//
// A kernel is a C function in src, by its name (element-wise: one line of src/elementwise.c); make golden writes its
// SQL. An option of train is a row of trainOptions, a function of the engine one of bridgeFuncs. A new name of an
// argument that is no number or chunk is a row of roles, an aggregate a row of folds.
package extension
