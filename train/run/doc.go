// Package run is the loop around train: a training run in one session of a database, from CALL train to its last
// commit.
//
// # What
//
// A run has layers, each with its own state: the task, its parameters (slots.go), its record in the database
// (record.go, run_context.go), its commits (commits.go), its programs (programs.go), its hooks (hooks.go), and the run
// itself (run.go), which is the train.Model whose steps the executor computes. pushed.go is a run whose steps the
// database computes. delete.go removes runs.
//
// # Invariants
//
// Between commits nothing is written unless before_step writes. A commit writes parameters, progress, losses and the
// optimizer's state of one step. A resumed run computes the same numbers, bit by bit, as if it had not been
// interrupted.
//
// # Errors
//
// *sqlerr.Error with the run's number; errors about an argument are *engine.ArgError. If another session has changed
// the parameters or the run meanwhile, the run ends with SQLSTATE 40001, and its last commit stays.
//
// # Where to add
//
// An option: package train. What a resumed run must know: runContext, or progress if it changes during the run.
package run
