// Package delta reads and writes Delta Lake tables.
//
// # What
//
// A table is a folder of Parquet files and a log, whose commits say which of these files a version of the table has
// (https://github.com/delta-io/delta/blob/master/PROTOCOL.md). Open replays the log (log.go) from its newest
// checkpoint (checkpoint.go) and gives a Snapshot, whose rows are read with files and row groups skipped by their
// statistics (rows.go, stats.go). Begin starts a transaction, which writes files (writer.go), removes files
// (delete.go) and commits them (commit.go). Vacuum deletes files that no version needs any more. Tables lie behind
// the interface Files, here in a local folder; the package places opens all by their names. Tensors in such tables
// are in the package layouts.
//
// # Invariants
//
// A commit is one file of the log, which is created complete or not at all and never replaced: of two writers one
// wins, and the other reads what the winner did. Data files are on disk before the commit that names them; a crash
// leaves files that no version names. Columns are matched by name. What a table asks of its readers and writers and
// relgrad does not know is refused (protocol.go). Statistics say nothing of floats among which there is a NaN or an
// infinity. Columns that a file does not have are NULL.
//
// # Errors
//
// *sqlerr.Error that names the table's version, file or feature. No panic crosses the package's border.
//
// # Where to add
//
// A feature of tables: protocol.go. A place where tables lie: the package places. A type of columns:
// interop.Field, and value in partition.go.
package delta
