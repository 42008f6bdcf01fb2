// Package bind turns differentiable SQL into a query of the algebra (ra).
//
// # What
//
// Bind reads a SELECT under a Catalog, which knows names, types and rows: tables become Scans, FROM one Join,
// aggregates one Aggregate, and every expression kernels over columns. Each construct is one file that enters itself
// into a table of constructs.go. What a loss cannot hold and reads no parameter is left to the database whole
// (opaque.go); what such a sub-query reads behind functions is found or refused (reach.go, uses.go).
//
// # Invariants
//
// A query means what PostgreSQL makes of it, or is refused: order, equality and NULLs too. Columns are ids; names end
// here.
//
// # Errors
//
// *sqlerr.Error with position, reason and the nearest supported form. docs/sql.md lists every refusal, from the source.
//
// # Where to add
//
// A construct: one file <construct>.go, entered in a table of constructs.go. CONTRIBUTING.md has the recipe.
package bind
