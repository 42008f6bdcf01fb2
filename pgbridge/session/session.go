package session

import (
	"context"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Session is a session on a server, as the engine sees it: a catalog.Database. One goroutine at a time may use it. Its
// parts implement one interface each, and have only the state that they need.
type Session struct {
	*server
	*settings
	*searchPath
	*types
	*names
	*watch
	*reach
	*statements
	*rows
	*transactions
	*runs
	*rights
	*servers
	*marks
	planned
}

// What a session can do is asked of it at run time: a method of another form would be a capability lost.
var _ interface {
	catalog.Database
	catalog.Pusher
	catalog.Filler
	catalog.Appender
	catalog.Parted
	catalog.Marker
} = (*Session)(nil)

// New makes a session.
func New(c conn.Conn) *Session {
	on := &server{conn: c}
	set := &settings{server: on, asked: map[string]string{}}
	path := &searchPath{server: on, settings: set}
	typed := &types{server: on, settings: set}
	seen := &watch{}
	far := &servers{server: on, lines: map[string]*line{}}
	named := &names{server: on, path: path, types: typed, settings: set, facts: &facts{server: on, servers: far},
		watch: seen, byOID: map[int64]*relation{}, byCode: map[string]*ast.CreateFunction{}}
	far.names = named
	reached := &reach{server: on, path: path}
	s := &Session{server: on, settings: set, searchPath: path, types: typed, names: named, watch: seen, reach: reached,
		statements:   &statements{server: on, settings: set, types: typed, names: named, reach: reached, watch: seen},
		rows:         &rows{server: on, settings: set, names: named, watch: seen, keys: map[string]keyPrint{}},
		transactions: &transactions{server: on, settings: set},
		runs:         &runs{server: on, names: named}, rights: &rights{server: on}, servers: far, marks: &marks{far}}
	on.known = []interface{ drop() }{set, path, typed, named, named.facts, reached, s.statements, far}
	s.forget()
	return s
}

// Open prepares a session from outside. relgrad must be installed. Its schema is added to the end of the search path
// unless it is on it, so that names mean the same as in scripts, which begin with SET search_path = public, relgrad.
// engine is the session's relgrad.engine, "" if it is not set.
func (s *Session) Open(ctx context.Context) (engine string, err error) {
	res, err := s.result(ctx, "SELECT pg_catalog.to_regclass('relgrad.run') IS NOT NULL, "+
		"pg_catalog.current_database()::pg_catalog.text, pg_catalog.current_setting('relgrad.engine', true)")
	if err != nil {
		return "", bare(err)
	}
	if there, _ := res.Rows[0][0].(bool); !there {
		return "", sqlerr.New(sqlerr.UndefinedObject, "relgrad is not installed in the database \"%v\"", res.Rows[0][1]).
			WithHint("CREATE EXTENSION relgrad; where no library can be installed: relgrad pg install.")
	}
	engine, _ = res.Rows[0][2].(string)
	_, err = s.texts("SELECT pg_catalog.set_config('search_path', CASE WHEN path IN ('', '\"\"') THEN 'relgrad' " +
		"ELSE path || ', relgrad' END, false) FROM current_setting('search_path') AS path WHERE NOT 'relgrad' = ANY " +
		"(current_schemas(false))")
	s.forget()
	return engine, bare(err)
}

// Renew begins another request of a backend: all answers are read again, but unchanged definitions keep their pointers.
// Definitions are kept if the server marks its catalogues with the same state as when they were read; "" is no mark.
func (s *Session) Renew(state string) {
	s.err, s.begun, s.env = nil, s.begun+1, kernels.Env{}
	s.takeValues(s.texts("SELECT pg_catalog.set_config('jit', 'off', true), " + valuesOf(meaningful)))
	if state != "" {
		state += "\x01" + s.Meaning()
	}
	if state == "" || s.state != state {
		values := s.values
		s.forget()
		s.values = values
	}
	s.state = state
	s.names.facts.drop()
}

// Refresh begins a call from outside: anything may have changed since the last. For a backend Renew does this.
func (s *Session) Refresh() {
	if _, ok := s.conn.(*conn.Remote); ok {
		s.forget()
	}
}
