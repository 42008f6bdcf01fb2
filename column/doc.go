// Package column is a column of data: what tables, sources, results, registers and parameters are made of.
//
// # What
//
// A Column has a kind (how its elements lie in memory), a size (elements of a row), a number of rows, the rows that
// are NULL, and, where it does not lie on the Go heap, the buffer that owns its memory. A column of a relation has a
// type of the expression language as well; a register of the executor has its kind only.
//
// # Invariants
//
// One slice holds the elements: that of the kind, Len × Size of them, row after row. A column whose rows are all NULL
// and whose chunks have no known shape has no elements. Validity is a byte for each row, 1 or 0, as loops in C read it;
// no bytes: no row is NULL. The elements of a NULL row mean nothing. The type says what a value is, the kind how it
// lies there: real may lie in double precision. Whoever reads or writes many elements takes the slice once.
//
// Rows and As share the memory. Only what Allocate returned owns a buffer, and Free gives it back.
//
// # Errors
//
// Allocate returns that the memory does not suffice. What lies outside of a column panics.
//
// # Where to add
//
// A kind is a constant of Kind, a slice of Column, and a case of each method that has cases.
package column
