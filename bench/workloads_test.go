package bench

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// runner has its data in a folder of the test.
func runner(t *testing.T) *Runner {
	t.Helper()
	root, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Relgrad: built, Root: t.TempDir(), Python: Python(root), Log: &bytes.Buffer{}}
	if err := r.unpack(); err != nil {
		t.Fatal(err)
	}
	return r
}

// realData sets RELGRAD_DATA for a workload that reads it.
func realData(t *testing.T, w *Workload) {
	if w.RealData {
		t.Setenv("RELGRAD_DATA", need.Data(t))
	}
}

// TestScripts runs each script on little data: it trains, to a lower loss where each step sees the same data, or gives
// a number. Then its profile names instructions, whose least time is no more than theirs.
func TestScripts(t *testing.T) {
	need.Time(t)
	for _, w := range Workloads {
		t.Run(w.Name, func(t *testing.T) {
			realData(t, w)
			r := runner(t)
			run, err := r.Ours(context.Background(), w, w.values(small), Limit{Steps: 4, Seconds: 2})
			if err != nil {
				t.Fatal(err)
			}
			_, batches := w.values(small)["batch"]
			first, last := run.Loss[0], run.Loss[len(run.Loss)-1]
			if len(run.Steps) < 2 || run.Peak < 1e6 || run.Setup < 0 || !(first > 0) || w.Query == "" &&
				!batches && !(last < first) {
				t.Errorf("%+v", run)
			}
			p, err := profileOf(context.Background(), r, w, w.values(small))
			if err != nil {
				t.Fatal(err)
			}
			if ms, least := p.Ms(); !(ms > 0) || !(least > 0) || p.Lines[0].What == "" || (p.Structure > 0) != batches ||
				!strings.Contains(p.String(), "| `"+p.Lines[0].What[:2]) {
				t.Errorf("%+v\n%s", p, p)
			}
		})
	}
}

// TestAgreement compares losses with those of the first peer; `relgrad bench` does so with all of them.
func TestAgreement(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("RELGRAD_REQUIRE"), ","), "peers") {
		t.Skip("minutes of what relgrad bench does anyway; RELGRAD_REQUIRE=peers runs it")
	}
	for _, w := range Workloads {
		t.Run(w.Name, func(t *testing.T) {
			realData(t, w)
			res := &Result{Workload: w, Programs: []*Program{{Peer: Peer{Name: "relgrad"}}}}
			for _, p := range w.Peers[:1] {
				res.Programs = append(res.Programs, &Program{Peer: p})
			}
			if err := runner(t).agree(context.Background(), res); err != nil {
				t.Fatal(err)
			}
			for _, p := range res.Programs {
				if p.Reason != "" {
					t.Errorf("%s: %s", p.Name, p.Reason)
				}
			}
			t.Logf("%v agree", res.Agreed)
		})
	}
}

// TestData: the same numbers again, and an adjacency matrix as it should be.
func TestData(t *testing.T) {
	for _, w := range Workloads {
		var texts [2][]byte
		for i := range texts {
			dir, err := w.folder(t.TempDir(), w.values(small))
			if err != nil {
				t.Fatal(err)
			}
			list, err := filepath.Glob(filepath.Join(dir, "*.npz"))
			if err != nil || len(list) < 2 {
				t.Fatalf("%s: files %v, %v", w.Name, list, err)
			}
			for _, file := range list {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				texts[i] = append(texts[i], text...)
			}
		}
		if !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("%s: other data the second time", w.Name)
		}
	}
}

