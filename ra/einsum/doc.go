// Package einsum knows the sums over joins of a query by their labels, as Einstein's notation writes them:
// Z[i, k] = Σ X[i, j] · Y[j, k].
//
// # What
//
// A label is a direction: of keys, or within chunks. Columns that a join makes equal are one label of keys; a kernel
// that is linear in its arguments says which axes of them and of its value are one label (kernels.Def.Labels). Rows
// are the rows of a node: the relations that are read in them, each with the labels that tell its rows apart. An
// Einsum is a column of a Join or an Aggregate: its operands, the labels of its result, what is the same for all
// rows, the sign, and the aggregate ⊕ (EinDecomp: Bourgeois et al. 2025). Find finds those of a plan, a Finder those
// that are asked for, each once. A Product takes an expression apart into operands, whatever the expression is made
// of: the query's columns, or the executor's vals.
//
// # Invariants
//
// Nothing here looks at data. Labels belong to the rows of one node: a relation that is read twice has two reads,
// whose keys are the same label only where the query says so. No operand has a label twice.
//
// # Errors
//
// There are none: what has no labelled form has no Einsum, and what is not linear is an operand as a whole.
//
// # Where to add
//
// A kernel with a labelled form says so in its definition (kernels.Def.Labels).
package einsum
