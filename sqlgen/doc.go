// Package sqlgen prints ra plans as readable SQL text.
//
// # What
//
// SQL prints one root of a plan: a WITH query that has one CTE for each node, named after the operator and its
// number, and a SELECT of the wanted columns under the user's names, ordered by the identity. Inside, column
// c12 is the column of id 12. A node that is used several times is one CTE; only columns that the root
// needs are printed. In a large expression, parts that occur several times get names x1, x2, … (let.go).
// What differs between databases is behind Dialect.
//
// Step prints a step of training for Postgres: one statement that computes the loss, its gradients and the updates of
// all parameters, which see one state, that before the step. It is prepared once; the step and what follows from it are
// parameters. What is the same at every step is computed by StepSQL.Setup into temporary tables, next to those that
// hold the optimizer's buffers.
//
// # Invariants
//
// The text computes what ra/interp computes, except for the rounding of real and for these differences. SQLite holds no
// NaN outside of chunks: scalar arithmetic that gives NaN (Infinity - Infinity) gives NULL there, and a kernel that
// gives NaN is an error. A sum of real chunks is rounded to real once, and so is each real chunk that a kernel returns.
// On Postgres lower and upper follow the locale of the text, and IS NOT DISTINCT FROM joins by a loop over pairs.
//
// CASE, COALESCE, AND and OR evaluate no argument that they do not need where it could fail. Nor is a condition that
// could fail evaluated where conditions of earlier operators do not hold (risky.go). The text contains the seed and the
// step of Options.Env: where the plan draws, it is the query of one step, unless Options.Step is a parameter.
//
// # Errors
//
// What cannot be printed is an *sqlerr.Error: chunks as keys, a nested gradient that is not expanded, an
// Opaque node without Options.Opaque, a constant that the dialect cannot write; Step: a parameter without a key.
//
// # Where to add
//
// A dialect is one file with a type that implements Dialect. A kernel needs nothing: it is a call of the
// function of its name, unless standard in expr.go or the dialect's Arith and Cast know a native form; one with
// attributes, or an internal one, needs a case in Postgres's function or internal, which is an error without.
package sqlgen
