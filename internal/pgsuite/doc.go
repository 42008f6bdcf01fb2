// Package pgsuite runs PostgreSQL's own regression suite on a server and on the embedded store and compares their
// answers.
//
// # What
//
// The test fetches the suite (postgresql-15's source package), runs its files one after the other, and gives every
// statement that the store accepts to a private server too. Both are in one transaction, each statement behind a
// savepoint: what one of them refuses is undone on the other, so that both hold the same at all times. A file begins
// with the tables of test_setup and is undone when it ends.
//
// TestNeighbours does the same with the statements of testdata/*.sql, which are ours: of each it is written whether
// both answer it alike, both refuse it, or only the store does.
//
// # Invariants
//
// What the store accepts it answers as the server does: the same columns, the same rows as text, floating-point numbers
// to a few units of the last place. No statement ends in an internal error. Nothing of the suite is kept in the
// repository.
//
// # Errors
//
// Every difference is one failure with the file, the line, the statement and both answers. Where the suite cannot be
// fetched, or no server is there, the test is skipped loudly.
//
// # Where to add
//
// A kind of difference: statements in testdata. What cannot be compared, as it is different each time, is in the
// expression volatile; what SQL leaves open, or is no wrong answer, in testdata/undetermined.txt with its reason. A
// file without differences: budgeted.
package pgsuite
