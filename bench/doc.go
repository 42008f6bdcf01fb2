// Package bench compares relgrad with other systems, and with the least time that the work could take.
//
// # What
//
// `relgrad bench` runs Workloads. Each is a script in bench/workloads, written as a user would write it, on data that
// are generated once (from fixed seeds, as npz files, which relgrad and NumPy read). Programs in bench/peers compute
// the same in PyTorch, NumPy, Dask, mpi4py or ScaLAPACK. `make bench` installs what these need, as far as possible, and
// writes bench/RESULTS.md. One relgrad process loads the data into a store; another opens it, trains, and is measured:
// its peak memory, and the times at which train recorded its steps. The time before the first step is reported as
// setup. Views that are not trained are read repeatedly in one session; the first read is setup.
//
// `relgrad bench growth` (`make growth-bench`) measures Axes: a workload at one size after the other, up to 60 million
// edges, with as many rows, chunks or parameters. Training runs in this process. After each step a yardstick runs: work
// of the same sizes that bounds the step's, done by all processors at full speed. For graphs this is sums of weighted
// rows by the executor's own kernel, at uniformly random places of tables as large as the step's; for dense work,
// products of whole matrices of the same shapes; for streaming, a sum over as much memory as the program holds. A
// step's own work is counted from the program's instructions (executor.Work). The report tells which fraction of the
// limit a step reaches, and how long reading and the structure phase take for a row. It also times the plans of the
// scripts in examples, and writes bench/GROWTH.md.
//
// `relgrad bench memory` (`make memory-bench`) measures Budgets: workloads trained with and without a memory budget. It
// writes bench/MEMORY.md.
//
// `relgrad bench sites` (`make sites-bench`) runs the workloads at several sites of this process, alternately with one
// site, and writes bench/SITES.md: for each exchange the bytes predicted and the bytes moved, the time of a step, and
// the memory of the site that holds most. Before each run the limits of its sites are measured (executor.MeasureSites);
// behind it a step is simulated with them and with the rows that the sites had, and compared with the steps measured.
// Workloads that do not train compute their query and two gradients. Numbers are those for comparing losses, so that a
// run takes seconds.
//
// `relgrad bench gpu` (`make gpu-bench`) trains OnCards on the first graphics processor, in this process, beside peers
// that wait in processes of their own and take turns with relgrad within one training. A turn is some steps; the first
// of relgrad's does not count, since it may hold a commit. The losses of the first steps are compared with the
// processors', and the peers' with relgrad's on smaller data without draws. The report, GPU.md, has for each
// workload the ratios of the rounds, a floor by rates that are measured on the card in the same run (copy.cu copies;
// PyTorch multiplies), the calls of the driver in a step, and the time of each instruction. What a double of the driver
// (internal/cudamock) gives is never written to a file. With --repeat trainings are repeated, and their bits compared;
// `make gpu-bundle` packs all that a machine with a card needs for it.
//
// `relgrad bench delta` measures tensors in tables of Delta Lake: the package tensors below this one.
//
// `make pg-bench` starts a private PostgreSQL server (internal/pgcluster). It measures the extension, generated SQL,
// the transfer of rows to the engine, cancelling, training on Cora, and training from tables beside a copy of them to
// PyTorch and back; it writes bench/POSTGRES.md and prints it. Each
// measure is a pair of statements that run alternately in one session. bench/peers/peers.c holds the peers in C;
// bench/postgres holds the models, and gradients written by hand beside those that relgrad generates.
//
// # Invariants
//
// No test asserts a speed: times are reported with the machine and the versions. Programs that are compared compute the
// same numbers: before it measures, `relgrad bench` compares the losses of 20 steps, from the same parameters and
// without draws, to 1e-4 relatively; TestPostgresPeers does so on a server. Programs run alternately, so that a slow
// moment of the machine affects both sides; a ratio is the median of the ratios of single rounds or pairs. Of several
// setups in growth the shortest counts.
//
// # Errors
//
// A peer that cannot run (no library, no OpenBLAS, no psql, no data) is reported as missing, and bars against it count
// as not measured. A peer that fails or has other losses is an error, and so is a missed bar; the rest is still
// measured.
//
// # Where to add
//
// A workload: a row of Workloads, a generator of its data in generate.go, two scripts and its peers' programs; on a
// graphics processor a row of OnCards besides, whose peers read PEER_DEVICE (common.py in bench/peers). An axis
// of growth: a row of Axes, with a yardstick in limits.go. A memory budget: a row of Budgets. A measure on a server: a
// function in the list of BenchmarkPostgres.
package bench
