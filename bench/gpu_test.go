package bench

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/cudatexts"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// onDouble runs the command on a double of the driver.
func onDouble(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	c := exec.Command(built, append([]string{"bench", "gpu", "--quick"}, args...)...)
	c.Env = append(append(os.Environ(), cudamock.Env(t)...), "RELGRAD_BENCH_DATA="+t.TempDir())
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return out.String(), errs.String(), err
}

// TestCompiledBench: NVIDIA's compiler makes code of all kernels of the benchmark's workloads, and of its rates.
func TestCompiledBench(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	cudatexts.Needed(t)
	dir := t.TempDir()
	t.Setenv("RELGRAD_CUDA_TEXTS", dir)
	if out, errs, err := onDouble(t, "--rounds", "1", "--seconds", "0.001", "--alone"); err != nil {
		t.Fatalf("%v\n%s\n%s", err, errs, out)
	}
	cudatexts.Check(t, dir)
}

// TestGPU: on a double of the driver the whole benchmark runs to its end on tiny data, with the losses that the
// processors have, and the report says that it is a double. Peers run where they are required.
func TestGPU(t *testing.T) {
	need.Time(t)
	args := []string{"--rounds", "1", "--seconds", "0.001"}
	if !slices.Contains(strings.Split(os.Getenv("RELGRAD_REQUIRE"), ","), "peers") {
		args = append(args, "--alone")
	}
	out, errs, err := onDouble(t, args...)
	if err != nil || !strings.Contains(out, "**This is a double of NVIDIA's driver") {
		t.Fatalf("%v\n%s\n%s", err, errs, out)
	}
	steps, rest, _ := strings.Cut(out, "## All programs")
	for _, w := range OnCards {
		_, line, found := strings.Cut(steps, "\n| "+w.Name+": ")
		line, _, _ = strings.Cut(line, "\n")
		switch cells := strings.Split(line, " | "); {
		case !found:
			t.Errorf("%s is not in the report", w.Name)
		case len(cells) < 9 || !strings.HasSuffix(cells[1], "s") || !strings.Contains(cells[8], "e-"):
			t.Errorf("%s: %s", w.Name, line)
		case !strings.Contains(rest, "\n### "+w.Name+"\n\n| instruction |"):
			t.Errorf("%s has no profile", w.Name)
		}
	}
	if strings.Contains(out, "**failed**") {
		t.Error(out)
	}
}

// TestGPUWritesNoDouble: what a double gives is written nowhere.
func TestGPUWritesNoDouble(t *testing.T) {
	file := filepath.Join(t.TempDir(), "GPU.md")
	_, errs, err := onDouble(t, "--alone", "--write", file, "logreg")
	if _, missing := os.Stat(file); err == nil || missing == nil || !strings.Contains(errs, "the device is a double") {
		t.Errorf("%v, %v\n%s", err, missing, errs)
	}
}

// TestGPUPrepares: the data of a measurement can be made beforehand, without a device.
func TestGPUPrepares(t *testing.T) {
	r, w, o := runner(t), OnCards[1], CardOptions{Quick: true}
	if err := Prepare(context.Background(), r, w, o); err != nil {
		t.Fatal(err)
	}
	for _, v := range []Values{o.values(w), o.agreeing(w)} {
		dir, err := w.folder(r.Root, v)
		if err != nil {
			t.Fatal(err)
		}
		if stores, err := filepath.Glob(filepath.Join(dir, w.Load+"-*.db")); err != nil || len(stores) != 1 {
			t.Errorf("%v: stores %v, %v", v, stores, err)
		}
	}
}

