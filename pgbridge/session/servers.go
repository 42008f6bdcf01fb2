package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/pgbridge/session/citus"
)

// servers are those where parts of tables lie. To each there is one connection, which is kept: with the options of the
// SERVER object, and of the user mapping of the session's role.
type servers struct {
	*server
	names   *names
	parts   map[int64]*partition // by the oid of a table, for the present state of the database
	citus   *bool                // whether the database has Citus; nil: not known
	lines   map[string]*line     // by name
	timeout time.Duration        // of an answer; 0: none
}

// partition is where the parts of a table lie.
type partition struct {
	parts []catalog.Part
	by    string // see catalog.Parts
	citus bool
	here  bool   // it is read through its foreign tables all the same
	cause string // of that, or of no parts being known; "": all of it is here
	hint  string
}

// line is a connection to a server, for one role: another one has other rights there.
type line struct {
	*conn.Remote
	by   string      // what it was made of: role, options, user mapping
	near bool        // the server is on this machine
	lost atomic.Bool // it has not answered in time: whoever has found that closes it
}

// ended reports whether the line is of no use any more.
func (l *line) ended() bool { return l.lost.Load() || l.Closed() }

func (s *servers) drop() { s.parts, s.citus = map[int64]*partition{}, nil }

// partsQuery lists the tables that hold the rows of a table: the server ("" for this one), schema and name; the
// reason for which it is read through the table all the same: the wrapper of another kind of server, row-level security
// here, a column of another name there; its bounds if it is a partition of the table itself, by the
// hash of one column with the type's own operators, and that column.
const partsQuery = `WITH RECURSIVE below(oid) AS (SELECT $1::pg_catalog.oid
 UNION ALL SELECT h.inhrelid FROM below JOIN pg_catalog.pg_inherits h ON h.inhparent OPERATOR(pg_catalog.=) below.oid)
SELECT pg_catalog.coalesce(s.srvname::pg_catalog.text, ''),
 pg_catalog.coalesce((SELECT o.option_value FROM pg_catalog.pg_options_to_table(f.ftoptions) o
   WHERE o.option_name OPERATOR(pg_catalog.=) 'schema_name'), n.nspname::pg_catalog.text),
 pg_catalog.coalesce((SELECT o.option_value FROM pg_catalog.pg_options_to_table(f.ftoptions) o
   WHERE o.option_name OPERATOR(pg_catalog.=) 'table_name'), c.relname::pg_catalog.text),
 CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'f' AND w.fdwname OPERATOR(pg_catalog.<>) 'postgres_fdw'
   THEN w.fdwname::pg_catalog.text
   WHEN EXISTS (SELECT FROM below b JOIN pg_catalog.pg_class x ON x.oid OPERATOR(pg_catalog.=) b.oid
     AND x.relrowsecurity) THEN 'row-level security'
   WHEN EXISTS (SELECT FROM pg_catalog.pg_attribute a, pg_catalog.pg_options_to_table(a.attfdwoptions) o
     WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND o.option_name OPERATOR(pg_catalog.=) 'column_name')
   THEN 'column_name' END,
 CASE WHEN k.attname IS NOT NULL THEN pg_catalog.pg_get_expr(c.relpartbound, c.oid) END, k.attname::pg_catalog.text
FROM below JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) below.oid
 JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
 LEFT JOIN (SELECT i.inhrelid, a.attname FROM pg_catalog.pg_inherits i
   JOIN pg_catalog.pg_partitioned_table p ON p.partrelid OPERATOR(pg_catalog.=) i.inhparent
     AND p.partstrat OPERATOR(pg_catalog.=) 'h' AND p.partnatts OPERATOR(pg_catalog.=) 1
   JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) p.partrelid
     AND a.attnum OPERATOR(pg_catalog.=) p.partattrs[0]
   JOIN pg_catalog.pg_opclass o ON o.oid OPERATOR(pg_catalog.=) p.partclass[0] AND o.opcdefault
   WHERE i.inhparent OPERATOR(pg_catalog.=) $1::pg_catalog.oid) k ON k.inhrelid OPERATOR(pg_catalog.=) c.oid
 LEFT JOIN pg_catalog.pg_foreign_table f ON f.ftrelid OPERATOR(pg_catalog.=) c.oid
 LEFT JOIN pg_catalog.pg_foreign_server s ON s.oid OPERATOR(pg_catalog.=) f.ftserver
 LEFT JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid OPERATOR(pg_catalog.=) s.srvfdw
WHERE c.relkind OPERATOR(pg_catalog.<>) 'p' ORDER BY 1, 2, 3`

