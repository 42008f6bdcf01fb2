package catalog

import (
	"context"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlgen"
)

// Database is a database as the engine needs it: the embedded store, or a session on a Postgres server. Names are
// looked up as in its statements, and everything happens in its open transaction, if there is one.
type Database interface {
	Names
	Settings
	Rows
	Statements
	Transactions
	Runs
}

// Names resolves names; a nil path stands for the session's search path.
type Names interface {
	// Relation finds a table or view. The pointer stays the same while the definition does.
	Relation(path []string, schema, name string) (*TableDef, *ViewDef)
	// FunctionOn finds a function of the user, nil where there is none. It is an error if several have the name.
	FunctionOn(path []string, schema, name string) (*ast.CreateFunction, error)
	// TableOn describes a table for plans. It returns nil for a view, and an error for an unknown name.
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
	// Setting is the value of current_setting(name).
	Setting(name string) (string, bool)
	// Variables are the parameters that change what queries mean. WithSettings replaces them until back is called.
	Variables() map[string]string
	WithSettings(vars map[string]string) (back func())
	// Local reports whether some parameters have been set for the open transaction only.
	Local() bool
	// Meaning is different for states of the settings in which texts may mean different things.
	Meaning() string
}

// Rows reads and writes columns of tables, and reports changes.
type Rows interface {
	// Read reads columns of a table. ra.RowID is the position for Write. The order depends on keys only.
	Read(ctx context.Context, t *ra.Table, cols []int) ([]*column.Column, error)
	// Write replaces the values of a column in all rows. rows and keys are the ids and identities that Read has
	// returned.
	Write(ctx context.Context, t *ra.Table, col int, rows []int64, keys []*column.Column, data *column.Column) error
	// Fill fills the temporary table of a gradient. It returns false where another relation has its name.
	Fill(ctx context.Context, name string, r *Relation, key []string) (bool, error)
	// Version changes with a table's content, ExternalVersion whenever other sessions may have changed anything.
	Version(schema, name string) (Version, error)
	ExternalVersion() uint64
	// Watch makes f be called before a table's content is read or written, and returns the function called until now.
	Watch(f func(schema, name string) error) (before func(schema, name string) error)
	// SeesHookReads reports whether Watch also sees what statements of before_step read.
	SeesHookReads() bool
	// Refresh drops knowledge about the database that may be out of date, at the beginning of a call of the engine.
	Refresh()
}

// Statements runs SQL.
type Statements interface {
	// Query runs a SELECT. Native prints it for use in generated SQL, whose dialect is Dialect.
	Query(ctx context.Context, sel *ast.Select, text *ast.Text) ([]ResultCol, []*column.Column, error)
	// ErrEngineRows: the query reads rows that the engine computes.
	Native(ctx context.Context, sel *ast.Select, text *ast.Text) (string, error)
	Dialect() sqlgen.Dialect
	// Reach is that of bind.Catalog.
	Reach(ctx context.Context, sql string) (*bind.Reach, error)
	// Exec runs one statement, RunSQL one of the engine's own. RunText runs a user's statement as text if ok; else the
	// caller runs its tree.
	Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*Result, error)
	RunSQL(ctx context.Context, sql string) (*Result, error)
	RunText(ctx context.Context, p parse.Parsed, text *ast.Text) (ok bool, err error)
	// Prepare lets the database check a query text before it is bound.
	Prepare(ctx context.Context, sql string) error
	// Draw sets the values of current_step(), current_epoch() and current_seed() for the statements that follow.
	Draw(env kernels.Env) error
}

// Transactions controls the session's transaction. There are no nested ones.
type Transactions interface {
	InTransaction() bool
	Begin() error
	// BeginWrite begins a transaction that writes. It waits for others that write.
	BeginWrite() error
	Commit() (bool, error)
	Rollback() error
}

// Runs records training runs.
type Runs interface {
	// Shared reports whether other sessions can see the database.
	Shared() bool
	// NewRun adds the row of a new run, with these columns of relgrad.run, and returns its number, which it chooses.
	NewRun(ctx context.Context, cols []string, values []ast.Expr) (int64, error)
	// RunTable is the table in schema relgrad that holds the runs shown by relgrad.run.
	RunTable() string
	// OwnRun refuses a run begun by another user, since its stored options would run with the caller's rights.
	OwnRun(ctx context.Context, run int64) error
	// LockRun takes the lock of a run (0: of none), which only its trainer holds, and locks of the parameters' tables.
	LockRun(run int64, params []*ra.Table) (unlock func(), err error)
}
