// Package device is what instructions need from the machine that runs them.
//
// # What
//
// Tuning holds the sizes by which a program decides what is worth it on this machine.
//
// # Invariants
//
// Results do not depend on a Tuning, but for rounding.
//
// # Errors
//
// None.
//
// # Where to add
//
// A size by which a form decides: a field of Tuning, with its value in DefaultTuning.
package tuning
