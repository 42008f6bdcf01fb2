// Package executor runs a plan of ra on the CPU in two phases: structure, then values (DESIGN §6).
//
// # What
//
// Compile reads the tables and runs the structure phase: joins, selections and groupings on keys alone turn every
// relation into a space (so many rows) with index arrays into the spaces of its inputs. What remains, the values, is a
// graph of vals: kernel calls, gathers and segment sums over spaces, with common sub-expressions shared across the
// whole plan. The graph is lowered to a list of instructions, each a tree of kernels run over blocks of rows and ended
// by a store or a sum, with a static memory plan. Vals over the rows of one space that do not wait for each other
// through other rows share a pass (fuse.go): one instruction with several results, which reads its rows once. Run
// executes the list once; what no parameter and no step reaches ran before, once. Large matrices are multiplied and
// mapped where they lie (gemm*.go, by_rows.go; docs/adr/0019-large-matrices-in-place.md). What does not fit into
// Options.Memory lies in files (budget.go, place.go; docs/adr/0016-memory-budget.md).
//
// A join of relations that hold all combinations of their keys is a grid (grid.go): its rows are not listed. Sums of
// products over it become products of matrices (contract.go), in chunks that are chosen by cost; a vLayout (layout.go)
// takes a column from the chunks in which it is stored to those, or back. Sums over the residual of a product are made
// by parts where that takes fewer operations and is exact enough, which each step finds out (distribute.go;
// docs/adr/0018-sums-by-parts.md).
//
//	ra plan ─► rels (spaces, indexes, groups) ─► vals ─► instructions ─► blocks of rows on workers
//
// # Invariants
//
// Results are bit-identical for any number of workers: work is cut into lanes by row counts only, and partial sums, of
// a pass too, are added in lane order. Buffers are off the Go heap and die with Close. A val in a space of one row may
// be used in any other space: it is the same for all rows. Sums of real accumulate in double precision, or in single
// precision over at most 256 rows (1,024 in products of large matrices); a product of matrices over a grid, or over
// blocks, over at most 4096 numbers. Sums by parts may be off by a thousandth of the sum of squares in the worst case,
// of double precision by a billionth.
//
// # Errors
//
// Everything returned is an *sqlerr.Error or the context's error. Sizes are checked before memory is taken: 54000 for
// too many rows, 53200 for a budget in which the plan does not fit even where it spills, 53100 for a full disk. A panic
// inside becomes an internal error.
//
// # Where to add
//
// A fast form of a kernel: a row in the table of ops.go. Without one a kernel runs through its reference code. A form
// of computing a val, one file: forms.go says how. An operator: a case of structure.Stage and one in build.go.
package executor
