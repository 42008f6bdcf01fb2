// Package pgsession runs scripts on a PostgreSQL server: it is a psql.Server.
//
// # What
//
// Open connects as psql does. Run sends a text by the simple protocol, so that the server parses all of it, and passes
// on what comes: results in the server's text form, messages as psql shows them (message.go), the data of COPY
// (copy.go). Describe answers \d and similar commands from the catalogues (describe*.go). Objects lists names for
// completion.
//
// # Invariants
//
// A text reaches the server unread and unchanged, except that Folders (folders.go) puts the names of temporary tables
// in the place of delta_table() and delta_tensor(). The values of a result are strings or nil. One goroutine at a time
// uses the connection; only a cancelled context acts beside it, by a cancel request on a connection of its own.
//
// # Errors
//
// *sqlerr.Error with the server's SQLSTATE; Shown is what psql prints of it. A connection that ends has 08006.
//
// # Where to add
//
// A command of \d's family is a row of commands in describe.go, and one of describeCommands in script/psql.
package pgsession

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/pgbridge/conn"
)

// connectionFailure is the SQLSTATE of a lost connection.
const connectionFailure = "08006"

// Session is a connection to a server.
type Session struct {
	config *pgconn.Config
	conn   *pgconn.PgConn
}

// Open connects; conn.ParseDSN says what a DSN is.
func Open(ctx context.Context, dsn string) (*Session, error) {
	config, err := conn.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	s := &Session{config: config}
	return s, s.Reconnect(ctx)
}

// Reconnect implements psql.Server.
func (s *Session) Reconnect(ctx context.Context) error {
	pg, err := conn.Connect(ctx, s.config)
	if err != nil {
		return err
	}
	s.conn = pg
	return nil
}

// Close ends the connection.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.conn.Close(ctx)
}

// InTransaction implements script.Session.
func (s *Session) InTransaction() bool { return s.conn.TxStatus() != 'I' }

// Failed implements script.Session.
func (s *Session) Failed() bool { return s.conn.TxStatus() == 'E' }

// Lost implements psql.Server.
func (s *Session) Lost() bool { return s.conn.IsClosed() }

// Variables implements psql.Server.
func (s *Session) Variables() map[string]string {
	version := s.conn.ParameterStatus("server_version")
	return map[string]string{"DBNAME": s.config.Database, "USER": s.config.User, "HOST": s.config.Host,
		"PORT": strconv.Itoa(int(s.config.Port)), "SERVER_VERSION_NAME": version,
		"SERVER_VERSION_NUM": strconv.Itoa(versionNumber(version)),
		"ENCODING":           "UTF8"}
}

// versionNumber is a version in the form of server_version_num: "15.18 (Debian …)" is 150018. Development versions have
// no minor number.
func versionNumber(version string) int {
	number, _, _ := strings.Cut(version, " ")
	major, minor, _ := strings.Cut(number, ".")
	end := strings.IndexFunc(major, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		major = major[:end]
	}
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return a*10000 + b
}

// Name says to which database the session is connected.
func (s *Session) Name() string {
	return fmt.Sprintf("the database \"%s\" as user \"%s\", %s", s.config.Database, s.config.User,
		conn.Where(s.config))
}

// cancelOn has a cancelled context cancel what the server runs, until stop is called. stop waits for a request that is
// on its way, because it would otherwise cancel the next statement.
func (s *Session) cancelOn(ctx context.Context) (stop func()) {
	sent := make(chan struct{})
	conn := s.conn
	end := context.AfterFunc(ctx, func() {
		defer close(sent)
		patience, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = conn.CancelRequest(patience) // if it cannot be sent, the statement goes on to its end
	})
	return func() {
		if !end() {
			<-sent
		}
	}
}
