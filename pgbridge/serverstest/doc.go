// Package serverstest tests losses whose tables lie at several PostgreSQL servers.
//
// # What
//
// Each test starts private servers: one that is called, and others that hold parts of tables, joined by postgres_fdw.
// What the loss gives there is compared with what it gives on one server that holds all rows.
//
// # Invariants
//
// After each test no engine and no transaction is left at any server.
//
// # Errors
//
// Without a server's programs the tests are skipped or fail; see internal/need.
//
// # Where to add
//
// A model: an entry of models in models_test.go.
package serverstest
