// Package plain is a device that computes every value by its definition.
//
// # What
//
// It evaluates a Val row by row with the kernels' reference code, on one thread, and adds sums in the order of the
// rows. Of the forms of instructions it knows only those of a step of training, whose updates are expressions. The
// tests of the executor run on it (go test ./executor -device plain): that proves that instructions say all that a
// device must know. It has memory of its own (memory.go), which the host sees only after Fetch: that proves that a
// program and its device exchange nothing but by Fetch, Store and Copy.
//
// # Invariants
//
// A sum by parts is never made: the instructions that stand in for it are run.
//
// # Errors
//
// An *sqlerr.Error of a kernel, or the context's error.
//
// # Where to add
//
// What a new kind of Val means: a case of compute or of row.
package plain
