package relgrad

import (
	"context"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlgen"
)

// host is the database that an engine works on: the embedded store, or a session on a Postgres server. Names are looked
// up as its statements would; everything happens in its open transaction, where there is one.
type host interface {
	// Relation finds a table or view, on the search path where path is nil. A definition is the same pointer as long as
	// it stands.
	Relation(path []string, schema, name string) (*catalog.TableDef, *catalog.ViewDef)
	// FunctionOn finds a function that the user made, nil where there is none; a name that may mean several is an error.
	FunctionOn(path []string, schema, name string) (*ast.CreateFunction, error)
	// TableOn describes a table for plans: nil for a view, an error where there is nothing of that name.
	TableOn(path []string, schema, name string) (*ra.Table, error)
	Definition(schema, name string) *catalog.TableDef
	View(path []string, schema, name string) (*catalog.ViewDef, bool)
	Relations() []string
	SearchPath() []string
	// Setting is current_setting(name); Variables are the session's parameters that decide what queries mean, Under puts
	// others in their place, Local tells whether some were set for the open transaction only.
	Setting(name string) (string, bool)
	Variables() map[string]string
	Under(vars map[string]string) (back func())
	Local() bool
	// Meaning tells one state of the settings that decide what texts mean from another.
	Meaning() string
	// Named, Literal and Text are those of sqlfront.Catalog.
	Named(path []string, t ast.TypeName) (*kernels.Named, error)
	Literal(t *kernels.Named, text string) (string, error)
	Text() *kernels.Named

	// Read reads columns of a table, ra.RowID as the position that Write takes, in an order that depends on keys only.
	Read(ctx context.Context, t *ra.Table, cols []int) ([]*ra.Vector, error)
	// Write replaces the values of a column in all rows, whose ids and identities those of Read were.
	Write(ctx context.Context, t *ra.Table, col int, rows []int64, keys []*ra.Vector, data *ra.Vector) error
	// Query runs a SELECT, Native prints it as part of generated SQL, whose dialect Dialect is.
	Query(ctx context.Context, sel *ast.Select, text *ast.Text) ([]catalog.ResultCol, []*ra.Vector, error)
	Native(ctx context.Context, sel *ast.Select, text *ast.Text) (string, error)
	Dialect() sqlgen.Dialect
	// Reach is that of sqlfront.Catalog.
	Reach(ctx context.Context, sql string) (*bind.Reach, error)
	// Fill fills the temporary table of a gradient; false where another relation has its name.
	Fill(ctx context.Context, name string, r *catalog.Relation, key []string) (bool, error)
	// Exec runs one statement, RunSQL one of our own. RunText runs the user's statement as its text, where ok; else
	// Engine.RunStatement does.
	Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*catalog.Result, error)
	RunSQL(ctx context.Context, sql string) (*catalog.Result, error)
	RunText(ctx context.Context, p parse.Parsed, text *ast.Text) (ok bool, err error)
	// Prepare lets the database judge a query text before it is bound.
	Prepare(ctx context.Context, sql string) error
	// Draw sets what current_step() and current_seed() give in the statements that follow.
	Draw(env kernels.Env) error

	// Look forgets what was known of the database and may have changed since: a call of the engine begins.
	Look()
	// Version tells whether a table has changed; Foreign whether other sessions may have changed anything.
	Version(schema, name string) (catalog.Version, error)
	Foreign() uint64
	// Watch calls f whenever the content of a table is looked at, and returns what was called before.
	Watch(f func(schema, name string) error) (before func(schema, name string) error)
	// Tells reports whether Watch also sees what the statements of before_step look at.
	Tells() bool

	InTransaction() bool
	Begin() error
	BeginWrite() error
	Commit() (bool, error)
	Rollback() error

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
