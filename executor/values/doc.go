// Package values is the graph of what a program computes, without how.
//
// # What
//
// A Val is a column over a space of rows: stored data, a constant, a call of a kernel for each row, a column read
// through an index, an aggregate over groups, columns one below the other, or a column in another chunking. A Graph
// makes Vals and knows equal ones: the same computation is one Val. While it makes them it rewrites them: what is
// read through an index is computed before it is read where that is less work (graph.go), sums of products over a
// grid become products of matrices (contract.go, contract_form.go), in chunks that are chosen by cost (layout.go,
// layout_axis.go). Their labels of keys are the query's (ra/einsum), which a Graph knows of the rows that it makes Vals
// over. A Column is the memory of a Val, once it has some.
//
//	structure.Relation and kernels.Expr ─► Graph ─► Val (─► forms.Lower ─► instructions)
//
// # Invariants
//
// A Val is never changed but for its memory. A Val over a space of one row may be used in any other space: it is the
// same for all rows. A step's graph extends the run's; what does not change between steps belongs to the run's. A
// kernel that can fail is computed only for rows that ask for it (guarded.go).
//
// # Errors
//
// Everything returned is an *sqlerr.Error; what cannot happen is an internal error.
//
// # Where to add
//
// A rewriting of sums: Graph.Sum (rewrite.go). A rewriting of calls: Graph.Call (graph.go).
package values
