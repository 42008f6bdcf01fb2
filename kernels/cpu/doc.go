// Package cpu has the executor's loops over dense rows, in C with SIMD if cgo is available, else in Go, and the workers
// that run them.
//
// # What
//
// Every loop has a reference in Go (ref.go) and a form in C (one .c file per family, compiled for the baseline, AVX2
// with FMA, and AVX-512; the processor decides when the program starts). Name tells which form runs. Together runs work
// on several processors.
//
// # Invariants
//
// Both forms compute the same up to rounding: FMA may contract, and single-precision exponentials are within 3 ulp.
// Neither depends on how rows are split into calls, except where a sum is split. No fast-math: NaN, infinities and
// signed zeros follow IEEE 754. Nothing here imports a parser or a database.
//
// # Errors
//
// None. A slice that is too short panics in Go before C sees it.
//
// # Where to add
//
// A loop: the reference in ref.go, the C form in a family's file, a row in the table of cpu_test.go.
package cpu
