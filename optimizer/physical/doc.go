// Package physical plans a query for several sites: where the rows of each relation lie, and which of them move.
//
// # What
//
// A site holds its own part of the data: a group of workers, a device, a server. A Plan is a query of ra whose nodes
// are run at each site over the rows of that site (Local), with exchanges between them: Bcast copies all rows to all
// sites, Shuf sends each row to a site that is a function of some columns, Gather brings all rows to one site. The
// words are those of the implementation algebra of TRA (Yuan et al., VLDB 2021, §4). Halo sends rows to the sites whose
// rows of another relation join them (docs/adr/0024-halos.md). A Placement says where rows lie; that of a table is
// given, all others follow from those of the inputs, by the rules of placement.go alone.
//
// Compile makes the plan of TRA's Table 1, which is right and seldom good. Rules are TRA's equivalences R2-1 to R2-7,
// with the preconditions that they need (docs/adr/0022-physical-plans.md lists where the papers' are wrong), and
// LogicalRules names the rules of optimizer/rules that are R1-1 to R1-7. Plan.Moves tells how many floats each exchange
// moves. Search finds the cheapest plan among many placements, by min-sum elimination; Explain shows it.
//
// # Invariants
//
// A plan without its exchanges is a plan of ra, whose results it computes: the relation that Local reads is the one
// that its operator names. Validate refuses a plan in which a relation that is replicated, or partial, is read as if
// it were neither. A result lies at one site. The plan that is given to Compile or to a rule is not changed.
//
// # Errors
//
// A plan that breaks an invariant is an internal error that names the operator and the placements: users never cause
// one. Numbers of floats that pass int64 are refused (54000).
//
// # Where to add
//
// An operator of ra: a case in local (placement.go) and, if it needs its rows together, in compiler.node (compile.go).
// A rule: an entry of all in rules.go, with a case in which it fires and one in which it must not (rules_test.go). A
// way to spread rows: a kind of Function (function.go). A way to run an operator that the search tries: search.modes
// (modes.go).
package physical
