package serverstest

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	runsFlag  = flag.Int("runs", 1, "number of runs amid which processes are killed")
	killsFlag = flag.Int("kills", 3, "number of kills for each run")
)

// again connects anew, once the server takes connections.
func (s *session) again() {
	s.t.Helper()
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		pg, err := pgconn.Connect(ctx, s.c.DSN)
		cancel()
		if err == nil {
			s.pg.Close(context.Background())
			s.pg = pg
			time.Sleep(50 * time.Millisecond) // a server that has lost a backend ends all others
			if _, err = s.run("SET search_path = public, relgrad; SET relgrad.server_timeout = '5s'"); err == nil {
				return
			}
		}
		if time.Since(begin) > 30*time.Second {
			s.t.Fatal(err)
		}
	}
}

// pid is the backend of this session.
func (s *session) pid() int { return int(s.pg.PID()) }

// victims are what is killed: the name, and how.
var victims = []struct {
	name string
	kill func(c, o *session, call int) error
}{
	{"a session at a server", func(_, o *session, _ int) error {
		_, err := o.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name IN ('relgrad', " +
			"'postgres_fdw')")
		return err
	}},
	{"the engine at a server", func(_, o *session, _ int) error {
		rows, err := o.run("SELECT pid FROM pg_stat_activity WHERE application_name = 'relgrad'")
		for _, pid := range rows {
			err = exec.Command("pkill", "-KILL", "-P", pid, "relgrad-engine").Run()
		}
		return err
	}},
	{"the backend at a server, which then recovers", func(_, o *session, _ int) error {
		rows, err := o.run("SELECT pid FROM pg_stat_activity WHERE application_name IN ('relgrad', 'postgres_fdw')")
		if err != nil || len(rows) == 0 {
			return err
		}
		pid, err := strconv.Atoi(rows[0])
		if err != nil {
			return err
		}
		return syscall.Kill(pid, syscall.SIGKILL)
	}},
	{"the engine of the called session", func(_, _ *session, call int) error {
		return exec.Command("pkill", "-KILL", "-P", strconv.Itoa(call), "relgrad-engine").Run()
	}},
	{"the called session", func(c, _ *session, call int) error {
		_, err := c.run(fmt.Sprintf("SELECT pg_terminate_backend(%d)", call))
		return err
	}},
	{"the called backend, whose server then recovers", func(_, _ *session, call int) error {
		return syscall.Kill(call, syscall.SIGKILL)
	}},
}

// kills: whatever process is killed amid a run, and when, the run that is resumed computes, bit by bit, what an
// undisturbed one does.
func (s *servers) kills(t *testing.T) {
	seed := *seedFlag
	t.Logf("-seed=%d", seed)
	draw := rand.New(rand.NewSource(seed))
	m := models[1]
	c := s.called
	for _, x := range append([]*session{c}, s.others...) { // what has committed is there behind a recovery
		x.must("ALTER DATABASE postgres SET synchronous_commit = on")
		x.again()
	}
	c.must("%s", m.setup)
	c.must("CREATE TABLE w_was AS TABLE w; CREATE TABLE h_was AS TABLE h; SELECT distribute('rating', 'u'); " +
		"SELECT distribute('w', 'u'); SELECT distribute('h', 'i')")
	s.keepStatistics()
	const call = "CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.001, epochs => %d)"
	steps := map[string]int{"chunk": 300, "sql": 60}
	killed, interrupted := 0, map[string]int{}
	for run := range *runsFlag {
		engine := []string{"chunk", "sql"}[run%2]
		restore := "UPDATE w SET v = o.v FROM w_was o WHERE o.u = w.u; UPDATE h SET v = o.v FROM h_was o WHERE o.i = h.i"
		if run < 2 {
			c.must("SET relgrad.engine = '%s'; "+restore, engine)
			c.must(call, steps[engine])
			c.must("CREATE TABLE new_%s AS SELECT 'w' AS of, u AS k, v FROM w UNION ALL SELECT 'h', i, v FROM h", engine)
		}
		c.must("%s", restore)
		before := c.must("SELECT coalesce(max(run), 0) FROM relgrad.run")[0]
		statement := fmt.Sprintf(call, steps[engine])
		for kill := 0; ; kill++ {
			trainer := connect(t, c.c)
			trainer.must("SET search_path = public, relgrad; SET relgrad.engine = '%s'; SET relgrad.server_timeout = '5s'",
				engine)
			pid, failed := trainer.pid(), make(chan error, 1)
			go func() {
				_, err := trainer.run(statement)
				failed <- err
			}()
			victim, o := victims[draw.Intn(len(victims))], s.others[draw.Intn(len(s.others))]
			if kill < *killsFlag {
				time.Sleep(time.Duration(draw.Intn(1500)) * time.Millisecond)
				if err := victim.kill(c, o, pid); err == nil {
					killed++
				}
			}
			var err error
			select {
			case err = <-failed:
			case <-time.After(60 * time.Second):
				t.Fatalf("run %d, kill %d of %s: the call does not end", run, kill, victim.name)
			}
			trainer.pg.Close(context.Background())
			for _, x := range append([]*session{c}, s.others...) {
				x.again()
			}
			id := c.must("SELECT coalesce(max(run), 0) FROM relgrad.run")[0]
			if err == nil {
				break
			}
			interrupted[victim.name]++
			if kill >= *killsFlag {
				t.Fatalf("run %d: %v", run, err)
			}
			if id != before { // else it had not begun
				statement = fmt.Sprintf("CALL train(resume => %s)", id)
				if strings.HasPrefix(c.must("SELECT status FROM relgrad.run WHERE run = %s", id)[0], "finished") {
					break // killed behind its last commit
				}
			}
		}
		if n := c.differ("SELECT 'w' AS of, u AS k, v FROM w UNION ALL SELECT 'h', i, v FROM h", "TABLE new_"+
			engine); n != "0" {
			t.Errorf("run %d, %s: %s rows are others than those of a run that nobody has disturbed, by at most %s", run, engine,
				n, c.must("SELECT max(abs(a - b)) FROM (SELECT 'w' AS of, u AS k, v FROM w UNION ALL "+
					"SELECT 'h', i, v FROM h) x JOIN new_%s o USING (of, k), unnest(x.v, o.v) AS u(a, b)", engine)[0])
		}
		for i, o := range append([]*session{c}, s.others...) {
			if n := o.must("SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid() AND locktype = 'relation' AND " +
				"relation >= 16384"); n[0] != "0" {
				t.Errorf("run %d: %s locks are left at server %d", run, n[0], i)
			}
		}
	}
	t.Logf("%d kills; interrupted: %v", killed, interrupted)
	if killed == 0 || len(interrupted) == 0 {
		t.Error("no run is interrupted")
	}
}