// TestProfile reads times of plain instructions and of passes, the longest first; of what is computed once where a step
// is empty.
func TestProfile(t *testing.T) {
	const text = "limits: 300 Gflop/s, 20 GB/s read\nonce per run:\n  v1   real = sum over 2 rows: x  [2 flop, 8 B]\n   " +
		"     3 ms, 1 Gflop/s, 2 GB/s: 50 % of the machine's memory\n  total 1 instructions\n" +
		"structure of a step: 2 ms\neach step:\n"
	p, err := readProfile(text + "  total 0 instructions\n")
	if err != nil || len(p.Lines) != 1 || p.Lines[0].What != "v1   real = sum over 2 rows: x" || p.Structure != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	p, err = readProfile(text +
		"  v2   real = map over 2 rows: y  [2 flop, 8 B]\n        1 ms, 1 Gflop/s, 2 GB/s: 50 % of the machine's memory\n" +
		"  one pass over 2 rows  [2 flop, 8 B]\n    v3: a|b\n    v4: c\n        4 ms, 7 Gflop/s, 9 GB/s: 25 % of the " +
		"machine's operations\n  total 2 instructions\n")
	if err != nil || len(p.Lines) != 2 ||
		p.Lines[0] != (ProfileLine{"one pass over 2 rows; v3: a|b; v4: c", 4, 7, 9, 25, "operations"}) {
		t.Fatalf("%+v, %v", p, err)
	}
	if ms, least := p.Ms(); ms != 7 || least != 3.5 {
		t.Errorf("%g ms, at least %g", ms, least)
	}
	if text := p.String(); !strings.Contains(text,
		"| `one pass over 2 rows; v3: a\\|b; v4: c` | 4 ms | 57 % | 7 | 9 | 25 % of operations |") ||
		!strings.Contains(text, "| structure | 2 ms | 29 % |") {
		t.Error(text)
	}
	for _, bad := range []string{"", text[:20], "limits: 1\neach step:\n"} {
		if _, err := readProfile(bad); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}

func TestPowerLaw(t *testing.T) {
	const n, edges = 3000, 20000
	g := powerLaw(stream("test"), n, edges)
	if len(g.dst) != 2*edges+n {
		t.Fatalf("%d entries", len(g.dst))
	}
	degree, weight := make([]int, n), map[[2]int32]float32{}
	for i, d := range g.dst {
		degree[d]++
		weight[[2]int32{d, g.src[i]}] = g.weight[i]
	}
	for pair, w := range weight {
		want := 1 / math.Sqrt(float64(degree[pair[0]]*degree[pair[1]]))
		if weight[[2]int32{pair[1], pair[0]}] != w || math.Abs(float64(w)-want) > 1e-6 {
			t.Fatalf("entry %v is %g, not %g", pair, w, want)
		}
	}
	slices.Sort(degree)
	if weight[[2]int32{5, 5}] == 0 || degree[n-1] < 5*degree[n/2] {
		t.Errorf("no self-loop, or even degrees: largest %d, median %d", degree[n-1], degree[n/2])
	}
}

// TestJudge: bars name a peer or mean the fastest one that was not helped by hand; who is missing misses nothing.
func TestJudge(t *testing.T) {
	run := func(s float64) []*Run { return []*Run{{Steps: []float64{100, s, s}, Peak: 2e9}} }
	res := &Result{Workload: &Workload{Name: "w", Bars: []Bar{{"", 2}, {"slow", 9}, {"hand", 1}, {"gone", 1}}, Memory: 1},
		Programs: []*Program{
			{Peer: Peer{Name: "relgrad"}, Runs: []*Run{{Steps: []float64{1, 1, 1}, Peak: 2e9}}},
			{Peer: Peer{Name: "slow"}, Runs: run(8)}, {Peer: Peer{Name: "fast"}, Runs: run(3)},
			{Peer: Peer{Name: "hand", Apart: true}, Runs: run(1.5)},
			{Peer: Peer{Name: "gone"}, Reason: "missing"}}}
	got := res.judge()
	if got[0].Against != "fast" || got[0].Reached != 3 || got[1].Reached != 8 || !got[1].Missed() ||
		got[2].Reached != 1.5 || got[3].Missed() {
		t.Errorf("%+v", got)
	}
	if missed := res.Missed(); len(missed) != 2 || !strings.Contains(missed[0], "slow") ||
		!strings.Contains(missed[1], "memory") {
		t.Errorf("%q", missed)
	}
	if text := Report([]*Result{res}); !strings.Contains(text,
		"| w | 2 | 3.00 | fast | 1 GB | 2.00 GB | met, **memory** |") ||
		!strings.Contains(text, "| not measured, **memory** |") {
		t.Error(text)
	}
}