// Parts implements catalog.Parted.
func (s *servers) Parts(schema, name string) (catalog.Parts, error) {
	r := s.names.find(nil, schema, name)
	if err := s.failed(); err != nil || r == nil {
		return catalog.Parts{}, err
	}
	p, err := s.of(r)
	if err != nil || p.here {
		return catalog.Parts{}, err
	}
	return catalog.Parts{List: p.parts, By: p.by, Citus: p.citus}, nil
}

// of tells where the parts of a relation lie; none: all of it is here, or is read through it.
func (s *servers) of(r *relation) (*partition, error) {
	if r.table == nil || r.kind != "f" && r.kind != "r" && r.kind != "p" {
		return &partition{}, nil
	}
	if p, ok := s.parts[r.oid]; ok {
		return s.seen(r, p)
	}
	if r.kind != "f" {
		p, err := s.shards(r)
		if err != nil {
			return nil, err
		}
		s.parts[r.oid] = p
		return s.seen(r, p)
	}
	rows, err := s.texts(strings.NewReplacer("$1", strconv.FormatInt(r.oid, 10), "pg_catalog.coalesce", "coalesce").
		Replace(partsQuery))
	if err != nil {
		return nil, bare(err)
	}
	out := &partition{}
	far := func(row []string) bool { return row[0] != "" }
	if i := slices.IndexFunc(rows, func(row []string) bool { return row[3] != "" }); i >= 0 {
		if slices.ContainsFunc(rows, far) {
			out.cause, out.hint = through(rows[i][3])
		}
		s.parts[r.oid] = out
		return out, nil
	}
	byRemainder, hashed := make([]catalog.Part, len(rows)), true
	for _, row := range rows {
		part := catalog.Part{Server: row[0], Schema: row[1], Name: row[2]}
		out.parts, out.by = append(out.parts, part), row[5]
		modulus, remainder := 0, 0
		_, err := fmt.Sscanf(row[4], "FOR VALUES WITH (modulus %d, remainder %d)", &modulus, &remainder)
		if hashed = hashed && err == nil && modulus == len(rows) && remainder < modulus; hashed {
			byRemainder[remainder] = part
		}
	}
	if hashed {
		out.parts = byRemainder
	} else {
		out.by = ""
	}
	s.parts[r.oid] = out
	return s.seen(r, out)
}

// hasCitus reports whether the database has Citus.
func (s *servers) hasCitus() (bool, error) {
	if s.citus == nil {
		rows, err := s.texts(citus.Installed)
		if err != nil {
			return false, bare(err)
		}
		there := len(rows) > 0
		s.citus = &there
	}
	return *s.citus, nil
}

// shards are the parts of a table of Citus; of another one there are none.
func (s *servers) shards(r *relation) (*partition, error) {
	if there, err := s.hasCitus(); err != nil || !there {
		return &partition{}, err
	}
	method, err := s.texts(strings.ReplaceAll(citus.Method, "$1", strconv.FormatInt(r.oid, 10)))
	if err != nil || len(method) == 0 {
		return &partition{}, bare(err)
	}
	rows, err := s.texts(strings.ReplaceAll(citus.Shards, "$1", strconv.FormatInt(r.oid, 10)))
	if err != nil {
		return nil, bare(err)
	}
	p := citus.Parts(rows)
	out := &partition{parts: p.List, by: p.By, citus: true}
	if p.List == nil && method[0][0] != "n" {
		out.cause = "it has row-level security, or is not distributed by hash with one placement of each shard"
		out.hint = "Policies of the shards hold at their nodes; create_distributed_table makes shards with one placement."
	}
	return out, nil
}

// through says why a table is read through its foreign tables, by a reason of partsQuery.
func through(reason string) (why, hint string) {
	switch reason {
	case "row-level security":
		return "it has row-level security here", "Policies of the tables at the servers hold there."
	case "column_name":
		return "a column has another name at the server (column_name)",
			"Give the columns there the names that they have here."
	}
	return "", "" // tables of another wrapper are at no server of ours
}

// Through implements catalog.Parted.
func (s *servers) Through(schema, name string) (why, hint string, err error) {
	r := s.names.find(nil, schema, name)
	if err := s.failed(); err != nil || r == nil {
		return "", "", err
	}
	p, err := s.of(r)
	if err != nil {
		return "", "", err
	}
	return p.cause, p.hint, nil
}

