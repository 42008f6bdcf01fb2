package catalog

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// What only some databases can do. The engine checks whether a Database has these methods, and does without otherwise.

// Pusher is a database with relgrad's functions, which can compute a gradient itself.
type Pusher interface {
	// Captured reports whether operators or functions on the search path could take calls that are meant for Postgres's
	// own.
	Captured() bool
	// Inexact tells why a text that stands for a date or number may not read back as the same value; "": it does.
	Inexact() string
	// FillFrom is Fill with the rows of a query, whose columns are these of the table.
	FillFrom(ctx context.Context, name string, t *ra.Table, cols []int, query string) (bool, error)
	// Planned is a query of the changes that another session has made to a table since it was described; "" where there
	// can be none. HasChanged is the condition that it finds some, or an error; PlannedRows raises that error from a
	// sub-query.
	Planned(t *ra.Table) string
	HasChanged(query string) string
	PlannedRows(query string, cols []ra.Column) string
	// Rows runs a query and returns its columns. Estimate is the cost that the database expects, in its own units.
	Rows(ctx context.Context, query string) (names []string, data []*column.Column, err error)
	Estimate(ctx context.Context, query string) (string, error)
}

// Filler is a Pusher that keeps rows in temporary tables between the steps of a run.
type Filler interface {
	FillTemp(ctx context.Context, name string, cols []*column.Column, create bool) error
	EmptyTemp(ctx context.Context, name string) error
	// FromTemp runs a query that reads such tables, as they are now, and returns its columns.
	FromTemp(ctx context.Context, query string) ([]*column.Column, error)
	// DropTemp is a statement that drops such a table if it is there.
	DropTemp(name string) string
	// OfferRows makes rows readable by one query: from stands for them in its FROM clause.
	OfferRows(ctx context.Context, names []string, cols []*column.Column) (from string, err error)
}

// Appender inserts columns of rows, faster than the text of an INSERT.
type Appender interface {
	// Append adds rows to a table; texts are cast to the types of its columns.
	Append(ctx context.Context, schema, table string, names []string, cols []*column.Column) error
}

// Permitter is a database in which users have limited rights.
type Permitter interface {
	// MayRecord refuses users who may not record a run; MayChange those who may not change columns of a table in all
	// rows that they see.
	MayRecord(ctx context.Context) error
	MayChange(ctx context.Context, t *ra.Table, cols []string) error
}

// Recoverer works again after a panic in the middle of a statement.
type Recoverer interface{ Recovered() error }

// Listener ends cancelled runs itself. It is told how far commits have come: of a run at first the step of its last
// commit, then, before each commit, the step that this one is of.
type Listener interface{ Training(run, step, steps int64) }

// Budgeter has a session's own memory budget in bytes; 0: none.
type Budgeter interface{ MemoryBudget() int64 }

// MostSites is at how many sites of one process a loss may run.
const MostSites = 64

// Sited says at how many sites a session's losses run; 0: it does not.
type Sited interface{ Sites() int }

// Deviced says on which device a session's losses run: cpu, or cuda with a colon and a number; "": it does not.
type Deviced interface{ Device() string }

// AutoDevice has the engine choose the device.
const AutoDevice = "auto"

// GraphicsDevice is the number of the graphics processor that a device's name names; ok is false for others.
func GraphicsDevice(name string) (number int, ok bool) {
	if name == "cuda" {
		return 0, true
	}
	rest, ok := strings.CutPrefix(name, "cuda:")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil && n >= 0 && n < 1000
}

// Cacher caches pages in memory, within a program's budget.
type Cacher interface{ LimitCache(budget int64) error }

// Filed is stored in a file; "": a temporary one.
type Filed interface{ Path() string }

// Snapshotter runs statements that see one state of the database without an explicit transaction.
type Snapshotter interface{ InOne() bool }

// Streamer is a database in which a function in FROM may give relations that need not be in memory as a whole.
type Streamer interface {
	// Stream opens the relation of a call. The context ends all that is read of it.
	Stream(ctx context.Context, call *ast.FuncCall, needs ast.Needs) (Stream, error)
}

// Stream is a relation that is read part by part.
type Stream interface {
	// Columns are its columns with their types, and these as Postgres calls them.
	Columns() (cols []ra.Column, types []string)
	// Parts are the numbers of rows of its parts, each at least 1.
	Parts() []int64
	// Read reads a part. The columns are the caller's. It may be called by another goroutine than the session's.
	Read(ctx context.Context, part int) ([]*column.Column, error)
	// Hash is different for relations of other rows.
	Hash() string
}

// Presenter converts a query's columns to the types of a table.
type Presenter interface {
	PresentQuery(query, table string) (string, error)
}

// Parted is a database in which rows of a table may lie at other servers.
type Parted interface {
	// Parts tells where the parts of a table lie; none: all of it is here.
	Parts(schema, name string) (Parts, error)
	// Through says why a table of which parts are elsewhere is read through its foreign tables, and what to change; "":
	// it is not, or it has none.
	Through(schema, name string) (why, hint string, err error)
	// Distinct estimates how many values a column of integers has, at all of a table's parts together, from its rows.
	Distinct(schema, name, column string, rows int64) (float64, error)
	// Near reports whether a server is on this machine.
	Near(server string) (bool, error)
	// Connect begins a session at a server, unless there is one. It is kept.
	Connect(ctx context.Context, server string) error
	// Send sends a message to the engine beside that session, and returns its reply. Several servers may be sent to at
	// once.
	Send(ctx context.Context, server string, message []byte) (reply []byte, err error)
	// OpenLine begins another session at a server, which is the caller's: one transaction, which shows the tables as they
	// are now. Its temporary tables end with it.
	OpenLine(ctx context.Context, server string) (Line, error)
	// Patience is how long a server may compute until it says that it still does.
	Patience() time.Duration
}

// Line is a session at another server.
type Line interface {
	// Send sends a message to the engine beside the session, and returns its reply.
	Send(ctx context.Context, message []byte) (reply []byte, err error)
	Close() error
}

// Marker notes at the servers where a run's parameters lie how far the run is, in the transaction that writes them
// there. Servers commit one after the other, and one may fail in between.
type Marker interface {
	// Servers lists the servers where parts of a table lie.
	Servers(schema, name string) ([]string, error)
	// Mark notes a run's step.
	Mark(ctx context.Context, servers []string, run, step int64) error
	// Marked reads it; not ok: there is none.
	Marked(ctx context.Context, server string, run int64) (step int64, ok bool, err error)
}

// Parts are those of a table.
type Parts struct {
	List []Part
	// By is the column of integers by whose hash rows are spread; "": by nothing that is known. Parts are then in the
	// order of the remainders of partitions, or of Citus's ranges of the hash.
	By    string
	Citus bool
}

// Part is a table that holds some rows of another one.
type Part struct {
	Server       string // "": this one
	Schema, Name string
}