// TestGPURepeats: trainings that draw have the same bits in several processes.
func TestGPURepeats(t *testing.T) {
	need.Time(t)
	out, errs, err := onDouble(t, "--repeat", "3", "transe")
	if err != nil || !strings.HasPrefix(out, "transe: 3 trainings have the same bits: ") {
		t.Errorf("%v\n%s\n%s", err, out, errs)
	}
	x := &Repeated{OnCard: OnCards[0], Hashes: []string{"a", "a", "b"}}
	if missed := x.Missed(); len(missed) != 1 || !strings.Contains(missed[0], "training 3 has other bits") {
		t.Errorf("%q", missed)
	}
}

// TestGPUDisagrees: other losses than the processors' end a measurement, and it is missed.
func TestGPUDisagrees(t *testing.T) {
	for off, wrong := range map[float64]bool{1 + agreement/2: false, 1 + 2*agreement: true, math.NaN(): true} {
		res := &CardResult{OnCard: OnCards[0]}
		turns := &turns{CardResult: res, cardRun: &cardRun{losses: []float64{5, 4, 3, 2, off}}}
		over := turns.ended(context.Background(), []float64{5, 4, 3, 2, 1})
		if over != wrong || (turns.err != nil) != wrong {
			t.Errorf("a loss of %g instead of 1: over %v, %v", off, over, turns.err)
		}
	}
	res := &CardResult{OnCard: OnCards[0], Failed: "the losses are others", Peers: []*LivePeer{
		{Peer: Peer{Name: "gone"}, Reason: "missing: it"}, {Peer: Peer{Name: "bad"}, Reason: "it broke", Failed: true}}}
	if missed := res.Missed(); len(missed) != 2 || !strings.Contains(missed[0], "others") ||
		!strings.Contains(missed[1], "bad: it broke") {
		t.Errorf("%q", missed)
	}
}

// TestGPUTurns: a turn ends with enough steps, of which the first does not count; after the last round training ends.
func TestGPUTurns(t *testing.T) {
	run := &cardRun{losses: []float64{5, 4, 3, 2}, steps: []float64{9, 9, 9}}
	res := &CardResult{OnCard: OnCards[0]}
	turns := &turns{CardResult: res, cardRun: run, o: CardOptions{Quick: true, Rounds: 3}}
	over := 0
	for _, took := range []float64{9, 7, 1, 3, 8, 4, 4, 9, 5, 7} {
		run.losses, run.steps = append(run.losses, 1), append(run.steps, took)
		if turns.ended(context.Background(), []float64{5, 4, 3, 2, 1}) {
			over = len(run.losses)
		}
	}
	if !slices.Equal(res.Steps, []float64{2, 4, 6}) || res.Counted != 6 || over != 14 || turns.err != nil {
		t.Errorf("turns of %v, %d steps counted, over after %d, %v", res.Steps, res.Counted, over, turns.err)
	}
}

// TestGPUReport: the report has floors, ratios by round, the fastest peer, calls in a step, and reasons.
func TestGPUReport(t *testing.T) {
	card := &Card{Info: cuda.Info{Name: "a card"}, Version: "1.2.3", Copies: 1e9, Products: 4e9, Library: "a library 7"}
	all := []*CardResult{{OnCard: &OnCard{Workload: workload("logreg"),
		Least: func(Values) (float64, float64) { return 8e6, 1e6 }}, Steps: []float64{0.004, 0.002}, Counted: 4, Off: 3e-8,
		Calls: cuda.Calls{Graphs: 4, Products: 3, Copies: 2}, Peers: []*LivePeer{
			{Peer: Peer{Name: "slow"}, Turns: []float64{0.008, 0.008}, Agreed: true, Versions: "slow 1"},
			{Peer: Peer{Name: "fast"}, Turns: []float64{0.004, 0.001}, Agreed: true, Versions: "fast 2"},
			{Peer: Peer{Name: "gone"}, Reason: "missing: it"},
			{Peer: Peer{Name: "bad"}, Reason: "it broke\nthere", Failed: true}}},
		{OnCard: &OnCard{Workload: workload("mlp")}, Refused: "no kernel for x"},
		{OnCard: &OnCard{Workload: workload("gcn")}, Failed: "other losses"}}
	text := CardReport(card, all)
	for _, want := range []string{"a card, ", "driver 1.2.3, for CUDA",
		"By a library 7 a product of matrices runs at 0.004 TFLOP/s",
		"| 3 ms | 2 ms – 4 ms | 2 ms | arithmetic | 1.50 | ", " | 3.0e-08 | fast | 0.75 |",
		"|  | slow (slow 1) | 8 ms | 3.00 | 2.00 – 4.00 | agree |", "|  | gone | missing: it |", "| **failed**: it broke |",
		"| logreg | 1 | 0 | 0.75 | 0.5 | 0 |", "| refused: no kernel for x |", "| **failed**: other losses |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "double of NVIDIA's") || !(&Card{Info: cuda.Info{Name: "mock 0"}}).Double() {
		t.Error("a card is taken for a double, or a double for a card")
	}
	card.Products = 0
	if s, by := card.floor(all[0]); s != 1e-3 || by != "memory" {
		t.Errorf("without a rate of products the floor is %g s, bound by %s", s, by)
	}
}