// changedQuery lists the servers of which this transaction has changed a foreign table: until its end it holds the lock
// of a statement that writes.
const changedQuery = `SELECT DISTINCT s.srvname FROM pg_catalog.pg_locks l
 JOIN pg_catalog.pg_foreign_table f ON f.ftrelid OPERATOR(pg_catalog.=) l.relation
 JOIN pg_catalog.pg_foreign_server s ON s.oid OPERATOR(pg_catalog.=) f.ftserver
WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.granted
 AND l.locktype OPERATOR(pg_catalog.=) 'relation'
 AND l.mode OPERATOR(pg_catalog.=) ANY (ARRAY['RowExclusiveLock', 'AccessExclusiveLock'])`

// changedByCitus finds a lock by which this transaction changes a table of Citus, whose oid follows.
const changedByCitus = `SELECT 1 FROM pg_catalog.pg_locks l
WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.granted
 AND l.locktype OPERATOR(pg_catalog.=) 'relation'
 AND l.mode OPERATOR(pg_catalog.=) ANY (ARRAY['RowExclusiveLock', 'AccessExclusiveLock'])
 AND l.relation OPERATOR(pg_catalog.=) `

// seen is a partition as this transaction sees it. What the transaction has changed at a server only its own connection
// sees, which is postgres_fdw's: then the table is read through its foreign tables.
func (s *servers) seen(r *relation, p *partition) (*partition, error) {
	if !slices.ContainsFunc(p.parts, func(p catalog.Part) bool { return p.Server != "" }) {
		return p, nil
	}
	query := changedQuery
	if p.citus {
		query = changedByCitus + strconv.FormatInt(r.oid, 10)
	}
	rows, err := s.texts(query)
	if err != nil {
		return nil, bare(err)
	}
	if p.citus && len(rows) > 0 {
		return &partition{p.parts, p.by, true, true, "this transaction has changed its rows", "Commit before."}, nil
	}
	for _, row := range rows {
		if slices.ContainsFunc(p.parts, func(p catalog.Part) bool { return p.Server == row[0] }) {
			return &partition{p.parts, p.by, false, true, "this transaction has changed rows at server \"" + row[0] + "\"",
				"Commit before."}, nil
		}
	}
	return p, nil
}

// lineQuery reads how to connect to a server: the options of it and of the user mapping, as pairs; whether the role may
// use it; whether it is a superuser; its name; relgrad.server_timeout.
const lineQuery = `SELECT (SELECT pg_catalog.string_agg(pg_catalog.concat(o.option_name, E'\x01', o.option_value),
     E'\x02') FROM pg_catalog.pg_options_to_table(s.srvoptions) o),
 (SELECT pg_catalog.concat('m', (SELECT pg_catalog.string_agg(pg_catalog.concat(o.option_name, E'\x01',
     o.option_value), E'\x02') FROM pg_catalog.pg_options_to_table(m.umoptions) o))
   FROM pg_catalog.pg_user_mappings m WHERE m.srvid OPERATOR(pg_catalog.=) s.oid AND m.umuser OPERATOR(pg_catalog.=)
     ANY (ARRAY[0::pg_catalog.oid, (SELECT r.oid FROM pg_catalog.pg_roles r
     WHERE r.rolname OPERATOR(pg_catalog.=) current_user)]) ORDER BY m.umuser DESC LIMIT 1),
 pg_catalog.has_server_privilege(s.oid, 'USAGE'),
 (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) current_user),
 current_user::pg_catalog.text, (SELECT t.setting FROM pg_catalog.pg_settings t
   WHERE t.name OPERATOR(pg_catalog.=) 'relgrad.server_timeout')
FROM pg_catalog.pg_foreign_server s WHERE s.srvname OPERATOR(pg_catalog.=) `

// notLibpq are options of postgres_fdw that are none of a connection.
var notLibpq = map[string]bool{"use_remote_estimate": true, "fdw_startup_cost": true, "fdw_tuple_cost": true,
	"extensions": true, "fetch_size": true, "batch_size": true, "async_capable": true, "updatable": true,
	"truncatable": true, "keep_connections": true, "parallel_commit": true, "parallel_abort": true,
	"password_required": true, "analyze_sampling": true, "client_encoding": true}

