// Package eindecomp decomposes graphs of einsum expressions over sites: how each vertex is cut, at least cost.
//
// # What
//
// A Graph has vertices; each reads operands by labels and produces an output, such as Z[i,k] ← Σ X[i,j]·Y[j,k]. A
// partition vector gives each label of a vertex its number of parts. The operands are cut so, blocks that agree in
// their labels are joined, and the results are aggregated over the labels that the output lacks. Decompose finds a
// viable vector for every vertex, so that the floats moved by join, aggregation and repartition are fewest. The method
// and the words are those of EinDecomp (Bourgeois et al., PVLDB 18(7), 2025), §6 to §8.
//
// A term of the cost depends on one vertex or on the two ends of an edge. So min-sum elimination of one vertex after
// the other is exact, on trees and on graphs. Where its tables would pass Limits, Decompose takes the paper's longest
// paths, counts the edges to vertices that are fixed already, and improves the result path by path; Plan.By and
// Plan.Why say so. Tree is the paper's dynamic programme for trees, Linearise its method for graphs, and Enumerate
// tries all plans. A Case is a graph in JSON, which Solve answers by all methods.
//
// # Invariants
//
// Costs are whole numbers and exact: what passes int64 is refused, never rounded. A vector is viable where its parts
// are powers of two that divide the bounds, and their product is p, or the largest product below p that the bounds
// allow. Every plan's cost is computed again from the formulas before it is returned. Of equal plans the same one is
// returned each time: nothing depends on the order of a map.
//
// # Errors
//
// A label that is repeated, unknown or of another bound, a cycle, a p that is no power of two, numbers that do not fit:
// each is refused with the names and values.
//
// # Where to add
//
// A term of the cost is added in cost.go and, where it depends on one vertex or on one edge, holds for all methods. A
// method is a function from a space to a Plan.
package eindecomp
