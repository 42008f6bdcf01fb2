package serverstest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// servers are one that is called, and others of which it has SERVER objects s1, s2, …
type servers struct {
	t      *testing.T
	called *session
	others []*session
	apart  int // tables of a random query that lie at several servers
}

// session is a session of a superuser on a private server.
type session struct {
	t  *testing.T
	pg *pgconn.PgConn
	c  *pgcluster.Cluster
}

func connect(t *testing.T, c *pgcluster.Cluster) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	pg, err := pgconn.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.Close(context.Background()) })
	return &session{t, pg, c}
}

// TestServers: what a loss gives over tables that lie at several servers.
func TestServers(t *testing.T) {
	s := start(t, 3)
	for _, x := range []struct {
		name string
		run  func(s *servers, t *testing.T)
	}{{"places", (*servers).places}, {"distribute", (*servers).distributed}, {"models", (*servers).models},
		{"texts", (*servers).texts}, {"bytes", (*servers).bytes}, {"transactions", (*servers).transactions},
		{"strict", (*servers).strict}, {"torn", (*servers).torn},
		{"scripts", (*servers).scripts}, {"random", (*servers).randomQueries},
		{"limits", (*servers).limits}, {"failures", (*servers).failures},
		{"kills", (*servers).kills}} { // the last: it ends all sessions
		t.Run(x.name, func(t *testing.T) { x.run(s.of(t), t) })
	}
}

// apart makes the sessions of a server plan as if its others were machines of their own, on which computing costs much:
// all take part.
const apart = `ALTER DATABASE postgres SET relgrad.server_limits = '{"operations": "10Mflop", "reads": "10MB"}'; ` +
	`SET relgrad.server_limits = '{"operations": "10Mflop", "reads": "10MB"}'`

// of are the servers for a test, without tables.
func (s *servers) of(t *testing.T) *servers {
	t.Helper()
	own := func(x *session) *session {
		x = &session{t, x.pg, x.c}
		x.must("RESET ALL; SET search_path = public, relgrad; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
		return x
	}
	out := &servers{t: t, called: own(s.called)}
	out.called.must(apart)
	for _, o := range s.others {
		out.others = append(out.others, own(o))
	}
	return out
}

// run runs statements and returns the last one's rows, the values joined by |.
func (s *session) run(sql string) (out []string, err error) {
	results, err := s.pg.Exec(context.Background(), sql).ReadAll()
	for _, r := range results {
		out = nil
		for _, row := range r.Rows {
			var values []string
			for _, v := range row {
				values = append(values, string(v))
			}
			out = append(out, strings.Join(values, "|"))
		}
	}
	return out, err
}

func (s *session) must(format string, args ...any) []string {
	s.t.Helper()
	out, err := s.run(fmt.Sprintf(format, args...))
	if err != nil {
		s.t.Fatalf("%v\n%s", err, fmt.Sprintf(format, args...))
	}
	return out
}

// start starts a server that is called and n others.
func start(t *testing.T, n int) *servers {
	t.Helper()
	out := &servers{t: t}
	for i := range n + 1 {
		s := connect(t, pgcluster.Start(t))
		s.must("CREATE EXTENSION relgrad; SET search_path = public, relgrad")
		if i == 0 {
			out.called = s
			s.must("CREATE SCHEMA fdw; CREATE EXTENSION postgres_fdw SCHEMA fdw")
			continue
		}
		out.others = append(out.others, s)
		var options []string
		for _, o := range strings.Fields(s.c.DSN) {
			if name, value, _ := strings.Cut(o, "="); name != "user" {
				options = append(options, fmt.Sprintf("%s '%s'", name, value))
			}
		}
		out.called.must("CREATE SERVER s%d FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s); CREATE USER MAPPING FOR "+
			"CURRENT_USER SERVER s%[1]d OPTIONS (user 'relgrad')", i, strings.Join(options, ", "))
	}
	return out
}

// keepStatistics has all servers plan with the statistics that tables have now: these choose the order in which SQL
// sums, and so the last bits of what the engine sql computes.
func (s *servers) keepStatistics() {
	s.t.Helper()
	for _, x := range append([]*session{s.called}, s.others...) {
		x.must("ALTER SYSTEM SET autovacuum = off")
		x.must("SELECT pg_reload_conf()")
		x.must("ANALYZE")
	}
}

// spread makes a table of the called server lie at the others, by the hash of a column, with its primary key if it is
// one of a parameter. columns are its definition.
func (s *servers) spread(table, columns, by string, keyed bool) {
	s.t.Helper()
	s.called.must("ALTER TABLE %s RENAME TO whole_%[1]s; CREATE TABLE %[1]s (%s) PARTITION BY HASH (%s)", table, columns,
		by)
	for i, o := range s.others {
		key := ""
		if keyed {
			key = ", PRIMARY KEY (" + by + ")"
		}
		o.must("CREATE TABLE part_%s (%s%s)", table, columns, key)
		s.called.must("CREATE FOREIGN TABLE %[1]s_%[2]d PARTITION OF %[1]s FOR VALUES WITH (MODULUS %[3]d, REMAINDER "+
			"%[4]d) SERVER s%[2]d OPTIONS (schema_name 'public', table_name 'part_%[1]s')", table, i+1, len(s.others), i)
	}
	s.called.must("INSERT INTO %s SELECT * FROM whole_%[1]s", table)
}

// differ is how many rows of two relations, each a query, are not in the other one.
func (s *session) differ(a, b string) string {
	s.t.Helper()
	return s.must("SELECT count(*) FROM ((%s) EXCEPT (%s) UNION ALL ((%[2]s) EXCEPT (%[1]s))) x", a, b)[0]
}
