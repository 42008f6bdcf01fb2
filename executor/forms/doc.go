// Package forms chooses how values are computed and makes the instructions.
//
// # What
//
// Lower takes the Vals that are wanted. It decides which Vals are computed into memory and which inside the trees that
// read them (lower.go), which share a pass (fuse.go), and which sums of a residual are computed by parts
// (distribute.go). For each Val in memory the cheapest of its forms makes the instructions: a form is one file that
// registers {Name, Match, Cost, emit} (forms.go). NewStep makes the instructions that update parameters (update.go).
// Trees of kernels are compiled by compiler.go and the emitters of ops*.go.
//
//	values.Val ─► Lower ─► Schedule: instructions and the Vals that need memory
//
// # Invariants
//
// The order in which forms are registered does not matter. A Match changes neither the Val nor the schedule. A Val gets
// its memory from the program, after lowering.
//
// # Errors
//
// An impossible state is an internal error; the context's error.
//
// # Where to add
//
// A form: one file, see forms.go and CONTRIBUTING. A kernel with a loop of its own: an emitter in the table of ops.go.
package forms