// how reads how to connect to a server: the row of lineQuery.
func (s *servers) how(name string) ([]string, error) {
	if strings.HasPrefix(name, citus.Node) {
		return s.howNode()
	}
	rows, err := s.texts(lineQuery + sqltext.Text(name))
	if err != nil {
		return nil, bare(err)
	}
	switch {
	case len(rows) == 0:
		return nil, sqlerr.New(sqlerr.UndefinedObject, "server \"%s\" does not exist", name)
	case rows[0][2] != "true":
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for foreign server %s", name)
	case rows[0][1] == "":
		return nil, sqlerr.New(sqlerr.UndefinedObject, "user mapping not found for server \"%s\"", name).
			WithHint("CREATE USER MAPPING FOR CURRENT_USER SERVER %s OPTIONS (user '…', password '…').",
				sqltext.Ident(name))
	}
	s.waits(rows[0][5])
	return rows[0], nil
}

// howNode is how for a node of Citus: the row of citus.Options, and relgrad.server_timeout.
func (s *servers) howNode() ([]string, error) {
	rows, err := s.texts(citus.Options)
	if err != nil {
		return nil, bare(err)
	}
	s.waits(rows[0][3])
	return append(rows[0], "", ""), nil
}

// waits takes relgrad.server_timeout, "" if it is not set.
func (s *servers) waits(setting string) {
	if s.timeout = usualTimeout; setting != "" {
		ms, _ := strconv.ParseInt(setting, 10, 64)
		s.timeout = time.Duration(ms) * time.Millisecond
	}
}

// line is the connection to a server that is kept.
func (s *servers) line(ctx context.Context, name string) (*line, error) {
	how, err := s.how(name)
	if err != nil {
		return nil, err
	}
	by := strings.Join(how[:5], "\x03")
	if l := s.lines[name]; l != nil && !l.ended() && l.by == by {
		return l, nil
	} else if l != nil && !l.lost.Load() {
		l.Close() // what is wrong with it is of no use any more
	}
	l, err := s.connect(ctx, name, how)
	if err == nil {
		l.by, s.lines[name] = by, l
	}
	return l, err
}

// connect makes a connection to a server.
func (s *servers) connect(ctx context.Context, name string, how []string) (*line, error) {
	if strings.HasPrefix(name, citus.Node) { // by the role of this session, as Citus connects
		return s.dialed(ctx, name, citus.Connection(name, how), true)
	}
	options := map[string]string{}
	for _, pair := range append(split(how[0], "\x02"), split(strings.TrimPrefix(how[1], "m"), "\x02")...) {
		key, value, _ := strings.Cut(pair, "\x01")
		options[key] = value
	}
	return s.dialed(ctx, name, options, how[3] == "true" || options["password_required"] == "false")
}

func (s *servers) dialed(ctx context.Context, name string, options map[string]string, free bool) (*line, error) {
	inner, cancel := s.within(ctx)
	defer cancel()
	l, err := dial(inner, options, free)
	if err != nil {
		return nil, s.at(name, inner, err)
	}
	return l, nil
}

// dial connects to a server. Who is not free to connect as he likes must be asked for a password there: the process of
// this one may be known there by the system's user that it runs as.
func dial(ctx context.Context, options map[string]string, free bool) (*line, error) {
	if !free && options["password"] == "" {
		return nil, sqlerr.New("2F003", "password is required").
			WithDetail("Non-superusers must provide a password in the user mapping.")
	}
	var dsn []string
	for key, value := range options {
		if !notLibpq[key] {
			dsn = append(dsn, key+"='"+strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value)+"'")
		}
	}
	config, err := conn.ParseDSN(strings.Join(append(dsn, "application_name='relgrad'"), " "))
	if err != nil {
		return nil, err
	}
	asked := false
	build := config.BuildFrontend
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		peek := bufio.NewReader(r)
		return build(&firstAnswer{Reader: peek, peek: peek, asked: &asked}, w)
	}
	remote, err := conn.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	if !free && !asked {
		return nil, errors.Join(sqlerr.New("2F003", "password is required").
			WithDetail("Non-superuser cannot connect if the server does not request a password.").
			WithHint("Target server's authentication method must be changed or password_required=false set in the user "+
				"mapping."), remote.Close())
	}
	// a server that computes for a session that has gone finds that out (from PostgreSQL 14 on)
	_, err = textsOf(ctx, remote, "SELECT pg_catalog.set_config('client_connection_check_interval', '5s', false)")
	if err != nil && sqlerr.Code(err) != sqlerr.UndefinedObject && sqlerr.Code(err) != sqlerr.InvalidParameter {
		return nil, errors.Join(err, remote.Close())
	}
	near := net.ParseIP(config.Host).IsLoopback() || config.Host == "localhost" || strings.HasPrefix(config.Host, "/")
	return &line{Remote: remote, near: near}, nil
}

