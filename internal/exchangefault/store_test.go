package exchangefault

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stored is all that training writes.
const stored = "SELECT * FROM w ORDER BY u; SELECT * FROM h ORDER BY i; " +
	"SELECT step, loss FROM relgrad.loss ORDER BY step"

// runs runs a script on a store with the program.
func (p *Program) runs(store, script string) (out string, err error) {
	text, err := exec.Command(p.File, "run", "-q", "--sites", "3", "--format", "csv", "--store", store, "-c", script).
		CombinedOutput()
	return string(text), err
}

// TestStoreEnds: whatever happens to a site in the middle of an exchange of training, the statement ends with one
// error, the store holds what was committed, and the run goes on from there to the same bits as an undisturbed one.
func TestStoreEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds relgrad with another network")
	}
	dir := t.TempDir()
	p := Build(t, dir)
	begin, whole := filepath.Join(dir, "begin.db"), filepath.Join(dir, "whole.db")
	must := func(store, script string) string {
		t.Helper()
		out, err := p.runs(store, script)
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return out
	}
	must(begin, Model)
	copyFile(t, begin, whole)
	before := must(begin, stored)
	must(whole, Train)
	want := must(whole, stored)
	n := 0
	for _, place := range []string{"before", "amid", "behind"} {
		for _, passed := range []int{0, 1, 2, 3, 5, 17} {
			for i, what := range slices.Sorted(maps.Keys(outcomes)) {
				c, site := outcomes[what], (i+passed)%3
				if n++; what == "wait" && place == "amid" {
					continue
				}
				name := fmt.Sprintf("%s of site %d %s exchange %d", what, site, place, passed)
				store := filepath.Join(dir, fmt.Sprintf("s%d.db", n))
				copyFile(t, begin, store)
				p.Plan(t, what, site, place, passed)
				out, err := p.disturbed(t, store, what)
				if status := exitStatus(err); status != c.exit {
					t.Fatalf("%s: exit status %d, expected %d\n%s", name, status, c.exit, out)
				}
				if errs := strings.Count(out, "ERROR:"); what != "kill" && (errs != 1 || !strings.Contains(out, c.says)) {
					t.Errorf("%s: %d errors, expected one with %q:\n%s", name, errs, c.says, out)
				}
				run := must(store, "SELECT step, status FROM relgrad.run")
				if !strings.HasSuffix(run, ","+c.status+"\n") {
					t.Errorf("%s: the run is %q, expected %s", name, run, c.status)
				}
				if got := must(store, stored); strings.HasPrefix(run, "step,status\n0,") && got != before {
					t.Errorf("%s: what is stored has changed from\n%s\nto\n%s", name, before, got)
				}
				must(store, "CALL train(resume => 1)")
				if got := must(store, stored); got != want {
					t.Errorf("%s: the run that goes on ends with\n%s\nan undisturbed one with\n%s", name, got, want)
				}
			}
		}
	}
}

// outcomes are what can happen to a site, and how the process that trains and its run end.
var outcomes = map[string]struct {
	exit         int
	says, status string
}{
	"kill":   {-1, "", "interrupted"},
	"panic":  {3, "internal error: planted", "failed"},
	"memory": {3, "out of memory", "failed"},
	"error":  {3, "ERROR:  planted", "failed"},
	"wait":   {130, "training was cancelled after step", "cancelled"},
}

// disturbed trains. A site that waits is cancelled as by Ctrl-C.
func (p *Program) disturbed(t *testing.T, store, what string) (string, error) {
	t.Helper()
	cmd := exec.Command(p.File, "run", "-q", "--sites", "3", "--store", store, "-c", Train)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer overdue.Stop()
	p.Happened(t, 20*time.Second)
	if what == "wait" {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	err := cmd.Wait()
	return out.String(), err
}

func exitStatus(err error) int {
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	return 0
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
