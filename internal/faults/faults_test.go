// Package faults plants faults into copies of single files and checks that the tests catch each of them.
//
// # What
//
// Each fault is data: a file, a piece of its text, what stands there instead, and the test that must fail. The
// changed file is put over the real one by go test -overlay; nothing in the tree is touched.
//
// # Invariants
//
// A fault whose text is no longer in its file, or that does not compile, fails: the list stays true. Every catching
// test passes without a fault: make faults runs it so first, under the same limits.
//
// # Errors
//
// A fault that is not caught fails with its name and why it is one.
//
// # Where to add
//
// A fault is one entry of the list in list_test.go.
package faults

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

// fault is a planted fault.
type fault struct {
	name, file string
	old, new   string
	test       string // the catching test: package and arguments
}

var firstFailure = regexp.MustCompile(`--- FAIL: (\S+)`)

var only = flag.String("fault", "", "plant only the faults whose name contains this text")

// every is the n of RELGRAD_FAULTS=n: every n-th fault is planted.
func every(t *testing.T) int {
	text := cmp.Or(os.Getenv("RELGRAD_FAULTS"), "1")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("RELGRAD_FAULTS is %q, not a positive number", text)
	}
	return n
}

// TestTexts looks up the texts of all faults, also of those that are not planted.
func TestTexts(t *testing.T) {
	for _, f := range faults {
		if _, err := f.changed(); err != nil {
			t.Errorf("%s (%s): %v", f.name, f.file, err)
		}
	}
}

// TestFaultsAreCaught plants every fault that tests without a server catch.
func TestFaultsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("needs time: planted faults are not applied with -short")
	}
	if len(faults) < 60 {
		t.Fatalf("%d planted faults, expected at least 60", len(faults))
	}
	plant(t, func(f fault) bool { return !f.needsServer() })
}

// TestFaultsOfAnswersAreCaught plants those that a server's answers catch.
func TestFaultsOfAnswersAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("needs time: planted faults are not applied with -short")
	}
	pgcluster.Need(t)
	plant(t, fault.needsServer)
}

func (f fault) needsServer() bool {
	return strings.HasPrefix(f.test, same) || strings.HasPrefix(f.test, facts) || strings.Contains(f.test, "FromOutside")
}

// plant plants faults, two at a time.
func plant(t *testing.T, of func(fault) bool) {
	var planted []fault
	left, n := 0, every(t)
	for i, f := range faults {
		switch {
		case !of(f) || !strings.Contains(f.name, *only):
		case i%n == 0:
			planted = append(planted, f)
		default:
			left++
		}
	}
	if left > 0 {
		t.Run("others", func(t *testing.T) { t.Skipf("runs for long: %d more faults are planted by make faults", left) })
	}
	if len(planted) == 0 && !slices.ContainsFunc(faults, func(f fault) bool { return strings.Contains(f.name, *only) }) {
		t.Fatalf("no fault has %q in its name", *only)
	}
	checked := controls(planted)
	if n > 1 {
		checked = nil // make test, which plants some, runs all tests anyway
	}
	twoAtATime(checked, func(test string) {
		begin := time.Now()
		if out, err := run(test, "-timeout=600s"); err != nil { // many tests in one run
			t.Errorf("go test %s fails without a fault: %v\n%s", test, err, out)
		}
		t.Logf("%5.1f s: go test %s", time.Since(begin).Seconds(), test)
	})
	if t.Failed() {
		return // what fails by itself catches nothing
	}
	twoAtATime(planted, func(f fault) {
		begin := time.Now()
		by, err := f.caught(t.TempDir())
		if err != nil {
			t.Errorf("%s (%s): %v", f.name, f.file, err)
		}
		t.Logf("%5.1f s: %s (go test %s: %s)", time.Since(begin).Seconds(), f.name, f.test, by)
	})
}

// twoAtATime calls do with each of them.
func twoAtATime[T any](all []T, do func(T)) {
	todo := make(chan T)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for x := range todo {
				do(x)
			}
		}()
	}
	for _, x := range all {
		todo <- x
	}
	close(todo)
	wg.Wait()
}

// controls returns runs of all catching tests: those that differ in -run alone are one run, for linking a test takes
// longer than most of them.
func controls(planted []fault) []string {
	var order []string
	runs := map[string][]string{} // the tests of a package and its other arguments; none are all
	for _, f := range planted {
		at := strings.Index(f.test, " -run=")
		if at < 0 {
			at = len(f.test)
		}
		pkg, rest := f.test[:at], strings.TrimPrefix(f.test[at:], " -run=")
		test, args, _ := strings.Cut(rest, " ")
		key := strings.TrimSpace(pkg + " " + args)
		have, ok := runs[key]
		if !ok {
			order = append(order, key)
		}
		switch {
		case test == "":
			runs[key] = []string{""}
		case !slices.Contains(have, test) && !slices.Contains(have, ""):
			runs[key] = append(have, test)
		}
	}
	for i, key := range order {
		if only := strings.Join(runs[key], "|"); only != "" {
			order[i] += " -run=" + only
		}
	}
	return order
}

// run runs a catching test. A fault may make plans grow without end: 6 GiB of address space are more than any sound
// run takes.
func run(test string, flags ...string) ([]byte, error) {
	quick := []string{"-gcflags=-l", "-ldflags=-s"} // to compile and to link
	args := slices.Concat([]string{"test", "-count=1", "-vet=off", "-timeout=120s"}, quick, strings.Fields(test), flags)
	cmd := exec.Command("bash", append([]string{"-c", `ulimit -v 6291456; exec go "$@"`, "go"}, args...)...)
	cmd.Dir = need.Root()
	return cmd.CombinedOutput()
}

// changed is the text of the fault's file with the fault in it.
func (f fault) changed() (string, error) {
	src, err := os.ReadFile(filepath.Join(need.Root(), f.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(src), f.old); n != 1 {
		return "", fmt.Errorf("its text occurs %d times in the file, not once: %q", n, f.old)
	}
	return strings.Replace(string(src), f.old, f.new, 1), nil
}

// caught applies the fault and runs its test, which must fail by itself, not by not compiling.
// It returns the first that fails.
func (f fault) caught(dir string) (by string, err error) {
	text, err := f.changed()
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	path := filepath.Join(need.Root(), f.file)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	out, err := run(f.test, "-failfast", "-overlay="+list)
	switch {
	case err == nil:
		return "", fmt.Errorf("not caught by go test %s", f.test)
	case strings.Contains(string(out), "[build failed]"), strings.Contains(string(out), "[setup failed]"):
		return "", fmt.Errorf("it does not compile:\n%s", out)
	case !strings.Contains(string(out), "FAIL"):
		return "", fmt.Errorf("the test did not run: %v\n%s", err, out)
	}
	if failed := firstFailure.FindSubmatch(out); failed != nil {
		by = string(failed[1])
	}
	return by, nil
}
