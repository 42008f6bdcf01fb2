// Package layouts stores tensors in Delta Lake tables.
//
// # What
//
// A tensor becomes rows in one of six layouts, those of "Delta Tensor: Efficient Vector and Tensor Storage in Delta
// Lake" (https://arxiv.org/abs/2405.03708, section IV): ftsf for dense tensors, coo, csr, csc, csf and bsgs for
// sparse ones. Write stores a tensor, by the layout that takes the least space where none is given (choose.go); Read
// reads one, or a slice of it; List and Delete do what they say. Several tensors lie in one table, by their ids.
//
// The paper's columns are there under its names. Columns are added where it leaves open what is needed to read the
// rows: dtype, chunk_index (ftsf), i0, i1, … instead of the array indices (coo, bsgs), so that files and row groups can
// be skipped, and the range of a row's part of the tensor (csr, csc, csf). Tables without these columns are read where
// there is one way to understand them.
//
// # Invariants
//
// What is read is what was written, bit for bit, except that elements which are zero are left out of sparse layouts; -0
// is kept. Elements of a sparse tensor are in row-major order of their coordinates, each of which is there once.
// A chunk that is missing or there twice is an error, never zeros. A slice reads the files and row groups in which it
// may lie.
//
// # Errors
//
// *sqlerr.Error that names the tensor, the layout and the value. No panic crosses the package's border.
//
// # Where to add
//
// A layout: an implementation of layout, and its row in layouts (layouts.go).
package layouts
