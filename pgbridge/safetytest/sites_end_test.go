package safetytest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/exchangefault"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// siteEnds are what can happen on a server while a site of a loss is in the middle of an exchange, and the error of the
// statement. do, with the session's backend, comes while the site waits there.
var siteEnds = []struct {
	name, what, code, says string
	do                     func(admin *session, backend int)
}{
	{"panic", "panic", "XX000", "internal error: planted", nil},
	{"no memory", "memory", "53200", "out of memory", nil},
	{"error", "error", "22012", "planted", nil},
	{"the engine killed", "kill", "08006", "signal 9", nil},
	{"cancel", "wait", "57014", "", func(admin *session, backend int) {
		admin.must(fmt.Sprintf("SELECT pg_cancel_backend(%d)", backend))
	}},
	{"timeout", "wait", "57014", "statement timeout", func(*session, int) {}},
	{"terminate", "wait", "57P01", "", func(admin *session, backend int) {
		admin.must(fmt.Sprintf("SELECT pg_terminate_backend(%d)", backend))
	}},
	{"the backend killed", "wait", "", "", func(_ *session, backend int) { _ = syscall.Kill(backend, syscall.SIGKILL) }},
}

// TestSitesEnd: whatever ends a statement while a site is in the middle of an exchange, the session has one error and
// goes on where it can; tables are as they were, no engine is left, and the run of training goes on to the same numbers
// as an undisturbed one.
func TestSitesEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := pgcluster.Start(t)
	plans := filepath.Join(c.Dir, "plans")
	if err := errors.Join(os.Mkdir(plans, 0o777), os.Chmod(plans, 0o777)); err != nil {
		t.Fatal(err)
	}
	p := exchangefault.Build(t, plans)
	if err := c.UseEngine(p.File); err != nil {
		t.Fatal(err)
	}
	e := open(t, c.DSN)
	e.must("CREATE EXTENSION relgrad; SET relgrad.engine = chunk; SET relgrad.sites = 3;" + exchangefault.Model +
		"CREATE TABLE w0 AS SELECT * FROM w; CREATE TABLE h0 AS SELECT * FROM h")
	e.must(exchangefault.Train)
	e.must("CREATE TABLE w1 AS SELECT * FROM w; CREATE TABLE h1 AS SELECT * FROM h")
	e.Close(t.Context())
	for i, x := range siteEnds {
		for j, place := range []string{"before", "amid", "behind"} {
			if x.what == "wait" && place == "amid" || x.name == "the backend killed" && place == "behind" {
				continue
			}
			for passed, call := range []string{"SELECT count(*) FROM gradient('loss', NULL::h)", exchangefault.Train} {
				name := fmt.Sprintf("%s, site %d %s exchange %d of %s", x.name, (i+j)%3, place, passed, call)
				sitesEnd(t, c, name, call, func(e *session) {
					p.Plan(t, x.what, (i+j)%3, place, passed)
					backend, set := e.pid(), "SET relgrad.engine = chunk; SET relgrad.sites = 3;"
					if x.name == "timeout" {
						set += "SET statement_timeout = 2000;" // long enough to come to the exchange on a machine that others use
					}
					e.must(set)
					done := make(chan error, 1)
					go func() {
						_, err := e.run(call)
						done <- err
					}()
					p.Happened(t, patience)
					if x.do != nil {
						x.do(open(t, c.DSN), backend)
					}
					err := <-done
					var pg *pgconn.PgError
					switch {
					case x.code == "":
						if err == nil || errors.As(err, &pg) && pg.Code != "57P02" {
							t.Errorf("%s: %v", name, err)
						}
					case !errors.As(err, &pg) || pg.Code != x.code || !strings.Contains(pg.Message+pg.Detail, x.says):
						t.Errorf("%s: %v, expected %s %s", name, err, x.code, x.says)
					}
					for _, n := range e.notices {
						if !strings.HasPrefix(n, "NOTICE") {
							t.Errorf("%s: beside its error it says %s", name, n)
						}
					}
				})
			}
		}
	}
}

// sitesEnd has a session end in the middle of a call, and looks at what is left.
func sitesEnd(t *testing.T, c *pgcluster.Cluster, name, call string, end func(e *session)) {
	t.Helper()
	e := reopen(t, c)
	e.must("SET synchronous_commit = on") // a backend that is killed takes what is not in the log yet with it
	e.must("TRUNCATE w, h; INSERT INTO w SELECT * FROM w0; INSERT INTO h SELECT * FROM h0")
	end(e)
	// a connection that the server has ended is not known to be closed before it is used; one that is opened before the
	// server has noticed that a backend was killed ends once more
	for begin := time.Now(); time.Since(begin) < patience; e = reopen(t, c) {
		if _, err := e.run("SELECT pg_sleep(0.1)"); err == nil {
			break
		}
	}
	e.must("RESET statement_timeout; SET relgrad.engine = chunk; SET relgrad.sites = 3")
	const differ = "SELECT (SELECT count(*) FROM w JOIN w%[1]d AS o USING (u) WHERE w.v = o.v), " +
		"(SELECT count(*) FROM h JOIN h%[1]d AS o USING (i) WHERE h.v = o.v)"
	trained := call == exchangefault.Train
	if !trained || e.must("SELECT step FROM relgrad.run ORDER BY run DESC LIMIT 1") == "0" {
		e.gives(fmt.Sprintf(differ, 0), "23|17")
	}
	e.gives("SELECT count(*) FROM gradient('loss', NULL::h)", "17")
	if trained {
		e.must(fmt.Sprintf("CALL train(resume => %s)", e.must("SELECT max(run) FROM relgrad.run")))
		e.gives(fmt.Sprintf(differ, 1), "23|17")
	}
	e.gives("SELECT count(*) FROM relgrad.run WHERE status = 'running'", "0")
	e.gives("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0")
	e.Close(t.Context())
	engineless(t, c)
	if t.Failed() {
		t.Fatalf("so it was behind %s", name)
	}
}

// reopen opens a session, also on a server that begins anew because a backend was killed.
func reopen(t *testing.T, c *pgcluster.Cluster) *session {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if s, err := dial(c.DSN); err == nil {
			s.t = t
			return s
		} else if time.Since(begin) > patience {
			t.Fatal(err)
		}
	}
}