// firstAnswer notes whether a server's first message asks for a password
// (https://www.postgresql.org/docs/current/protocol-message-formats.html).
type firstAnswer struct {
	io.Reader
	peek  *bufio.Reader
	asked *bool
	seen  bool
}

func (f *firstAnswer) Read(b []byte) (int, error) {
	if !f.seen {
		f.seen = true
		if head, err := f.peek.Peek(9); err == nil && head[0] == 'R' {
			*f.asked = head[8] == 3 || head[8] == 5 || head[8] == 10 // clear text, MD5, SASL
		}
	}
	return f.Reader.Read(b)
}

// within bounds how long a server may take.
func (s *servers) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, s.timeout, errLate)
}

var errLate = errors.New("it does not answer")

// at tells at which server an error has happened, of a call in a context.
func (s *servers) at(name string, ctx context.Context, err error) error {
	var e *sqlerr.Error
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errLate):
		return sqlerr.New("08006", "server \"%s\" does not answer for %v", name, s.timeout).Wrap(errLate).
			WithHint("relgrad.server_timeout is how long it may take.")
	case cause != nil:
		return cause
	case errors.As(err, &e):
		out := *e
		out.Message = "server \"" + name + "\": " + e.Message
		out.Text, out.Pos = nil, -1
		return &out
	}
	return sqlerr.New("08006", "server \"%s\": the connection is lost: %v", name, err).Wrap(err)
}

// usualTimeout is relgrad.server_timeout where that is not set.
const usualTimeout = time.Minute

// Patience implements catalog.Parted.
func (s *servers) Patience() time.Duration {
	const most = 5 * time.Second
	if s.timeout == 0 {
		return most
	}
	return min(s.timeout/4, most)
}

// Near implements catalog.Parted: by a socket of this machine, or its own address.
func (s *servers) Near(name string) (bool, error) {
	l, err := s.line(context.Background(), name)
	if err != nil {
		return false, err
	}
	return l.near, nil
}

// Connect implements catalog.Parted.
func (s *servers) Connect(ctx context.Context, name string) error {
	_, err := s.line(ctx, name)
	return err
}

// Send implements catalog.Parted.
func (s *servers) Send(ctx context.Context, name string, message []byte) ([]byte, error) {
	l := s.lines[name]
	if l == nil || l.ended() {
		return nil, sqlerr.New("08003", "server \"%s\": the connection is lost", name).
			WithHint("Run the statement again: it connects anew.")
	}
	inner, cancel := s.within(ctx)
	defer cancel()
	return s.sent(inner, name, l, message)
}

// sent is the reply to a message.
func (s *servers) sent(ctx context.Context, name string, l *line, message []byte) ([]byte, error) {
	reply, err := l.Call(ctx, "SELECT relgrad.gen_member($1)", message)
	switch sqlerr.Code(err) {
	case sqlerr.UndefinedFunction, "3F000":
		err = sqlerr.New(sqlerr.UndefinedObject, "relgrad is not installed there, or another version of it").Wrap(err).
			WithHint("CREATE EXTENSION relgrad in the database that the server's options name.")
	}
	if err != nil {
		return nil, s.at(name, ctx, err)
	}
	return reply, nil
}

// ask runs a query of our own, which only reads, on a server; "": on this one. If its session has ended since it was
// last asked, another one is begun.
func (s *servers) ask(name, sql string) ([][]string, error) {
	if name == "" {
		return s.texts(sql)
	}
	for again := false; ; again = true {
		l, err := s.line(context.Background(), name)
		if err != nil {
			return nil, err
		}
		ctx, cancel := s.within(context.Background())
		rows, err := textsOf(ctx, l, sql)
		if err == nil || again || !l.Closed() || ctx.Err() != nil {
			if err != nil {
				err = s.at(name, ctx, bare(err))
			}
			cancel()
			return rows, err
		}
		cancel()
	}
}

// HangUp ends the connections to other servers.
func (s *servers) HangUp() (err error) {
	for name, l := range s.lines {
		if !l.lost.Load() {
			err = errors.Join(err, l.Close())
		}
		delete(s.lines, name)
	}
	return err
}