// TestLivePeer: a peer's process trains, waits, and takes turns; what it lacks, and how it fails, is told apart.
func TestLivePeer(t *testing.T) {
	const losses = `read first; echo noise; echo '{"loss": [3, 2, 1], "steps": [1, 1, 1], "versions": "it 1"}'; `
	for name, c := range map[string]struct {
		program, reason string
		failed          bool
		turns           []float64
	}{
		"works": {losses + `read then; echo '{"ready": true}'; while read turn; do echo '{"each": 0.25}'; done`, "", false,
			[]float64{0.25, 0.25}},
		"lacks":  {`read first; echo "missing: a thing" >&2; exit 1`, "missing: a thing", false, nil},
		"module": {`echo "ModuleNotFoundError: No module named 'x'" >&2; exit 1`, "missing: ModuleNotFoundError", false, nil},
		"breaks": {losses + `echo "it broke" >&2; exit 3`, "it broke", true, nil},
		"late":   {losses + `read then; echo '{"ready": true}'; read turn; exit 0`, "has ended: ", true, nil},
	} {
		r := runner(t)
		r.Python = filepath.Join(t.TempDir(), "python")
		if err := os.WriteFile(r.Python, []byte("#!/bin/bash\n"+c.program+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		o := CardOptions{Quick: true, Seconds: 0.1}
		all, err := startPeers(context.Background(), r, &OnCard{Workload: workload("logreg"), Beside: []Peer{{Name: "it"}}},
			r.Root, o)
		if err != nil {
			t.Fatal(err)
		}
		p := all[0]
		p.await(context.Background())
		p.turn(context.Background(), o)
		p.turn(context.Background(), o)
		p.end()
		if !strings.Contains(p.Reason, c.reason) || (c.reason == "") != (p.Reason == "") || p.Failed != c.failed ||
			!slices.Equal(p.Turns, c.turns) {
			t.Errorf("%s: %q, failed %v, turns %v", name, p.Reason, p.Failed, p.Turns)
		}
	}
	err := lacking(errors.New("x: exit status 1\nmissing: y"))
	if !errors.Is(err, ErrMissing) || err.Error() != "missing: y" {
		t.Error(err)
	}
}

// TestCopyText: NVIDIA's compiler makes code of the kernel that copies.
func TestCopyText(t *testing.T) {
	for _, target := range [][2]int{{7, 5}, {8, 0}, {9, 0}, {10, 0}} {
		out, err := cuda.Compile(copyText, target[0], target[1])
		if sqlerr.Code(err) == sqlerr.FeatureNotSupported {
			need.Absent(t, "nvrtc", err.Error())
		}
		if err != nil || len(out) == 0 {
			t.Errorf("%v: %d bytes, %v", target, len(out), err)
		}
	}
}
