// Package safetytest tests that nothing a session does with relgrad's extension harms a PostgreSQL server.
//
// # What
//
// Tests with the real engine on private servers: many sessions whose engines, statements and backends end at random
// moments (storm_test.go), limits and transactions (limits_test.go, transactions_test.go), training that is disturbed
// (train_test.go), rights and hostile names (rights_test.go), what is left of a dropped extension and what a dump keeps
// (dump_test.go). What a faulty engine may do is tested in pgbridge/extension, with an engine that follows scripts.
//
// # Invariants
//
// After each test the server's log shows no crash, no leak and no internal error, and no engine process is left.
//
// # Errors
//
// Without a server the tests are skipped or fail; see internal/need.
//
// # Where to add
//
// A case that needs no server of its own: a function in TestSafety's list.
package safetytest
