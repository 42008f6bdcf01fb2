package examples

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/cudatexts"
	"github.com/relgrad/relgrad/internal/docstest"
	"github.com/relgrad/relgrad/internal/need"
)

// slowOnTheDouble are the examples that take long on the double of a graphics processor: they train for so many epochs
// there. RELGRAD_GRAPHICS=all runs them as they are.
var slowOnTheDouble = map[string]int{"gcn/cora.sql": 2, "gcn/cora_loop.sql": 2, "nnmf/movies.sql": 2,
	"nnmf/genes.sql": 2, "mlp/digits.sql": 1, "attention/language_model.sql": 3, "kge/transe.sql": 1, "kge/transr.sql": 1,
	"gcn/sampled.sql": 2}

// TestGraphics: the examples reach their figures on a double of a graphics processor; their first losses are those of
// the processors.
func TestGraphics(t *testing.T) {
	if testing.Short() {
		t.Skip("trains models")
	}
	double(t)
	for _, e := range ours {
		t.Run(e.script, func(t *testing.T) {
			script, run, tol := filepath.Join(need.Root(), "examples", e.script), e.run, 1e-5
			if epochs := slowOnTheDouble[e.script]; epochs > 0 && os.Getenv("RELGRAD_GRAPHICS") != "all" {
				script, run = shortened(t, e.script, epochs), e.runShortened
				tol = 1e-4 // with fewer rows a gradient may be near 0, and Adam takes a whole step by its sign
			}
			here, printed := run(t, script)
			there, out := run(t, script, "--device", "cuda")
			if len(there) != len(here) {
				t.Fatalf("%d runs, on the processors %d", len(there), len(here))
			}
			same := e.same || len(here) == 0 // it may train by itself
			if err := docstest.Close(printed, out, stepLoss); same && err != nil {
				t.Errorf("%v\n%s\non the processors:\n%s", err, tail(out), tail(printed))
			}
			for run, losses := range there {
				for step, want := range here[run][:min(sameSteps, len(here[run]))] {
					if !(math.Abs(losses[step]-want) <= tol*math.Abs(want)) {
						t.Errorf("run %s, step %d: the loss is %g, on the processors %g", run, step+1, losses[step], want)
					}
				}
			}
		})
	}
}

// shortened is a copy of a script that trains for so many epochs, or takes so many steps.
func shortened(t *testing.T, script string, epochs int) string {
	t.Helper()
	dir, to := filepath.Join(need.Root(), "examples", filepath.Dir(script)), t.TempDir()
	all, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	cut := false
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		short := steps.ReplaceAll(text, fmt.Appendf(nil, "${1}%d", epochs))
		short = bytes.ReplaceAll(short, []byte("warmup => 10"), []byte("warmup => 1"))
		cut = cut || !bytes.Equal(short, text) && filepath.Base(path) == filepath.Base(script)
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), short, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !cut {
		t.Fatalf("%s says nowhere how long it trains", script)
	}
	return filepath.Join(to, filepath.Base(script))
}

// steps is where a script says how long it trains.
var steps = regexp.MustCompile(`(epochs => |FOR step IN 1\.\.)(\d+|:epochs)`)

// runShortened runs a shortened script on a part of its data.
func (e *example) runShortened(t *testing.T, script string, options ...string) (map[string][]float64, string) {
	if e.data {
		data := need.Data(t)
		if files := fewer[e.script]; files != nil {
			data = part(t, data, files)
		}
		options = append(options, "-v", "data="+data)
	}
	return trained(t, script, options...)
}

// TestCompiledGraphics: NVIDIA's compiler makes code of all kernels of these examples.
func TestCompiledGraphics(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	cudatexts.Needed(t)
	dir := t.TempDir()
	t.Run("kept", func(t *testing.T) {
		double(t)
		t.Setenv("RELGRAD_CUDA_TEXTS", dir)
		for _, e := range ours {
			if epochs := slowOnTheDouble[e.script]; epochs > 0 {
				e.runShortened(t, shortened(t, e.script, epochs), "--device", "cuda")
			} else {
				e.run(t, filepath.Join(need.Root(), "examples", e.script), "--device", "cuda")
			}
		}
	})
	cudatexts.Check(t, dir)
}

// double has the programs of a test run on a double of a graphics processor.
func double(t *testing.T) {
	t.Helper()
	for _, v := range cudamock.Env(t) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
}
