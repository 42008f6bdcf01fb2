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
// test passes without a fault, under the same limits.
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
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/need"
)

// fault is a planted fault.
type fault struct {
	name, file string
	old, new   string
	test       string // the catching test: package and arguments
}

var only = flag.String("fault", "", "plant only the faults whose name contains this text")

// TestFaultsAreCaught plants every fault, two at a time.
func TestFaultsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("needs time: planted faults are not applied with -short")
	}
	if len(faults) < 60 {
		t.Fatalf("%d planted faults, expected at least 60", len(faults))
	}
	controls(t)
	todo := make(chan fault)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for f := range todo {
				begin := time.Now()
				if err := f.caught(t.TempDir()); err != nil {
					t.Errorf("%s (%s): %v", f.name, f.file, err)
				}
				t.Logf("%5.1f s: %s (go test %s)", time.Since(begin).Seconds(), f.name, f.test)
			}
		}()
	}
	planted := 0
	for _, f := range faults {
		if strings.Contains(f.name, *only) {
			planted++
			todo <- f
		}
	}
	close(todo)
	wg.Wait()
	if planted == 0 {
		t.Errorf("no fault has %q in its name", *only)
	}
}

// controls runs the catching tests without a fault: what fails by itself catches nothing.
func controls(t *testing.T) {
	ran := map[string]bool{}
	for _, f := range faults {
		if ran[f.test] || !strings.Contains(f.name, *only) {
			continue
		}
		ran[f.test] = true
		begin := time.Now()
		out, err := run(f.test)
		t.Logf("%5.1f s: go test %s", time.Since(begin).Seconds(), f.test)
		if err != nil {
			t.Fatalf("go test %s fails without a fault: %v\n%s", f.test, err, out)
		}
	}
}

// run runs a catching test. A fault may make plans grow without end: 6 GiB of address space are more than any sound
// run takes.
func run(test string, flags ...string) ([]byte, error) {
	args := slices.Concat([]string{"test", "-count=1", "-vet=off", "-timeout=120s"}, flags, strings.Fields(test))
	cmd := exec.Command("bash", append([]string{"-c", `ulimit -v 6291456; exec go "$@"`, "go"}, args...)...)
	cmd.Dir = need.Root()
	return cmd.CombinedOutput()
}

// caught applies the fault and runs its test, which must fail by itself, not by not compiling.
func (f fault) caught(dir string) error {
	root := need.Root()
	path := filepath.Join(root, f.file)
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := strings.Count(string(src), f.old); n != 1 {
		return fmt.Errorf("its text occurs %d times in the file, not once: %q", n, f.old)
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(src), f.old, f.new, 1)), 0o600); err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return err
	}
	out, err := run(f.test, "-failfast", "-overlay="+list)
	switch {
	case err == nil:
		return fmt.Errorf("not caught by go test %s", f.test)
	case strings.Contains(string(out), "[build failed]"), strings.Contains(string(out), "[setup failed]"):
		return fmt.Errorf("it does not compile:\n%s", out)
	case !strings.Contains(string(out), "FAIL"):
		return fmt.Errorf("the test did not run: %v\n%s", err, out)
	}
	return nil
}
