// Package migrations installs relgrad's portable tier: its names in SQL and PL/pgSQL, on a Postgres where no library
// can be installed.
//
// # What
//
// The numbered files *.sql make the schema relgrad, in their order: kernels, operators and aggregates on real[], double
// precision[] and numbers; the functions that generated SQL calls; tables of training runs; and gradients that the
// command has compiled. Package pgbridge/extension/portable generates 006_kernels.sql; the others are written by hand.
// Apply runs the files that a database lacks; Read tells which it has.
//
// # Invariants
//
// Apply is one transaction. The files need only the right to create a schema in the database. All functions mean the
// same whatever the caller's search path is. A database has either the tier or the extension.
//
// # Errors
//
// sqlerr values: a server that is too old, an extension or schema relgrad that someone else made, a database of a newer
// version of relgrad; and the server's own errors, with the migration that failed.
//
// # Where to add
//
// A change is a new file with the next number, never an edit of a released one. Functions impl_… are internal to the
// tier and may change with each file.
package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/tern/v2/migrate"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

//go:embed *.sql
var files embed.FS

// versionTable records the number of migrations applied to a database.
const versionTable = "relgrad.schema_version"

// oldest is the first server version with functions whose bodies are bound when they are created.
const oldest = 140000

// Status is the state of relgrad in a database.
type Status struct {
	Server    string // the server's version
	number    int    // the same as a number
	Extension string // "": no extension has been created
	Schema    bool   // there is a schema relgrad
	Portable  bool   // it was made by the portable tier
	Version   int    // number of migrations applied
	Latest    int    // number of migrations in this program
}

// Pending counts the migrations that the database lacks; it is negative for a database of a newer program.
func (s Status) Pending() int { return s.Latest - s.Version }

// Read reads the state of a database. It changes nothing.
func Read(ctx context.Context, conn *pgx.Conn) (Status, error) {
	names, err := migrate.FindMigrations(files)
	if err != nil {
		return Status{}, err
	}
	s := Status{Latest: len(names)}
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int,
		coalesce((SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'relgrad'), ''),
		EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'relgrad'), to_regclass($1) IS NOT NULL`, versionTable).
		Scan(&s.Server, &s.number, &s.Extension, &s.Schema, &s.Portable)
	if err == nil && s.Portable {
		err = conn.QueryRow(ctx, "SELECT version FROM "+versionTable).Scan(&s.Version)
	}
	return s, serverError(err, "reading what the database has of relgrad")
}

// Apply brings the database up to date and returns its state before. conn must be idle; its settings are reset.
func Apply(ctx context.Context, conn *pgx.Conn) (before Status, err error) {
	err = pgx.BeginFunc(ctx, conn, func(pgx.Tx) error {
		if before, err = Read(ctx, conn); err == nil {
			err = before.refuse()
		}
		if err != nil || before.Portable && before.Pending() == 0 {
			return err
		}
		if !before.Portable {
			if _, err := conn.Exec(ctx, "CREATE SCHEMA relgrad"); err != nil {
				return serverError(err, "creating the schema relgrad")
			}
		}
		return run(ctx, conn)
	})
	if err != nil { // a failed transaction keeps the lock by which installations take turns
		_, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock_all()")
	}
	return before, err
}

// refuse returns the reason why the migrations cannot be applied, or nil.
func (s Status) refuse() error {
	switch {
	case s.number < oldest:
		return sqlerr.New(sqlerr.FeatureNotSupported, "the server's version %s is too old for relgrad's portable tier",
			s.Server).WithHint("PostgreSQL 14 is the oldest that it runs on.")
	case s.Extension != "":
		return sqlerr.New(sqlerr.DuplicateObject,
			"this database has the extension relgrad %s, which does all that the portable tier does", s.Extension).
			WithHint("To change to the portable tier, DROP EXTENSION relgrad first.")
	case s.Schema && !s.Portable:
		return sqlerr.New(sqlerr.DuplicateObject, "this database has a schema relgrad that is not the portable tier's").
			WithHint("Rename or drop that schema: relgrad needs the name.")
	case s.Pending() < 0:
		return sqlerr.New(sqlerr.ObjectNotPrereqState, "this database has %d migrations of relgrad, this program knows %d",
			s.Version, s.Latest).WithHint("Use the version of relgrad that installed them, or a newer one.")
	}
	return nil
}

// run applies the migrations inside the open transaction.
func run(ctx context.Context, conn *pgx.Conn) error {
	m, err := migrate.NewMigratorEx(ctx, conn, versionTable, &migrate.MigratorOptions{DisableTx: true})
	if err != nil {
		return serverError(err, "creating the table "+versionTable)
	}
	names, err := migrate.FindMigrations(files)
	if err != nil {
		return err
	}
	for _, name := range names { // not by tern's reader, which expands templates: {{1,2}} is an array here
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		m.AppendMigration(name, string(text), "")
	}
	return serverError(m.Migrate(ctx), "installing the portable tier")
}

// serverError converts an error of the server to relgrad's form and says during what it occurred.
func serverError(err error, doing string) error {
	if err == nil {
		return nil
	}
	var failed migrate.MigrationPgError
	if errors.As(err, &failed) {
		doing += ", migration " + failed.MigrationName
	}
	var p *pgconn.PgError
	if !errors.As(err, &p) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	e := sqlerr.New(p.Code, "%s: %s", doing, p.Message).Wrap(err)
	e.Detail, e.Hint = p.Detail, p.Hint
	return e
}
