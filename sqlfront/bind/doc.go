// Package bind turns differentiable SQL into a query of the algebra (ra).
//
// # What
//
// Bind reads a SELECT with a Catalog, which knows names, types and rows. Tables become Scans, FROM one Join, aggregates
// one Aggregate, and expressions kernels over columns. Each construct is one file that registers itself in a table of
// constructs.go. A sub-query that a loss cannot hold and that reads no parameter is run by the database (opaque.go).
// What it reads through functions is found, or it is refused (reach.go, uses.go).
//
// # Invariants
//
// A query means what PostgreSQL makes of it, or it is refused. That includes order, equality and NULLs. The algebra
// identifies columns by ids; names do not leave this package.
//
// # Errors
//
// *sqlerr.Error with position, reason and the nearest supported form. docs/sql.md lists every refusal, from the source.
//
// # Where to add
//
// A construct: one file <construct>.go, registered in a table of constructs.go. CONTRIBUTING.md has the recipe.
package bind
