// Package cpu is the device of the machine's processors.
//
// # What
//
// A Machine has workers, each with scratch memory. It makes an instruction a task: trees run over blocks of rows that
// stay in the second-level cache (block.go; one loop for each operation, loops.go), their rows are stored (stores.go)
// or summed (sums.go, reduce.go), several at once in a pass (run_pass.go); forms of their own have run_*.go. Updates
// of parameters run by the loops of loops_update.go, or where there is none by their trees (run_update.go). Filters of
// candidate rows, which the structure asks for, run here too (filters.go).
//
// # Invariants
//
// Work is cut into lanes by numbers of rows only, and partial sums are added in lane order: results are bit-identical
// for any number of workers. Sums of real accumulate in double precision, or in single precision over at most
// device.Chain rows (device.ProductRows in products of large matrices).
//
// # Errors
//
// An *sqlerr.Error: 53200 where no memory is to be had, and those of the kernels. The context's error.
//
// # Where to add
//
// The loop of an operation: loops.go. The code of a form: a file run_*.go with registerForm, or
// registerState where it keeps something between runs (tasks.go).
package cpu
