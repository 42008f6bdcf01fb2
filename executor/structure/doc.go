// Package structure finds which rows of relations meet: the part of a plan that depends on keys alone.
//
// # What
//
// A Stage makes a Relation of each node of a plan: its Space (so many rows), the Indexes by which its rows read those
// of its inputs, and the Groups of an aggregate. Joins look keys up as codes (keys.go, lookup.go), groups count codes
// (group.go, crew.go). A join of relations that hold all combinations of their keys is a grid (grid.go), whose rows
// nobody lists until they are asked for. Labelled tells the labels of keys that the query has for an index
// (labelled.go, ra/einsum). The run has a Stage; where a step has rows of its own, it has another on top of that.
//
//	ra.Node ─► Stage.Relation ─► Space, Indexes, Groups
//
// # Invariants
//
// Relations of as many rows share a Space: what tells their rows apart are the indexes, and an index that maps every
// row to itself is none (nil). Equal indexes and equal groups of an Indexer are one. Nothing depends on the number of
// workers. A Stage reads values through Columns only; where arrays lie, Budget says.
//
// # Errors
//
// Everything returned is an *sqlerr.Error or the context's error; 54000 for too many rows. A full disk is a panic with
// its error, which the program's entry points catch.
//
// # Where to add
//
// An operator of ra: a case of Stage.build. What is known of a plan before its rows are: Flow.
package structure
