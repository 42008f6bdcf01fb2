package serverstest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// led is the backend of the session at a server that the called one leads.
func (s *session) led() string {
	s.t.Helper()
	out := s.must("SELECT pid FROM pg_stat_activity WHERE application_name = 'relgrad' AND query LIKE '%%gen_member%%'")
	if len(out) != 1 {
		s.t.Fatalf("%d sessions are led at a server", len(out))
	}
	return out[0]
}

// processes are the server and all below it.
func (s *session) processes() (out []int) {
	s.t.Helper()
	text, err := os.ReadFile(s.c.Data + "/postmaster.pid")
	if err != nil {
		s.t.Fatal(err)
	}
	pairs, err := exec.Command("ps", "-eo", "pid=,ppid=").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	below := map[string][]string{}
	for line := range strings.Lines(string(pairs)) {
		pair := strings.Fields(line)
		below[pair[1]] = append(below[pair[1]], pair[0])
	}
	found := strings.Split(string(text), "\n")[:1]
	for i := 0; i < len(found); i++ {
		found = append(found, below[found[i]]...)
		pid, err := strconv.Atoi(found[i])
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, pid)
	}
	return out
}

// failures: when a server fails amid a run, the run ends with one error that names it, within the timeout. The
// parameters are those of the last commit, and the run that goes on computes what one that nobody has disturbed does.
func (s *servers) failures(t *testing.T) {
	m := models[0]
	c := s.called
	c.must("%s", m.setup)
	s.spreadOut(m)
	c.must("CREATE TABLE w_was AS TABLE w; CREATE TABLE h_was AS TABLE h; SET relgrad.server_timeout = '2s'")
	again := "TRUNCATE w, h; INSERT INTO w TABLE w_was; INSERT INTO h TABLE h_was"
	for _, engine := range []string{"chunk", "sql"} {
		steps := map[string]int{"chunk": 500, "sql": 40}[engine]
		call := fmt.Sprintf("CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.001, epochs => %d)", steps)
		c.must("SET relgrad.engine = %s; DROP TABLE IF EXISTS w_new, h_new; %s", engine, again)
		c.must("%s", call)
		c.must("CREATE TABLE w_new AS TABLE w; CREATE TABLE h_new AS TABLE h")
		for _, f := range c.failing() {
			t.Run(engine+", "+f.name, func(t *testing.T) { s.fails(t, f, call, again) })
		}
	}
	c.must("RESET relgrad.engine")
}

// failure is something that befalls a server.
type failure struct {
	name, code, says string
	do               func(t *testing.T, o *session) (undo func())
}

func (c *session) failing() []failure {
	return []failure{
		{"the session ends", "57P01", "server \"s2\": terminating connection", func(t *testing.T, o *session) func() {
			o.must("SELECT pg_terminate_backend(%s)", o.led())
			return nil
		}},
		{"the engine ends", "08006", "server \"s2\": the engine ended amid a request", func(t *testing.T, o *session) func() {
			out, err := exec.Command("pkill", "-KILL", "-P", o.led(), "relgrad-engine").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return nil
		}},
		{"the server is frozen", "08006", "server \"s2\" does not answer for 2s", func(t *testing.T, o *session) func() {
			all := o.processes()
			for _, pid := range all {
				syscall.Kill(pid, syscall.SIGSTOP)
			}
			return func() {
				for _, pid := range all {
					syscall.Kill(pid, syscall.SIGCONT)
				}
			}
		}},
		{"the call is cancelled", "57014", "canceling statement due to user request", func(t *testing.T, o *session) func() {
			if err := c.pg.CancelRequest(context.Background()); err != nil {
				t.Fatal(err)
			}
			return nil
		}},
	}
}

// fails lets a failure happen at the second server amid a run, which then goes on.
func (s *servers) fails(t *testing.T, f failure, call, again string) {
	c := s.called
	c.must("%s", again)
	watch := connect(t, c.c)
	before := watch.must("SELECT max(run) FROM relgrad.run")[0]
	failed := make(chan error, 1)
	go func() {
		_, err := c.run(call)
		failed <- err
	}()
	for i := 0; watch.must("SELECT max(run) FROM relgrad.run")[0] == before && i < 1000; i++ { // it is planned
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	begin := time.Now()
	undo := f.do(t, s.others[1])
	var err error
	select {
	case err = <-failed:
	case <-time.After(30 * time.Second):
		t.Fatal("the run does not end")
	}
	took := time.Since(begin)
	if undo != nil {
		undo()
	}
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e) && e.Code == f.code && strings.Contains(e.Message, f.says):
	case e != nil && f.code == "57P01" && strings.Contains(e.Message, "server \"s2\": the connection is lost"):
		// it has ended between two calls
	default:
		t.Errorf("after %v: %v", took, err)
	}
	if took > 12*time.Second {
		t.Errorf("the run ends after %v", took)
	}
	run := strings.Split(c.must("SELECT run, step FROM relgrad.run ORDER BY run DESC LIMIT 1")[0], "|")
	c.must("CALL train(resume => %s)", run[0])
	for _, p := range []string{"w", "h"} {
		if n := c.differ("TABLE "+p, "TABLE "+p+"_new"); n != "0" {
			t.Errorf("interrupted behind step %s, %s rows of %s are others than those of a run that was not", run[1],
				n, p)
		}
	}
	for i, o := range s.others {
		if n := o.must("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%%' OR " +
			"application_name = 'relgrad' AND state <> 'idle'"); n[0] != "0" {
			t.Errorf("server %d: %s sessions are in a transaction", i+1, n[0])
		}
	}
}
