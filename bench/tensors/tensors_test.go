package tensors

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/interop/delta/layouts"
)

// measured runs a measurement of small tensors in a folder of the test.
func measured(t *testing.T, o Options, names ...string) (results []*Result) {
	t.Helper()
	o.Rounds, o.Quick, o.Root, o.Log = 1, true, t.TempDir(), t.Output()
	for _, in := range Named(names) {
		res, err := Measure(t.Context(), in, o)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, res)
	}
	return results
}

// TestAlone measures relgrad alone: it finds what it has stored, and the report has all its layouts.
func TestAlone(t *testing.T) {
	results := measured(t, Options{Alone: true}, "uint8", "pickups")
	report := Report(results)
	for _, r := range results {
		for _, c := range r.Cells {
			if c.Failed+c.Missing != "" || c.Bytes == 0 || slices.ContainsFunc(c.Seconds[:], func(s []float64) bool {
				return len(s) != 1
			}) {
				t.Errorf("%s: %+v", r.Name, c)
			}
			if !strings.Contains(report, "| relgrad | "+c.Form+" |") {
				t.Errorf("no %s in\n%s", c.Form, report)
			}
		}
	}
	if !strings.Contains(report, "| pickups: a slice of csf over a full read | 0.15 |") ||
		!strings.Contains(report, "| uint8: write of ftsf over deltalake's | 1 | not measured |  |") {
		t.Error(report)
	}
}

// TestMissing: without Python and without data the report says so.
func TestMissing(t *testing.T) {
	t.Setenv("RELGRAD_DATA", "")
	results := measured(t, Options{Python: "/none"}, "uint8", "med4")
	report := Report(results)
	for _, want := range []string{"| zarr | chunks |  |  |  | missing: no /none; scripts/bench-setup makes it |",
		"missing: real data (RELGRAD_DATA)"} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	for _, r := range results {
		if m := r.Missed(); len(m) > 0 {
			t.Errorf("missed: %q", m)
		}
	}
}

// TestPeers: the other programs find the same elements as relgrad, where their libraries are installed.
func TestPeers(t *testing.T) {
	python := need.Python(t)
	for _, r := range measured(t, Options{Python: python, Peers: filepath.Join(need.Root(), "bench", "peers")}, "uint8",
		"pickups") {
		for _, c := range r.Cells {
			if c.Failed != "" {
				t.Errorf("%s, %s %s: %s", r.Name, c.Program, c.Form, c.Failed)
			}
		}
	}
}

// TestFound: other elements are an error.
func TestFound(t *testing.T) {
	want := found{10, 5}
	for _, f := range []found{{9, 5}, {10, 5.1}, {10, math.NaN()}} {
		if f.same(want) == nil {
			t.Errorf("%v is %v", f, want)
		}
	}
	if err := (found{10, 5 + 1e-12}).same(want); err != nil {
		t.Error(err)
	}
}

// TestPickupsSize: as CSF, a tensor of the paper's shape with points around centres takes 6.7 % of its coordinates as
// int64 and its values as float32, at most.
func TestPickupsSize(t *testing.T) {
	if testing.Short() {
		t.Skip("stores 3.3 million elements")
	}
	x, err := pickups(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	files, n := delta.Memory{}, len(x.Coords[0])
	w, err := layouts.Write(files, "x", x, layouts.Options{Layout: "csf"})
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, b := range files { // the log too
		size += int64(len(b))
	}
	p := 100 * float64(size) / float64(n*(4*8+4))
	t.Logf("%d elements, data files of %d bytes, the table of %d: %.2f %%", n, w.Bytes, size, p)
	if n != 3309490 || p > 6.7 {
		t.Errorf("%d elements take %.2f %% of their coordinates and values, at most 6.7", n, p)
	}
}

// TestReal reads the real tensors.
func TestReal(t *testing.T) {
	t.Setenv("RELGRAD_DATA", need.Data(t))
	for name, count := range map[string]int64{"taxi": 974456, "med4": 100000} {
		in := Named([]string{name})[0]
		x, err := in.make(in, true)
		if err != nil {
			t.Fatal(err)
		}
		if f := (&measuring{}).found(x); f.Count != count {
			t.Errorf("%s: %d elements that are not zero, not %d", name, f.Count, count)
		}
	}
}

// TestMissed: the report in the repository tells what limits the figures that it misses.
func TestMissed(t *testing.T) {
	text, err := os.ReadFile("../DELTA.md")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "**missed**") && !strings.Contains(string(text), missed) {
		t.Error("DELTA.md misses figures and has another text on them than missed.md")
	}
}
