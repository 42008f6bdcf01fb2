// Package chunking decomposes the sums of a plan over sites: what EinDecomp says of a loss and its gradients.
//
// # What
//
// Find follows the results of a plan down to the tables. Each sum with a labelled form (ra/einsum) is a vertex of a
// graph of optimizer/eindecomp; what it reads is an operand: another sum, or a table. The labels of a vertex are those
// of its keys and of the axes of its chunks, and all of them may be cut. What a kernel computes of a whole chunk, such
// as a softmax along an axis, keeps that axis in one piece. A Chunking says the graph, the cheapest plan for p kernel
// calls side by side, and what is left out, with the reason.
//
// # Invariants
//
// Only rows that are full grids are decomposed: every combination of the keys is there. The keys that are stored decide
// that, not a guess: their numbers, and that joined columns hold the same ones. What reads a sum that is left out is
// left out as well, with the reason.
//
// # Errors
//
// Those of optimizer/eindecomp, such as a p that is no power of two, and those of counting keys.
//
// # Where to add
//
// A reason to leave a sum out, or an operator besides Aggregate and Add whose values are a vertex: graph.go.
package chunking
