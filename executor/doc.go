// Package executor runs a plan of ra in two phases: structure, then values.
//
// # What
//
// Compile reads the tables and runs the structure phase (package structure): joins, selections and groupings on keys
// alone turn every relation into a space (so many rows) with index arrays into the spaces of its inputs. What remains
// is a graph of values (package values): kernel calls, gathers and segment sums over spaces. Package forms lowers it
// to a list of instructions; this package gives them their memory (place.go) and has a device run the list (run.go;
// packages device and device/cpu). Run executes the list once; what no parameter and no step reaches ran before, once.
// Train makes the updates of parameters instructions too (training.go), which a step runs behind its gradients:
// values, gradients and the state of optimizers stay in the program's memory. What does not fit into Options.Memory
// lies in files (budget.go, place.go; docs/adr/0016-memory-budget.md).
//
//	ra plan ─► structure ─► values ─► forms ─► instructions on a device
//
// A plan for several sites (optimizer/physical) becomes a program for each site, of its own fragments of the plan
// (fragment.go), its own rows of the tables (spread.go) and its own memory. What a site reads of another comes by an
// exchange: the structure says which rows come (exchange.go), an instruction brings their numbers (device.Exchange).
// A row of a parameter is changed by the site where it lies (owners.go). See docs/adr/0023-sites-of-a-process.md.
//
// # Invariants
//
// All sites run their exchanges in one order, that of the plan. Results are bit-identical for any number of workers:
// work is cut into lanes by row counts only, and partial sums, of a pass too, are added in lane order. Buffers are off
// the Go heap and die with Close. A val in a space of one row may be used in any other space: it is the same for all
// rows. Sums of real accumulate in double precision, or in single
// precision over at most 256 rows (1,024 in products of large matrices); a product of matrices over a grid, or over
// blocks, over at most 4096 numbers. Sums by parts may be off by a thousandth of the sum of squares in the worst case,
// of double precision by a billionth.
//
// # Errors
//
// Everything returned is an *sqlerr.Error or the context's error. Sizes are checked before memory is taken: 54000 for
// too many rows, 53200 for a budget in which the plan does not fit even where it spills, 53100 for a full disk. A panic
// inside becomes an internal error. An error at one site ends the run at all of them.
//
// # Where to add
//
// An operator: a case of structure.Stage and one in build.go. A form of computing a value: package forms. A machine
// that computes: package device.
package executor
