package serverstest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
)

// limits: a server that takes no writes, has a full disk, or is slow. Where parameters lie there the run ends with one
// error and goes on exactly when the cause has gone; where it only reads, or only waits, it goes on at once.
func (s *servers) limits(t *testing.T) {
	c, o := s.called, s.others[1]
	c.must("%s", ratings)
	full := fullDisk(t, o)
	c.must("CREATE TABLE w_was AS TABLE w; CREATE TABLE h_was AS TABLE h; SELECT distribute('rating', 'u')")
	s.keepStatistics()
	again := "UPDATE w SET v = o.v FROM w_was o WHERE o.u = w.u; UPDATE h SET v = o.v FROM h_was o WHERE o.i = h.i"
	const rows = "SELECT 'w' AS of, u AS k, v FROM w UNION ALL SELECT 'h', i, v FROM h"
	call := func(engine string) string {
		n := map[string]int{"chunk": 300, "sql": 40}[engine]
		return fmt.Sprintf("CALL train('loss', ARRAY['w', 'h'], optimizer => 'adam', lr => 0.001, epochs => %d)", n)
	}
	const within = 3 * time.Minute // one that does not end is told from a slow machine
	undisturbed := func(engine string) {
		c.must("SET relgrad.engine = '%s'; %s", engine, again)
		c.must("%s", call(engine))
		c.must("DROP TABLE IF EXISTS new_%s; CREATE TABLE new_%[1]s AS %[2]s", engine, rows)
	}
	c.must("SET relgrad.server_timeout = '10s'")
	same := func(t *testing.T, engine string) {
		t.Helper()
		if n := c.differ(rows, "TABLE new_"+engine); n != "0" {
			t.Errorf("%s rows are others than those of a run that was not disturbed", n)
		}
	}
	amid := func(t *testing.T, engine string, do func()) error {
		c.must("SET relgrad.engine = '%s'", engine)
		failed := make(chan error, 1)
		go func() {
			_, err := c.run(call(engine))
			failed <- err
		}()
		time.Sleep(200 * time.Millisecond)
		if len(failed) > 0 && do != nil {
			t.Error("the run has ended before anything happens")
		}
		if do != nil {
			do()
		}
		select {
		case err := <-failed:
			return err
		case <-time.After(within):
			for range 3 { // what waits stays where it is
				for _, at := range append([]*session{c}, s.others...) {
					t.Logf("%s: %q", at.c.Data, connect(t, at.c).must("SELECT concat_ws(' ', pid, state, wait_event_type, "+
						"wait_event, left(query, 200)) FROM pg_stat_activity WHERE state IS NOT NULL"))
				}
				time.Sleep(time.Second)
			}
			t.Fatalf("the run does not end within %v", within)
			return nil
		}
	}
	readOnly := func(how string) {
		o.must("ALTER SYSTEM %s default_transaction_read_only%s", how, map[string]string{"SET": " = on"}[how])
		o.must("SELECT pg_reload_conf()")
	}
	for _, engine := range []string{"chunk", "sql"} {
		undisturbed(engine)
		t.Run(engine+", a server that only reads", func(t *testing.T) {
			c.must("%s", again)
			err := amid(t, engine, func() { readOnly("SET") })
			readOnly("RESET")
			if err != nil {
				t.Errorf("nothing is written there: %v", err)
			}
			same(t, engine)
		})
		t.Run(engine+", a slow server", func(t *testing.T) {
			c.must("%s", again)
			err := amid(t, engine, func() {
				for range 3 {
					all := o.processes()
					for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
						for _, pid := range all {
							syscall.Kill(pid, signal)
						}
						time.Sleep(500 * time.Millisecond)
					}
				}
			})
			if err != nil {
				t.Error(err)
			}
			same(t, engine)
		})
	}
	c.must("%s; SELECT distribute('w', 'u')", again)
	for _, engine := range []string{"chunk", "sql"} {
		undisturbed(engine)
		fails := func(t *testing.T, want string, cause, undo func()) {
			err := amid(t, engine, cause)
			undo()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, not %s", err, want)
			}
			c.must("CALL train(resume => %s)", c.must("SELECT max(run) FROM relgrad.run")[0])
			same(t, engine)
		}
		t.Run(engine+", parameters at a server that takes no writes", func(t *testing.T) {
			c.must("%s", again)
			fails(t, "in a read-only transaction", func() { readOnly("SET") }, func() { readOnly("RESET") })
		})
		t.Run(engine+", parameters at a server whose disk is full", func(t *testing.T) {
			filler := filepath.Join(full(t), "filler")
			o.must("ALTER TABLE w SET TABLESPACE small; ALTER TABLE w SET (autovacuum_enabled = off)")
			seen := connect(t, o.c) // keeps old versions of rows, so that new ones need space
			seen.must("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM w")
			if err := fill(filler); err != nil {
				t.Fatal(err)
			}
			c.must("SET relgrad.engine = '%s'; %s", engine, again)
			for err := error(nil); err == nil; _, err = o.run("UPDATE w SET v = v") {
			}
			fails(t, "No space left on device", nil, func() {
				os.Remove(filler)
				seen.must("ROLLBACK")
			})
		})
	}
}

// fill writes a file that takes all space.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for data := make([]byte, 1<<20); len(data) > 0; data = data[:len(data)/2] {
		for err = nil; err == nil; _, err = f.Write(data) {
		}
	}
	return f.Close()
}

// fullDisk gives the server a tablespace of 2 MB, and tells its folder; the test is skipped where none can be mounted.
func fullDisk(t *testing.T, o *session) func(t *testing.T) string {
	dir := filepath.Join(o.c.Dir, "small")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m,mode=777", "tmpfs", dir).CombinedOutput()
	if err == nil {
		t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
		space := filepath.Join(dir, "space")
		if err := os.Mkdir(space, 0o700); err != nil {
			t.Fatal(err)
		}
		if owner, err := exec.Command("chown", "--reference="+o.c.Data, space).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, owner)
		}
		o.must("CREATE TABLESPACE small LOCATION '%s'", space)
	}
	return func(t *testing.T) string {
		if err != nil {
			need.Absent(t, "mount", "no file system of 2 MB can be mounted: "+strings.TrimSpace(string(out)))
		}
		return dir
	}
}
