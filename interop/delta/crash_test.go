package delta

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/sqlerr/sqlerrtest"
)

// TestMain runs a child process of a test, where the test has started one: this program, with what to do in its
// environment.
func TestMain(m *testing.M) {
	switch dir := os.Getenv("RELGRAD_TEST_TABLE"); os.Getenv("RELGRAD_TEST_CHILD") {
	case "append":
		appendChild(dir)
	case "stop":
		stopChild(stopping(dir))
	case "create":
		tx, err := Create(stopping(dir), fields, TableOptions{}, WriteOptions{})
		fatal(err)
		fatal(tx.Write([]any{int64(1), 0.0, "new"}))
		_, err = tx.Commit("CREATE")
		fatal(err)
	default:
		os.Exit(m.Run())
	}
}

// child starts this program again.
func child(what, dir string, settings ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), "RELGRAD_TEST_CHILD="+what, "RELGRAD_TEST_TABLE="+dir), settings...)
	c.Stderr = os.Stderr
	return c
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// appendChild appends rows, each in a transaction, which began before the one before it was committed.
func appendChild(dir string) {
	s, err := Open(NewLocal(dir), Latest())
	fatal(err)
	for i := range 5 {
		tx, err := s.Begin(WriteOptions{})
		fatal(err)
		fatal(tx.Write([]any{int64(i), 0.0, os.Getenv("RELGRAD_TEST_NAME")}))
		_, err = tx.Commit("WRITE")
		fatal(err)
	}
}

