// Package kernels is the small typed tensor language in which predicates, projections, ⊗, ⊙ and the
// arguments of ⊕ are written, and the registry of its functions.
//
// # What
//
// An Expr is a tree of kernel calls over columns of an operator's inputs. A Def holds everything about one kernel in
// one file: SQL name, shape rule, reference code in float64, derivative, cost, behaviour at kinks and NULL. The
// derivative is again an Expr, so one definition serves shapes, the reverse walk, SQL, cost and code. A Def with Bind
// takes static SQL arguments (shapes, axes) into Attr; one with Bind alone is a macro (sum_elements, clip, diag,
// zeros), which Apply expands. A rule may use Simplify once it knows which columns hold no NULL.
//
// # Invariants
//
// Shapes are static. Kernels are strict (a NULL argument gives NULL) unless NonStrict. Element-wise
// kernels broadcast as numpy does: dimensions are aligned at the right and must be equal or 1. A chunk
// keeps its dtype against any scalar; real with double precision gives double precision. Float kernels
// follow IEEE 754 and never fail; integer division by zero is an error.
//
// # Errors
//
// Infer returns an *sqlerr.Error without position (the binder adds it) naming both shapes or types. An
// unknown name or a wrong use of a constructor by our own code panics at start, never on user input.
//
// # Where to add
//
// A kernel is one file here that calls Register; see CONTRIBUTING.md. Tests loop over the registry and check
// shapes, NULLs and derivatives of first and second order; docs/kernels.md is generated from it
// (go test ./kernels -run TestMarkdown -update). What other libraries call it is a line of internal/manual/peers.txt.
package kernels
