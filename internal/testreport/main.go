// Command testreport reads the output of go test -json and prints what a person wants to see of it: one line for
// each package, the output of what failed, one line for each reason of skipping, and the totals.
//
// # What
//
// go test -json ./... | testreport. The last line is "N passed, N failed, N skipped", counting tests without
// sub-tests. The exit status is 1 when anything failed or nothing ran.
//
// # Invariants
//
// No failure goes unseen: a package that fails without a failing test (it does not build, it crashes, it runs out
// of time) counts as one failure.
//
// # Errors
//
// Lines that are not JSON are passed on as they are.
//
// # Where to add
//
// Nothing is registered here.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // seconds
}

// test is what is known of one test, or with an empty name of a package.
type test struct {
	output          []string
	parent, failing bool
}

type report struct {
	out                     io.Writer
	tests                   map[string]map[string]*test
	skips                   map[string][]string // reason → tests
	passed, failed, skipped int
}

func main() {
	r := newReport(os.Stdout)
	r.read(os.Stdin)
	if !r.finish() {
		os.Exit(1)
	}
}

func newReport(out io.Writer) *report {
	return &report{out: out, tests: map[string]map[string]*test{}, skips: map[string][]string{}}
}

func (r *report) read(in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				r.event(&e)
			} else {
				fmt.Fprintln(r.out, strings.TrimRight(line, "\n"))
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *report) get(pkg, name string) *test {
	if r.tests[pkg] == nil {
		r.tests[pkg] = map[string]*test{}
	}
	t := r.tests[pkg][name]
	if t == nil {
		t = &test{}
		r.tests[pkg][name] = t
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			r.get(pkg, name[:i]).parent = true
		}
	}
	return t
}

func (r *report) event(e *event) {
	if e.Action == "build-output" {
		fmt.Fprint(r.out, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	t := r.get(e.Package, e.Test)
	switch e.Action {
	case "output":
		t.output = append(t.output, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e, t)
		} else {
			r.endTest(e, t)
		}
	}
}

func (r *report) endTest(e *event, t *test) {
	switch e.Action {
	case "fail":
		t.failing = true
		r.get(e.Package, "").failing = true
		fmt.Fprint(r.out, strings.Join(t.output, ""))
	case "skip":
		why := reason(t.output)
		r.skips[why] = append(r.skips[why], e.Test)
	}
	if !t.parent {
		switch e.Action {
		case "pass":
			r.passed++
		case "fail":
			r.failed++
		case "skip":
			r.skipped++
		}
	}
	t.output = nil
}

// endPackage prints go test's own closing line of a package, and its output where it failed.
func (r *report) endPackage(e *event, t *test) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(r.out, "ok  \t%s\t%.1fs\n", e.Package, e.Elapsed)
	case "fail":
		if !t.failing {
			r.failed++
			r.unfinished(e.Package)
		}
		fmt.Fprint(r.out, strings.Join(t.output, ""))
	}
	delete(r.tests, e.Package)
}

// unfinished prints the output of tests that a crash or a time limit cut off.
func (r *report) unfinished(pkg string) {
	var names []string
	for name, t := range r.tests[pkg] {
		if name != "" && len(t.output) > 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprint(r.out, strings.Join(r.tests[pkg][name].output, ""))
	}
}

// reason takes the message of t.Skip out of a test's output.
func reason(output []string) string {
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if _, msg, ok := strings.Cut(line, ".go:"); ok {
			if _, msg, ok = strings.Cut(msg, ": "); ok {
				return msg
			}
		}
		return line
	}
	return "no reason given"
}

// finish prints the summary and reports success.
func (r *report) finish() bool {
	for pkg, tests := range r.tests { // packages without an end: go test itself was stopped
		if t := tests[""]; t != nil {
			r.failed++
			fmt.Fprintf(r.out, "FAIL\t%s\tdid not finish\n", pkg)
		}
	}
	reasons := slices.Sorted(maps.Keys(r.skips))
	for _, why := range reasons {
		tests, more := r.skips[why], ""
		if len(tests) > 6 {
			tests, more = tests[:6], ", …"
		}
		fmt.Fprintf(r.out, "SKIPPED %d: %s (%s%s)\n", len(r.skips[why]), why, strings.Join(tests, ", "), more)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return r.failed == 0 && r.passed > 0
}
