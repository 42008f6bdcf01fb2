// Package tuning holds the sizes by which a program decides what is worth it on a device.
//
// # What
//
// Sizes are thresholds, such as how many operations a lane has at least, or from how many rows on a join may be a grid.
// Every device has its own; Default is for processors.
//
// # Invariants
//
// Results do not depend on Sizes, but for rounding. No package variable holds one: tests make their own and run at the
// same time.
//
// # Errors
//
// None.
//
// # Where to add
//
// A size by which a form decides: a field of Sizes, with its value in Default.
package tuning
