package safetytest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

var (
	stormTime = flag.Duration("storm", time.Minute, "how long TestStorm goes on")
	stormSeed = flag.Uint64("seed", 0, "of TestStorm's choices; 0: one of its own")
)

// sessions is the number of sessions of the storm, besides one that is only measured.
const sessions = 50

// stormScript makes a model whose gradients Postgres itself can compute.
const stormScript = `
CREATE EXTENSION relgrad;
CREATE TABLE x (i int PRIMARY KEY, v double precision[] NOT NULL, y double precision NOT NULL);
INSERT INTO x SELECT i, ARRAY[i / 100.0, 1, (i % 3) / 2.0]::double precision[], i % 5 FROM generate_series(1, 300)
AS s(i);
CREATE TABLE w (k int PRIMARY KEY, v double precision[] NOT NULL);
INSERT INTO w VALUES (1, '{0.1,-0.25,0.5}');
CREATE VIEW guess AS SELECT x.i, x.y, dot(x.v, w.v) AS z FROM x, w;
CREATE VIEW loss AS SELECT avg((z - y) ^ 2) AS loss FROM guess;
CREATE TABLE answer AS SELECT (SELECT loss FROM loss) AS loss, avg(2 * (z - y) * x.v[1])
AS a, avg(2 * (z - y) * x.v[2]) AS b, avg(2 * (z - y) * x.v[3]) AS c FROM guess JOIN x USING (i, y);
CREATE FUNCTION near(a double precision, b double precision) RETURNS boolean LANGUAGE sql
AS 'SELECT abs(a - b) <= 1e-12 * greatest(abs(b), 1)';
`

// stormCalls are the calls that a session repeats, with their answers. # stands for the session's number.
var stormCalls = []struct{ sql, want string }{
	{"SELECT near(g.v[1], a) AND near(g.v[2], b) AND near(g.v[3], c) FROM gradient('loss', NULL::w) AS g, answer", "t"},
	{"SET relgrad.engine = sql; SELECT near(g.v[1], a) AND near(g.v[2], b) AND near(g.v[3], c) " +
		"FROM gradient('loss', NULL::w) AS g, answer", "t"},
	{"SET relgrad.engine = chunk; SELECT near(backward('loss', ARRAY['w']), loss) FROM answer", "t"},
	{"BEGIN; SELECT backward('loss', ARRAY['w']); SELECT near(g.v[1], a) AND near(g.v[2], b) AND near(g.v[3], c) " +
		"FROM w_grad AS g, answer; COMMIT; SELECT true", "t"},
	{"SELECT count(*) > 0 AND bool_and(ok) FROM check_gradient('loss', 'w', samples => 2)", "t"},
	{"UPDATE mine_# SET v = 0; CALL train('SELECT sum((v - 3) ^ 2) FROM mine_#', ARRAY['mine_#'], optimizer => 'sgd', " +
		"lr => 0.1, epochs => 5); SELECT near(v, 3 * (1 - 0.8 ^ 5)) FROM mine_#", "t"},
	{"SET relgrad.engine = sql; UPDATE mine_# SET v = 0; CALL train('SELECT sum((v - 3) ^ 2) " +
		"FROM mine_#', ARRAY['mine_#'], optimizer => 'sgd', lr => 0.1, epochs => 5); RESET relgrad.engine; " +
		"SELECT near(v, 3 * (1 - 0.8 ^ 5)) FROM mine_#", "t"},
	{"BEGIN; UPDATE mine_# SET v = 0; SELECT count(*) FROM gradient('loss', NULL::w); ROLLBACK; SELECT true", "t"},
}

func numbered(sql string, number int) string { return strings.ReplaceAll(sql, "#", fmt.Sprint(number)) }

// clean are the SQLSTATEs of calls whose engine is killed, that are cancelled, or whose backend is terminated.
var clean = map[string]string{"08006": "engine killed", "57014": "cancelled", "57P01": "terminated"}

// storm is the state of a storm.
type storm struct {
	t       *testing.T
	c       *pgcluster.Cluster
	end     time.Time
	mu      sync.Mutex
	counts  map[string]int
	spare   atomic.Int64 // the backend that is not terminated
	failing atomic.Int64
}

