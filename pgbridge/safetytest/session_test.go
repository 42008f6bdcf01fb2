package safetytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/pgcluster"
)

// patience is the longest that a statement may take; one that takes longer hangs.
const patience = 60 * time.Second

// session is a session on a server.
type session struct {
	*pgx.Conn
	t       *testing.T
	dsn     string
	notices []string
}

// open opens a session that finds relgrad's functions. extra are more settings of the connection, such as "user=anna".
func open(t *testing.T, dsn string, extra ...string) *session {
	t.Helper()
	s, err := dial(dsn, extra...)
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func dial(dsn string, extra ...string) (*session, error) {
	s := &session{dsn: dsn}
	config, err := pgx.ParseConfig(dsn + " " + strings.Join(extra, " "))
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["search_path"] = "public, relgrad"
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.notices = append(s.notices, n.Severity+": "+n.Message) }
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	s.Conn, err = pgx.ConnectConfig(ctx, config)
	return s, err
}

// run runs statements and gives the last one's rows in psql's unaligned form, joined by spaces.
func (s *session) run(sql string) (string, error) {
	s.notices = nil
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	results, err := s.PgConn().Exec(ctx, sql).ReadAll()
	if ctx.Err() != nil {
		return "", fmt.Errorf("no answer within %v", patience)
	}
	if err != nil {
		return "", err
	}
	var rows []string
	for _, r := range results[len(results)-1].Rows {
		var values []string
		for _, v := range r {
			if v == nil {
				v = []byte("NULL")
			}
			values = append(values, string(v))
		}
		rows = append(rows, strings.Join(values, "|"))
	}
	return strings.Join(rows, " "), nil
}

func (s *session) must(sql string) string {
	s.t.Helper()
	out, err := s.run(sql)
	if err != nil {
		var e *pgconn.PgError
		_ = errors.As(err, &e)
		s.t.Fatalf("%.300s: %v %+v", sql, err, e)
	}
	return out
}

// gives asserts the rows of statements.
func (s *session) gives(sql, want string) {
	s.t.Helper()
	got, err := s.run(sql)
	if err != nil {
		var e *pgconn.PgError
		_ = errors.As(err, &e)
		s.t.Errorf("%.300s: %v %+v", sql, err, e)
	} else if got != want {
		s.t.Errorf("%.300s\ngives %q, want %q", sql, got, want)
	}
}

// fails asserts the SQLSTATE and a part of the message, detail and hint of an error, and that the session lives on.
func (s *session) fails(sql, code, message string) {
	s.t.Helper()
	_, err := s.run(sql)
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		s.t.Errorf("%.300s: %v, want %s %s", sql, err, code, message)
		return
	}
	if e.Code != code || !strings.Contains(e.Message+" "+e.Detail+" "+e.Hint, message) {
		s.t.Errorf("%.300s\nfails with %s %s %s %s\nwant %s %s", sql, e.Code, e.Message, e.Detail, e.Hint, code, message)
	}
	if s.PgConn().TxStatus() == 'I' {
		if _, err := s.run("SELECT 1"); err != nil {
			s.t.Errorf("after %.300s: %v", sql, err)
		}
	}
}

// pid is the process id of the session's backend.
func (s *session) pid() int {
	n, _ := strconv.Atoi(s.must("SELECT pg_backend_pid()"))
	return n
}

// process is a process of the machine.
type process struct {
	pid, parent int
	state       string
	name        string
}

// processes lists the machine's processes.
func processes() []process {
	var out []process
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range stats {
		if p, ok := readProcess(f); ok {
			out = append(out, p)
		}
	}
	return out
}

func readProcess(stat string) (p process, ok bool) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return p, false
	}
	open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	rest := strings.Fields(string(text[end+1:]))
	p = process{state: rest[0], name: string(text[open+1 : end])}
	p.pid, _ = strconv.Atoi(string(text[:open-1]))
	p.parent, _ = strconv.Atoi(rest[1])
	return p, true
}

// parent is the process that has started another one; 0 if that one has ended.
func parent(pid int) int {
	p, _ := readProcess(fmt.Sprintf("/proc/%d/stat", pid))
	return p.parent
}

// engines lists the engines of these backends, zombies too.
func engines(backends map[int]bool) (out []process) {
	for _, p := range processes() {
		if backends[p.parent] && strings.HasPrefix(p.name, "relgrad") {
			out = append(out, p)
		}
	}
	return out
}

// programs lists the processes, with any parent, that run a server's engine.
func programs(c *pgcluster.Cluster) (pids []int) {
	for _, p := range processes() {
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid)); err == nil && strings.HasPrefix(exe, c.Dir) &&
			strings.Contains(exe, "relgrad-engine") {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// postmaster is the server's first process.
func postmaster(t *testing.T, c *pgcluster.Cluster) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	fmt.Sscan(string(text), &pid)
	return pid
}

// harm matches what must not be in a server's log.
var harm = regexp.MustCompile(`PANIC|was terminated by signal|terminating any other active|leak|not closed at ` +
	`end|non-empty SPI stack|panic:|internal error|TRAP:|XX000|fatal error|cache lookup failed`)

// quiet asserts that harm matches nothing in the server's log.
func quiet(t *testing.T, c *pgcluster.Cluster) {
	t.Helper()
	text, err := c.Log()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if harm.MatchString(line) {
			t.Errorf("the server's log: %s", strings.Join(lines[i:min(i+12, len(lines))], "\n"))
			break
		}
	}
}

// unharmed also asserts that no engine is left when no session is left.
func unharmed(t *testing.T, c *pgcluster.Cluster) {
	t.Helper()
	quiet(t, c)
	engineless(t, c)
}

// engineless asserts that no engine is left when no session is left.
func engineless(t *testing.T, c *pgcluster.Cluster) {
	t.Helper()
	for range 100 {
		if len(programs(c)) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("engines without a session: %v", programs(c))
}

// fields returns the detail and the hint of a server's error.
func fields(err error) string {
	var e *pgconn.PgError
	_ = errors.As(err, &e)
	if e == nil {
		return ""
	}
	return e.Detail + " " + e.Hint
}

// folder makes a folder that the server may use as a tablespace.
func (e *env) folder(name string) string {
	e.t.Helper()
	dir := filepath.Join(e.c.Dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		e.t.Fatal(err)
	}
	if st, err := os.Stat(e.c.Data); err == nil { // the server's user is the owner of its data
		if s, ok := st.Sys().(*syscall.Stat_t); ok {
			_ = os.Chown(dir, int(s.Uid), int(s.Gid))
		}
	}
	return dir
}
