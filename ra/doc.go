// Package ra is the functional relational algebra in which relgrad thinks (RA-AD §2): relations are
// functions from keys to values, queries are DAGs of a few operators, columns are integer ids.
//
// # What
//
// Node is an operator with its output schema; Builder makes nodes and keeps their identities; Table,
// Catalog and Source are what the algebra needs to know about stored data; Vector is a column of it.
//
// The operators: Scan τ, Select σ, Join ⋈ (of any number of inputs; ⋈const is a join whose other inputs
// no parameter reaches), Aggregate Σ, Union, SemiJoin, AntiJoin, Add (only in gradients), Gradient (a
// nested gradient before autodiff expands it), Opaque (a sub-query that reads no parameter, run by the
// store), Window (sums over frames of ordered rows) and Recursion (rows level by level, each computed from those of the
// level before, for which the leaf Self stands). Select and Join hold the kernels: every output column is
// an expression over the inputs' columns.
//
// # Invariants
//
// A column id is defined by exactly one node of a query. A node's Key is a set of its columns that
// identifies its rows; an empty Key means at most one row. Select and Join pass the identity of every
// input through (InputKey); a Join whose identity would be wider than MaxKey passes only what tells its rows apart, and
// the rows of its inputs are found again by joining these. Structure — predicates, join conditions, groups, keys, the
// partitions and orders of windows — reads no column that depends on a parameter. A node reached over several edges is
// one node: edges are a multiset.
//
// # Errors
//
// Validate reports a broken invariant as an internal error naming the node; users never cause one.
//
// # Where to add
//
// An operator: Op here, its RJP in rjp, interp, executor, sqlgen; a test lists what is missing.
package ra
