// Package randquery draws random differentiable losses over random small databases and checks everything
// that computes their gradients against everything else.
//
// # What
//
// Generate draws a Query: a Database (described as data, so that any engine can load it), views, a loss and
// its parameters, all from one seed. Checker compares, for one query: gradients with central differences of
// the oracle, the gradient's rows with the rows that reach the loss, the optimized plan with the plan as it
// was differentiated, each Engine with the oracle, and the query with transformed versions of itself.
//
// GenerateTyped draws a Typed loss over tables of a server's own types, under settings and collations, for which the
// server is the oracle; internal/pgrun compares.
//
// # Invariants
//
// A query is a function of its seed alone. It is well-typed by construction: an error of the binder, of
// differentiation or of a run is a finding. Every draw is counted in Uses under the name of the construct,
// and the test asserts that no construct is rare.
//
// # Errors
//
// A finding is an error with the seed, the statements, the data and the command that replays it.
//
// # Where to add
//
// A type or a setting of a server: a row of typs or typedSettings in typed.go. A construct: a case in gen_from.go,
// gen_select.go, gen_scalar.go or gen_chunk.go that calls use, and its name in Constructs. Kernels join by themselves
// through their Samples. An engine: a function in engines.
package randquery
