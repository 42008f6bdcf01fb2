package examples

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/cudatexts"
	"github.com/relgrad/relgrad/internal/docstest"
	"github.com/relgrad/relgrad/internal/need"
)

// slowOnTheDouble are the examples that take long on the double of a graphics processor. RELGRAD_GRAPHICS=all runs
// them.
var slowOnTheDouble = map[string]bool{"gcn/cora.sql": true, "gcn/cora_loop.sql": true, "nnmf/movies.sql": true,
	"nnmf/genes.sql": true, "mlp/digits.sql": true, "attention/language_model.sql": true, "kge/transe.sql": true,
	"kge/transr.sql": true}

// notOnGraphics are those that the device refuses, and why.
var notOnGraphics = map[string]string{"gcn/sampled.sql": "its features are of type decimal"}

// TestGraphics: the examples reach their figures on a double of a graphics processor; their first losses are those of
// the processors.
func TestGraphics(t *testing.T) {
	if testing.Short() {
		t.Skip("trains models")
	}
	double(t)
	for _, e := range onGraphics() {
		t.Run(e.script, func(t *testing.T) {
			script := filepath.Join(need.Root(), "examples", e.script)
			here, printed := e.run(t, script)
			there, out := e.run(t, script, "--device", "cuda")
			if err := docstest.Close(printed, out, stepLoss); e.same && err != nil {
				t.Errorf("%v\n%s\non the processors:\n%s", err, tail(out), tail(printed))
			}
			for run, losses := range there {
				for step, want := range here[run][:min(sameSteps, len(here[run]))] {
					if !(math.Abs(losses[step]-want) <= 1e-5*math.Abs(want)) {
						t.Errorf("run %s, step %d: the loss is %g, on the processors %g", run, step+1, losses[step], want)
					}
				}
			}
		})
	}
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
		for _, e := range onGraphics() {
			e.run(t, filepath.Join(need.Root(), "examples", e.script), "--device", "cuda")
		}
	})
	cudatexts.Check(t, dir)
}

// onGraphics are the examples that run on the double.
func onGraphics() []example {
	return slices.DeleteFunc(slices.Clone(ours), func(e example) bool {
		return notOnGraphics[e.script] != "" || slowOnTheDouble[e.script] && os.Getenv("RELGRAD_GRAPHICS") != "all"
	})
}

// double has the programs of a test run on a double of a graphics processor.
func double(t *testing.T) {
	t.Helper()
	for _, v := range cudamock.Env(t) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
}
