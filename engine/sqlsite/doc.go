// Package sqlsite computes one site's part of a plan as SQL, in the database beside it.
//
// # What
//
// A Site cuts a physical plan for several sites into statements: one for each relation that leaves the site through an
// exchange, one for each that several of them read, which a temporary table keeps, and the rest, the results of the
// plan. What an exchange brings is a temporary table, too, so that each statement reads only what is at the site. Sites
// send each other rows in turns (device.Turns), of which all of them take the same.
//
// # Invariants
//
// All sites of a plan run the same exchanges in the same order. What no step changes is computed and moved once, in the
// first step. A row of a stored table is read as it was then: where the database does not show all statements the same
// state (Options.Snapshot), tables that several statements read are kept.
//
// # Errors
//
// Those of the database, and the facts about tables on which a plan rests that do not hold any more.
//
// # Where to add
//
// An exchange: leaving (exchange.go) says where its rows go.
package sqlsite
