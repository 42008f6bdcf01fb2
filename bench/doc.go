// Package bench measures relgrad against other systems, and against what the work could cost at best.
//
// # What
//
// `relgrad bench` runs Workloads: each is a script in bench/workloads, written as a user would write it, on data that
// are generated once (from fixed seeds, as npz files, which relgrad and NumPy read) and, in bench/peers, programs that
// compute the same in PyTorch, NumPy, Dask, mpi4py or ScaLAPACK. `make bench` installs what these need as far as it can
// be had and writes bench/RESULTS.md. One relgrad process loads the data into a store; another one opens it, trains,
// and is measured: its peak memory, and the times at which train recorded its steps. What comes before the first step
// is reported as setup. Views that are not trained are read again and again in one session; the first time is setup.
//
// `relgrad bench growth` (`make growth-bench`) measures Axes: workloads at one size after the other, up to 60 million
// edges, with as many rows, chunks or parameters. A size trains in this process. After each step a yardstick runs: work
// that bounds the step's, of the same sizes, that all processors do at full speed. For graphs these are sums of
// weighted rows by the executor's own kernel, at uniformly random places of tables as large as the step's; for dense
// work products of whole matrices of the same shapes; for what streams a sum over as much memory as the program holds.
// A step's own work is what the program's instructions count (executor.Work). The report says which fraction of the
// limit a step reaches, and what reading and the structure phase take for a row. It times the plans of the scripts in
// examples too, and writes bench/GROWTH.md.
//
// `relgrad bench memory` (`make memory-bench`) measures Budgets: workloads that train without a budget of memory and
// within one, and writes bench/MEMORY.md.
//
// `make pg-bench` starts a private PostgreSQL server (internal/pgcluster) and measures the extension, generated SQL,
// the way of rows into the engine, cancelling and training on Cora; it writes bench/POSTGRES.md and prints it. Each
// measure is a pair of two statements that are run alternately in one session. bench/peers/peers.c holds the peers in
// C, bench/postgres the models, the gradients that are written by hand and, beside them, those that relgrad generates.
//
// # Invariants
//
// No test asserts a speed: times are reported, with the machine and the versions. What is compared gives the same
// numbers: before it measures, `relgrad bench` compares the losses of 20 steps, from the same parameters and without
// draws, to 1e-4 relatively; TestPostgresPeers does so on a server. Programs run alternately, so that a machine that is
// slow for a while counts on both sides; a ratio is the median of the ratios of single rounds or pairs. Of several
// setups of growth the shortest counts.
//
// # Errors
//
// A peer that is not there (no library, no OpenBLAS, no psql, no data) is reported as missing in its line, and bars
// that name it count as not measured. One that fails, or has other losses, is an error, as is a bar that is missed; the
// rest is measured.
//
// # Where to add
//
// A workload is a row of Workloads, a generator of its data in generate.go, two scripts and its peers' programs. An
// axis of growth is a row of Axes, with a yardstick of limits.go, a budget of memory a row of Budgets. A measure on a
// server is a function in the list of BenchmarkPostgres.
package bench
