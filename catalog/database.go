package catalog

import (
	"context"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlgen"
)

// Database is what an engine works on: the embedded store, or a session on a Postgres server. Names are looked up as
// its statements would; everything happens in its open transaction, where there is one.
type Database interface {
	Names
	Settings
	Rows
	Statements
	Transactions
	Runs
}

// Names says what a name means, on the search path where path is nil.
type Names interface {
	// Relation finds a table or view. A definition is the same pointer as long as it stands.
	Relation(path []string, schema, name string) (*TableDef, *ViewDef)
	// FunctionOn finds a function that the user made, nil where there is none; a name that may mean several is an error.
	FunctionOn(path []string, schema, name string) (*ast.CreateFunction, error)
	// TableOn describes a table for plans: nil for a view, an error where there is nothing of that name.
	TableOn(path []string, schema, name string) (*ra.Table, error)
	Definition(schema, name string) *TableDef
	View(path []string, schema, name string) (*ViewDef, bool)
	Relations() []string
	SearchPath() []string
	// Named, Literal and Text are those of bind.Catalog.
	Named(path []string, t ast.TypeName) (*kernels.Named, error)
	Literal(t *kernels.Named, text string) (string, error)
	Text() *kernels.Named
}

// Settings are the session's parameters.
type Settings interface {
	// Setting is current_setting(name).
	Setting(name string) (string, bool)
	// Variables are the parameters that decide what queries mean; WithSettings puts others in their place until back.
	Variables() map[string]string
	WithSettings(vars map[string]string) (back func())
	// Local reports whether some were set for the open transaction only.
	Local() bool
	// Meaning tells one state of the settings that decide what texts mean from another.
	Meaning() string
}

// Rows reads and writes columns of tables, and tells when they change.
type Rows interface {
	// Read reads columns of a table, ra.RowID as the position that Write takes, in an order that depends on keys only.
	Read(ctx context.Context, t *ra.Table, cols []int) ([]*ra.Vector, error)
	// Write replaces the values of a column in all rows, whose ids and identities those of Read were.
	Write(ctx context.Context, t *ra.Table, col int, rows []int64, keys []*ra.Vector, data *ra.Vector) error
	// Fill fills the temporary table of a gradient; false where another relation has its name.
	Fill(ctx context.Context, name string, r *Relation, key []string) (bool, error)
	// Version changes with a table's content, ExternalVersion whenever other sessions may have changed anything.
	Version(schema, name string) (Version, error)
	ExternalVersion() uint64
	// Watch calls f whenever the content of a table is looked at, and returns what was called before.
	Watch(f func(schema, name string) error) (before func(schema, name string) error)
	// SeesHookReads reports whether Watch is also told what the statements of before_step look at.
	SeesHookReads() bool
	// Refresh forgets what was known of the database and may have changed since: a call of the engine begins.
	Refresh()
}

// Statements runs SQL.
type Statements interface {
	// Query runs a SELECT; Native prints it as part of generated SQL, whose dialect Dialect is.
	Query(ctx context.Context, sel *ast.Select, text *ast.Text) ([]ResultCol, []*ra.Vector, error)
	Native(ctx context.Context, sel *ast.Select, text *ast.Text) (string, error)
	Dialect() sqlgen.Dialect
	// Reach is that of bind.Catalog.
	Reach(ctx context.Context, sql string) (*bind.Reach, error)
	// Exec runs one statement, RunSQL one of our own. RunText runs the user's statement as its text, where ok; else who
	// asks runs its tree.
	Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*Result, error)
	RunSQL(ctx context.Context, sql string) (*Result, error)
	RunText(ctx context.Context, p parse.Parsed, text *ast.Text) (ok bool, err error)
	// Prepare lets the database judge a query text before it is bound.
	Prepare(ctx context.Context, sql string) error
	// Draw sets what current_step() and current_seed() give in the statements that follow.
	Draw(env kernels.Env) error
}

// Transactions are the session's; nothing is nested.
type Transactions interface {
	InTransaction() bool
	Begin() error
	// BeginWrite begins one that writes, behind those of others that do.
	BeginWrite() error
	Commit() (bool, error)
	Rollback() error
}

// Runs records runs of training.
type Runs interface {
	// Shared reports whether other sessions see the database.
	Shared() bool
	// NewRun adds the row of a new run, of columns of relgrad.run but its number, which it chooses and returns.
	NewRun(ctx context.Context, cols []string, values []ast.Expr) (int64, error)
	// RunTable is the table of the schema relgrad that holds runs, which relgrad.run shows.
	RunTable() string
	// OwnRun refuses a run that another user began: what is stored of it would be run with the rights of who calls.
	OwnRun(ctx context.Context, run int64) error
	// LockRun takes the lock of a run, which nobody holds who does not train it, and of the parameters' tables.
	LockRun(run int64, params []*ra.Table) (unlock func(), err error)
}
