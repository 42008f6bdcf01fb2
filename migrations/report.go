package migrations

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Connect opens a connection for Read, Apply and the lists; dsn is a URL or a list of settings, as libpq takes them.
func Connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, sqlerr.New("08001", "could not connect to the server").WithDetail("%v", err).Wrap(err)
	}
	return conn, nil
}

// Gradient is a compiled gradient.
type Gradient struct {
	Loss  string // schema.name of a view, or a query
	Param string // table or table.column
	Owner string
	At    time.Time
	Stale string // what has changed since it was compiled; "": nothing
}

// Gradients lists the user's compiled gradients, by loss, parameter and owner. It omits those of other users even where
// the user sees all rows, since finding out whether they are stale runs their queries.
func Gradients(ctx context.Context, conn *pgx.Conn) ([]Gradient, error) {
	rows, err := conn.Query(ctx, `SELECT loss, param::text || CASE WHEN "column" = '' THEN '' ELSE '.' || `+
		`quote_ident("column") END, owner::text, at,
		coalesce(relgrad.impl_changed(definitions, path), '') FROM relgrad.compiled
		WHERE owner IN (current_user, (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = `+
		`'relgrad.compiled'::regclass)) ORDER BY 1, 2, 3`)
	if err != nil {
		return nil, serverError(err, "listing the compiled gradients")
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Gradient])
	return list, serverError(err, "listing the compiled gradients")
}

// Run is a training run of the user.
type Run struct {
	Run    int64
	Status string
	Step   int64
	Loss   string
}

// Runs lists the user's training runs, from the tables of the extension or of the portable tier.
func Runs(ctx context.Context, conn *pgx.Conn) ([]Run, error) {
	rows, err := conn.Query(ctx, "SELECT run, status, step, loss FROM relgrad.run ORDER BY run")
	if err != nil {
		return nil, serverError(err, "listing the training runs")
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Run])
	return list, serverError(err, "listing the training runs")
}