func (s *storm) count(what string) {
	s.mu.Lock()
	s.counts[what]++
	s.mu.Unlock()
}

func (s *storm) errorf(format string, args ...any) {
	if s.failing.Add(1) < 10 {
		s.t.Errorf(format, args...)
	}
}

func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	seed := *stormSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: go test -run Storm -seed %d", seed, seed)
	s := &storm{t: t, c: pgcluster.Start(t), counts: map[string]int{}}
	setup := open(t, s.c.DSN)
	setup.must(stormScript)
	for i := range sessions {
		setup.must(
			fmt.Sprintf(
				"CREATE TABLE mine_%d (k int PRIMARY KEY, v double precision NOT NULL); INSERT INTO mine_%[1]d VALUES (1, 0)", i))
	}
	setup.Close(context.Background())
	s.end = time.Now().Add(*stormTime)
	var all sync.WaitGroup
	for i := range sessions {
		all.Go(func() { s.work(i, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	all.Go(s.measured)
	s.disturb(rand.New(rand.NewPCG(seed, sessions)))
	all.Wait()
	t.Logf("%v", s.counts)
	for _, what := range []string{"right", clean["08006"], clean["57014"], clean["57P01"]} {
		if s.counts[what] == 0 {
			t.Errorf("nothing was %s: there was no storm", what)
		}
	}
	after := open(t, s.c.DSN)
	for range 100 { // the backend of a closed connection has to notice that
		if after.must("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") == "1" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	after.gives("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'", "1")
	after.gives("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0")
	for i := range sessions { // runs that are said to be running are resumed or trained again
		after.must(numbered(stormCalls[5].sql, i))
	}
	after.gives("SELECT count(*) FROM relgrad.run WHERE status = 'running'", "0")
	after.Close(context.Background())
	unharmed(t, s.c)
}

// work repeats calls until the storm ends.
func (s *storm) work(number int, r *rand.Rand) {
	var conn *session
	for time.Now().Before(s.end) {
		if conn == nil || conn.IsClosed() {
			var err error
			if conn, err = dial(s.c.DSN); err != nil {
				var e *pgconn.PgError
				if !errors.As(err, &e) || clean[e.Code] == "" {
					s.errorf("session %d cannot connect: %v", number, err)
					return
				}
				continue
			}
		}
		call := stormCalls[r.IntN(len(stormCalls))]
		got, err := conn.run(numbered(call.sql, number))
		s.judge(number, call.sql, call.want, got, err)
		if err != nil && !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
			if _, err := conn.run("ROLLBACK"); err != nil {
				s.judge(number, "ROLLBACK", "", "", err)
			}
		}
		if conn.IsClosed() {
			s.leave(conn)
		}
	}
	if conn != nil {
		conn.Close(context.Background())
	}
}

// leave waits until the backend of a closed connection has ended, which frees its locks.
func (s *storm) leave(conn *session) {
	for range 600 {
		if syscall.Kill(int(conn.PgConn().PID()), 0) == syscall.ESRCH {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.errorf("backend %d does not end", conn.PgConn().PID())
}

// judge accepts the right answer, or an error that a disturbance causes.
func (s *storm) judge(number int, sql, want, got string, err error) {
	var e *pgconn.PgError
	switch {
	case err == nil && (got == want || sql == "ROLLBACK"):
		s.count("right")
	case err == nil:
		s.errorf("session %d: %s\ngives %q, want %q", number, sql, got, want)
	case errors.As(err, &e) && clean[e.Code] != "":
		s.count(clean[e.Code])
	case errors.Is(err, syscall.EPIPE): // terminated between two calls: the message was not read
		s.count(clean["57P01"])
	default:
		s.errorf("session %d: %s\n%v %+v", number, sql, err, e)
	}
}

// disturb kills, stops, cancels and terminates at random until the storm ends.
func (s *storm) disturb(r *rand.Rand) {
	server := postmaster(s.t, s.c)
	for time.Now().Before(s.end) {
		backends, list := map[int]bool{}, []int{}
		for _, p := range processes() {
			if p.parent == server && p.name == "postgres" && isBackend(p.pid) {
				backends[p.pid] = true
				if p.pid != int(s.spare.Load()) {
					list = append(list, p.pid)
				}
			}
		}
		running := engines(backends)
		for range 20 { // listing all processes takes long when there are so many
			if len(list) > 0 && len(running) > 0 {
				s.strike(r, list[r.IntN(len(list))], running[r.IntN(len(running))])
			}
			time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
		}
	}
}

// strike does one of these to a backend or its engine, if both are still there.
func (s *storm) strike(r *rand.Rand, backend int, engine process) {
	if !isBackend(backend) || parent(engine.pid) != engine.parent {
		return
	}
	s.count("disturbances")
	switch n := r.IntN(10); {
	case n < 4:
		_ = syscall.Kill(engine.pid, syscall.SIGKILL)
	case n < 8:
		_ = syscall.Kill(backend, syscall.SIGINT)
	case n < 9:
		_ = syscall.Kill(backend, syscall.SIGTERM)
	default: // stops the engine: it says nothing any more
		_ = syscall.Kill(engine.pid, syscall.SIGSTOP)
		_ = syscall.Kill(engine.parent, syscall.SIGINT)
		time.Sleep(20 * time.Millisecond)
		if parent(engine.pid) == engine.parent {
			_ = syscall.Kill(engine.pid, syscall.SIGCONT)
		}
	}
}

// isBackend reports whether a process serves a session: its title then names user, database and host. To the server's
// own processes signals mean other things.
func isBackend(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.HasPrefix(string(text), "postgres: relgrad postgres")
}

// measured is a session that lasts. What its backend holds must not grow.
func (s *storm) measured() {
	conn, err := dial(s.c.DSN)
	if err != nil {
		s.errorf("%v", err)
		return
	}
	defer conn.Close(context.Background())
	s.spare.Store(int64(conn.PgConn().PID()))
	defer s.spare.Store(0)
	if _, err := conn.run(
		"CREATE TABLE mine_1000 (k int PRIMARY KEY, v double precision NOT NULL); " +
			"INSERT INTO mine_1000 VALUES (1, 0)"); err != nil {
		s.errorf("%v", err)
		return
	}
	var held []holding // after each cycle of calls
	for len(held) < 3*measuredCycles || time.Now().Before(s.end) {
		for _, call := range stormCalls {
			got, err := conn.run(numbered(call.sql, 1000))
			s.judge(1000, call.sql, call.want, got, err)
			if err != nil && conn.PgConn().TxStatus() != 'I' {
				_, _ = conn.run("ROLLBACK")
			}
			if conn.IsClosed() {
				return
			}
		}
		held = append(held, holds(int(conn.PgConn().PID())))
	}
	s.t.Logf("a session of %d calls holds, cycle by cycle: %+v", len(held)*len(stormCalls), held)
	first, last := most(held[:measuredCycles]), least(held[len(held)-measuredCycles:])
	if last.files > first.files+8 || last.shared > first.shared+1 || last.private > first.private+8<<10 {
		s.errorf("a session's backend grows: at first at most %+v, at last at least %+v", first, last)
	}
}

// measuredCycles is the number of cycles of calls whose extremes are compared. One cycle says little: what a call needs
// for a moment may still be held when the next cycle begins.
const measuredCycles = 8

func most(held []holding) (m holding) {
	for _, h := range held {
		m = holding{max(m.files, h.files), max(m.shared, h.shared), max(m.private, h.private)}
	}
	return m
}

func least(held []holding) holding {
	m := held[0]
	for _, h := range held {
		m = holding{min(m.files, h.files), min(m.shared, h.shared), min(m.private, h.private)}
	}
	return m
}

// holding is what a process holds: open files, files of memory shared with engines, and private memory in kB.
type holding struct{ files, shared, private int }

func holds(pid int) (h holding) {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, l := range links {
		h.files++
		if to, err := os.Readlink(l); err == nil && strings.Contains(to, "memfd:relgrad") {
			h.shared++
		}
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			fmt.Sscan(rest, &h.private)
		}
	}
	return h
}
