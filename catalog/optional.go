package catalog

import (
	"context"

	"github.com/relgrad/relgrad/ra"
)

// What only some databases can. The engine asks whether a Database has these methods, and does without where it has
// not.

// Pusher is a database with relgrad's functions, which can compute a gradient itself.
type Pusher interface {
	// Captured reports whether the search path has operators or functions that could take calls of Postgres's own.
	Captured() bool
	// Inexact says why the text of a value that dates or numbers stand in may not read back as that value; "" where it
	// does.
	Inexact() string
	// FillFrom is Fill with the rows of a query, whose columns are the table's.
	FillFrom(ctx context.Context, name string, t *ra.Table, query string) (bool, error)
	// Planned is a query of what another session has changed of a table's content since it was described, "" where
	// nothing can; HasChanged the condition that it finds nothing, or else an error. PlannedRows raises that in a
	// sub-query's rows.
	Planned(t *ra.Table) string
	HasChanged(query string) string
	PlannedRows(query string, cols []ra.Column) string
	// Rows runs a query and gives its columns, Estimate what the database expects it to cost, in its own units.
	Rows(ctx context.Context, query string) (names []string, data []*ra.Vector, err error)
	Estimate(ctx context.Context, query string) (string, error)
}

// Filler is a Pusher that keeps rows in temporary tables between the steps of a run.
type Filler interface {
	FillTemp(ctx context.Context, name string, cols []*ra.Vector, create bool) error
	// OfferRows makes rows readable by one query: from stands for them in its FROM clause.
	OfferRows(ctx context.Context, names []string, cols []*ra.Vector) (from string, err error)
}

// Appender takes rows in columns, faster than as an INSERT's text.
type Appender interface {
	// Append adds rows to a table; texts are cast to the types of its columns.
	Append(ctx context.Context, schema, table string, names []string, cols []*ra.Vector) error
}

// Permitter is a database whose users may not do everything.
type Permitter interface {
	// MayRecord refuses who may not record a run, MayChange who may not change columns of a table, in all of its rows
	// that he sees.
	MayRecord(ctx context.Context) error
	MayChange(ctx context.Context, t *ra.Table, cols []string) error
}

// Recoverer can go on after a panic in the middle of a statement.
type Recoverer interface{ Recovered() error }

// Listener ends a cancelled run by itself, and is told how far its commits are.
type Listener interface{ Training(run, step, steps int64) }

// Budgeter has a session's own bound of the memory, in bytes; 0 for none.
type Budgeter interface{ MemoryBudget() int64 }

// Cacher keeps pages in memory, within a program's budget.
type Cacher interface{ LimitCache(budget int64) error }

// Filed lies in a file; "" for a temporary one.
type Filed interface{ Path() string }

// Snapshotter runs a statement that sees one state of the database, without a transaction that was begun.
type Snapshotter interface{ InOne() bool }

// Presenter gives a query's columns the types of a table.
type Presenter interface {
	PresentQuery(query, table string) (string, error)
}
