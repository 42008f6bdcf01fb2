// Package run is the loop around train: a run of training on one session of a database, from CALL train to its last
// commit.
//
// # What
//
// A run is made of layers, each with what is its own: the task, its parameters (slots.go), its record in the database
// (record.go, run_context.go), its commits (commits.go), its programs (programs.go), its hooks (hooks.go), and the run
// itself (run.go), which is the train.Model whose steps the executor does. pushed.go is a run whose steps the database
// does, delete.go removes runs.
//
// # Invariants
//
// Between commits nothing is written unless before_step writes; a commit holds parameters, progress, losses and the
// optimizer's state of one step. A resumed run goes on as if it had not been interrupted: the same numbers, bit by bit.
//
// # Errors
//
// *sqlerr.Error with the run's number; those about an argument are *engine.ArgError. What another session has changed
// meanwhile ends a run with SQLSTATE 40001, and its last commit stands.
//
// # Where to add
//
// An option: package train. What a resumed run needs to know: runContext, or progress where it changes.
package run
