// Package engine runs a call from text to result: it binds, differentiates, optimizes, compiles and runs a loss in one
// session of a database.
//
// # What
//
// compile.go makes a plan and a program of a loss, cache.go keeps them between calls, catalogue.go gives the binder and
// the executor access to the database. gradient.go, check.go and explain.go are the calls; args.go reads their
// arguments. push.go lets a database compute, portable.go makes texts that run without an engine. finite.go finds where
// a value stops being finite, memory.go bounds what a program takes, batch.go draws the rows of a step, targets.go
// finds parameters that look like data. Package train/run trains with an Engine, package engine/views runs views on
// one.
//
// # Invariants
//
// A call parses a loss once and differentiates it once; a check plans it again without its gradient. A kept plan is
// valid while every name, setting and table from which it was made is unchanged. An Engine is one session, used by one
// goroutine at a time.
//
// # Errors
//
// *sqlerr.Error. An error about an argument is an *ArgError until Args.Place gives it the argument's position. Panics
// pass: the root package catches them.
//
// # Where to add
//
// A function of the SQL surface: its signature in surface.go, its work in a method of Engine, and its name in
// the root package (functions.go, server.go). What only some databases can do: an interface of package catalog.
package engine
