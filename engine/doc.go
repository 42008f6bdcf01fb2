// Package engine is a call from text to result: a loss is bound, differentiated, optimized, compiled and run on one
// session of a database.
//
// # What
//
// compile.go makes a plan and a program of a loss, cache.go keeps them between calls, catalogue.go shows the database
// to the binder and to the executor. gradient.go, check.go and explain.go are the calls; args.go reads their arguments;
// push.go lets a database compute, portable.go makes texts that run without an engine; finite.go says where a value
// stops being finite; memory.go bounds what a program takes; batch.go draws the rows of a step; targets.go finds
// parameters that look like data. Package train/run trains by an Engine, package engine/views runs views on one.
//
// # Invariants
//
// A call parses a loss once and differentiates it once; a check plans it again, without its gradient. What is kept
// holds as long as every name, setting and table that it was made from is what it was. An Engine is one session, used
// by one goroutine at a time.
//
// # Errors
//
// *sqlerr.Error; one about an argument is an *ArgError until Args.Place gives it that argument's position. Panics pass:
// the root package is the border.
//
// # Where to add
//
// A call of the SQL surface: its signature in surface.go, its work in a method of Engine, and its name in functions.go
// and server.go of the root package. What only some databases can: an interface of package catalog.
package engine
