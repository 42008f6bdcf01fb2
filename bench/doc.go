// Package bench measures relgrad against what it could cost at best.
//
// # What
//
// `make pg-bench` starts a private PostgreSQL server (internal/pgcluster) and measures the extension, generated SQL, the
// way of rows into the engine, cancelling and training on Cora; it writes bench/POSTGRES.md and prints it. Each measure
// is a pair of two statements that are run alternately in one session. bench/peers/peers.c holds the peers in C,
// bench/postgres the models, the gradients that are written by hand and, beside them, those that relgrad generates.
//
// # Invariants
//
// No test asserts a speed: times are reported, with the machine and the versions. What is compared gives the same
// numbers, which TestPostgresPeers asserts. A ratio is the median of the ratios of single pairs, so that a machine that is
// slow for a while counts on both sides.
//
// # Errors
//
// A peer that is not there (no OpenBLAS, no psql, no data) is reported as missing in its line.
//
// # Where to add
//
// A measure on a server is a function in the list of BenchmarkPostgres.
package bench
