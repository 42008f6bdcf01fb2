package conn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// ErrConnect is in the chain of errors that mean that no connection was made.
var ErrConnect = errors.New("no connection")

// DSN turns an address into one that pgx reads: the name of a database becomes dbname=….
func DSN(dsn string) string {
	if dsn != "" && !strings.Contains(dsn, "=") && !strings.Contains(dsn, "://") {
		return "dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(dsn) + "'"
	}
	return dsn
}

// ParseDSN parses the address of a server: a URL or a list of key=value as for pgx and libpq, or the name of a
// database. The rest comes from the environment (PGHOST, PGUSER, …), ~/.pgpass and pg_service.conf. Connections have
// jit = off unless the address, or PGOPTIONS, says otherwise.
func ParseDSN(dsn string) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig(DSN(dsn))
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidParameter, "%s", oneLine(err)).Wrap(err).
			WithHint("Write postgres://user@host:5432/database, or host=… port=… user=… dbname=….")
	}
	if config.Database == "" {
		config.Database = config.User
	}
	config.RuntimeParams["client_encoding"] = "UTF8"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "relgrad"
	}
	if config.RuntimeParams["jit"] == "" && !strings.Contains(config.RuntimeParams["options"], "jit=") {
		config.AfterConnect = noJIT
	}
	return config, nil
}

// noJIT keeps the server from compiling queries: it would spend seconds on those that read its catalogues, and the
// others spend their time in kernels. It is no parameter of the connection's start, which poolers refuse.
func noJIT(ctx context.Context, pg *pgconn.PgConn) error {
	return pg.Exec(ctx, "SET jit = off").Close()
}

// Connect connects to a server. Its errors have 08001 or the server's own code, and ErrConnect in the chain.
func Connect(ctx context.Context, config *pgconn.Config) (*pgconn.PgConn, error) {
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, refused(err, config)
	}
	return conn, nil
}

// refused makes the error that says why no connection was made.
func refused(err error, config *pgconn.Config) error {
	err = fmt.Errorf("%w: %w", ErrConnect, err)
	var pe *pgconn.PgError
	where := Where(config)
	if errors.As(err, &pe) {
		e := sqlerr.New(pe.Code, "connection to server %s failed: %s:  %s", where, pe.Severity, pe.Message).Wrap(err)
		e.Detail, e.Hint = pe.Detail, pe.Hint
		if e.Code == "28P01" && e.Hint == "" {
			e.Hint = "Passwords are taken from the DSN, PGPASSWORD and ~/.pgpass."
		}
		return e
	}
	var cause error = err
	var op *net.OpError
	if errors.As(err, &op) {
		cause = op.Err
	}
	return sqlerr.New("08001", "connection to server %s failed: %s", where, oneLine(cause)).Wrap(err).
		WithHint("Is the server running there and accepting connections?")
}

// Where names the server as libpq does.
func Where(config *pgconn.Config) string {
	if network, address := pgconn.NetworkAddress(config.Host, config.Port); network == "unix" {
		return fmt.Sprintf("on socket \"%s\"", address)
	}
	return fmt.Sprintf("at \"%s\", port %d", config.Host, config.Port)
}

// oneLine is an error's text in one line; pgconn lists attempts in several.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