// TestProcesses: processes that append at once make one version each time, and no row is lost.
func TestProcesses(t *testing.T) {
	const n = 6
	dir := t.TempDir()
	newTable(t, NewLocal(dir), TableOptions{})
	var all sync.WaitGroup
	var want []string
	for i := range n {
		for range 5 {
			want = append(want, fmt.Sprint("p", i))
		}
		all.Go(func() {
			if err := child("append", dir, fmt.Sprint("RELGRAD_TEST_NAME=p", i)).Run(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := open(t, NewLocal(dir), Latest())
	if s.Version != 5*n {
		t.Errorf("version %d after %d commits", s.Version, 5*n)
	}
	wants(t, keys(t, s, "s"), want...)
	for v := range s.Version + 1 {
		if rows := keys(t, open(t, NewLocal(dir), Version(v)), "s"); int64(len(rows)) != v {
			t.Errorf("version %d has %d rows", v, len(rows))
		}
	}
}

// stopping is a folder that kills the process at a step that changes it.
func stopping(dir string) *Local {
	at, err := strconv.Atoi(os.Getenv("RELGRAD_TEST_AT"))
	fatal(err)
	files := NewLocal(dir)
	files.pause = func() {
		if at--; at < 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour)
		}
	}
	return files
}

// stopChild replaces a row of a table that writes a checkpoint at each version.
func stopChild(files Files) {
	s, err := Open(files, Latest())
	fatal(err)
	tx, err := s.Begin(WriteOptions{})
	fatal(err)
	_, err = tx.Delete(Equal("k", int64(2)))
	fatal(err)
	fatal(tx.Write([]any{int64(10), 0.0, "new"}))
	next, err := tx.Commit("WRITE")
	fatal(err)
	_, err = next.Vacuum(0, false)
	fatal(err)
}

// stopped runs a child that is killed at a step; it returns false where the child has ended before it.
func stopped(t *testing.T, what, dir string, at int) bool {
	t.Helper()
	c := child(what, dir, fmt.Sprint("RELGRAD_TEST_AT=", at))
	err := c.Run()
	killed := c.ProcessState.Sys().(syscall.WaitStatus).Signaled()
	if err != nil && !killed {
		t.Fatal(err)
	}
	return killed
}

// TestKillCreate kills a writer that creates a table: it is not there, or whole.
func TestKillCreate(t *testing.T) {
	none, whole := 0, 0
	for at, killed := 0, true; killed; at++ {
		dir := filepath.Join(t.TempDir(), "new", "table")
		killed = stopped(t, "create", dir, at)
		s, err := Open(NewLocal(dir), Latest())
		if missing(err) {
			none++
			wants(t, keys(t, newTable(t, NewLocal(dir), TableOptions{}, []any{int64(2), 0.0, "x"}), "k"), "2")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		whole++
		wants(t, keys(t, s, "k"), "1")
	}
	if none < 5 || whole < 2 {
		t.Errorf("there was no table %d times and one %d times", none, whole)
	}
}

// TestKill kills a writer before and after each step that changes the folder: the table is what it was or what it was
// to become, and goes on.
func TestKill(t *testing.T) {
	outcomes := map[string]int{}
	for at := 0; ; at++ {
		dir := t.TempDir()
		files := NewLocal(dir)
		o := TableOptions{Configuration: map[string]string{"delta.checkpointInterval": "1",
			"delta.deletedFileRetentionDuration": "interval 0 seconds"}}
		s := newTable(t, files, o, []any{int64(1), 0.0, "old"}, []any{int64(2), 0.0, "old"})
		s = commit(t, begin(t, s), []any{int64(3), 0.0, "old"})
		killed := stopped(t, "stop", dir, at)
		got := strings.Join(keys(t, open(t, files, Latest()), "k"), " ")
		outcomes[got]++
		wants(t, keys(t, open(t, files, Latest()), "s"), map[string][]string{"1 2 3": {"old", "old", "old"},
			"1 10 3": {"new", "old", "old"}}[got]...)
		s = commit(t, begin(t, open(t, files, Latest())), []any{int64(20), 0.0, "next"})
		if _, err := s.Vacuum(0, false); err != nil {
			t.Error(err)
		}
		if rows := keys(t, open(t, files, Latest()), "k"); strings.Join(rows, " ") != got[:len(got)-1]+"20 3" {
			t.Errorf("stop %d: rows %v after %s", at, rows, got)
		}
		list, err := files.List("", "")
		if err != nil || slices.ContainsFunc(list, func(i Info) bool { return strings.Contains(i.Name, temporary) }) {
			t.Errorf("stop %d: %v (%v)", at, list, err)
		}
		if !killed {
			break
		}
	}
	if len(outcomes) != 2 || outcomes["1 2 3"] < 5 || outcomes["1 10 3"] < 10 {
		t.Errorf("the table was %v", outcomes)
	}
}

// TestConflicts: of two transactions the second is refused where the first has changed what it is about, and comes
// after it where not.
func TestConflicts(t *testing.T) {
	type change func(tx *Tx)
	write := func(k int64) change { return func(tx *Tx) { fatal(tx.Write([]any{k, 0.0, "x"})) } }
	erase := func(where ...Bound) change { return func(tx *Tx) { _, err := tx.Delete(where...); fatal(err) } }
	widen := func(tx *Tx) { fatal(tx.AddColumns(everything[:1])) }
	for _, c := range []struct {
		name          string
		first, second change
		refused       string
	}{
		{"two appends", write(5), write(6), ""},
		{"an append after a deletion", erase(Equal("k", int64(1))), write(5), ""},
		{"two deletions of one row", erase(Equal("k", int64(1))), erase(Equal("k", int64(1))), "removed here too"},
		{"two deletions in different files", erase(Equal("k", int64(1))), erase(Equal("k", int64(2))), ""},
		{"a deletion after an append of other rows", write(5), erase(Equal("k", int64(1))), ""},
		{"a deletion after an append of such rows", write(1), erase(Equal("k", int64(1))), "deleted here"},
		{"a deletion of all after an append", write(5), erase(), "deleted here"},
		{"an append after a new column", widen, write(5), "metadata"},
		{"a new column after an append", write(5), widen, ""},
	} {
		files := NewLocal(t.TempDir())
		s := newTable(t, files, TableOptions{}, []any{int64(1), 0.0, "a"})
		s = commit(t, begin(t, s), []any{int64(2), 0.0, "b"})
		one, two := begin(t, s), begin(t, s)
		c.first(one)
		c.second(two)
		commit(t, one)
		next, err := two.Commit("WRITE")
		if c.refused == "" {
			if err != nil || next.Version != 3 {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		sqlerrtest.Refused(t, err, "40001", c.refused)
		if v := open(t, files, Latest()).Version; v != 2 {
			t.Errorf("%s: version %d", c.name, v)
		}
		if list, _ := files.List("part", ""); len(list) > 3 {
			t.Errorf("%s: files that nobody needs: %v", c.name, list)
		}
	}
	files := NewLocal(t.TempDir())
	one, err := Create(files, fields, TableOptions{}, WriteOptions{})
	fatal(err)
	two, err := Create(files, fields, TableOptions{}, WriteOptions{})
	fatal(err)
	commit(t, one)
	_, err = two.Commit("CREATE")
	sqlerrtest.Refused(t, err, "42P07")
}
