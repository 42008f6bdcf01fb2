// Package train holds the training loop: options, optimizers, early stopping, what is committed and resumed.
//
// # What
//
// Run drives a Model (a compiled loss with its gradients) step by step, has it update the parameters, and hands it
// what is to be committed at most once a second, in a tenth of the time, and at the end. An optimizer is expressions:
// Config.Updates gives them to a program, which makes instructions of them (forms.NewStep); Config.Statement writes a
// step as one SQL statement for Postgres, with the same updates.
//
// # Invariants
//
// Steps count from 1; a learning rate is a function of the step. The loss logged for a step is the one before
// that step's update. A run that was interrupted and resumed goes through the same states bit for bit: everything that
// a step depends on is in the parameters, the optimizer's state, Progress, the options and the step's number. Rows
// without a gradient count as zero gradient, but in a sparse slot; a frozen row never changes.
//
// # Errors
//
// Unknown or ill-typed options name the nearest; a NaN or infinite loss or gradient stops the run with step,
// table and key, the last commit kept.
//
// # Where to add
//
// An optimizer: one entry in optimizers (CONTRIBUTING); a schedule, a projection: one entry in schedules, in
// projections; an option: one entry in options. docs/training.md describes each.
package train
