package executor

import (
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/cudatexts"
)

// TestCompiledKernels: NVIDIA's compiler makes code of all kernels of the tests, those that are generated too, for four
// targets; none has a stack, but for what a function of the compiler needs, or spills registers.
func TestCompiledKernels(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles all kernels of other tests")
	}
	cudatexts.Needed(t)
	dir := t.TempDir()
	env := []string{"RELGRAD_MOCK_MEMORY=16000000000", "RELGRAD_CUDA_TEXTS=" + dir}
	const tests, products = "^(TestKernels|TestRandomPlans|TestTraining|TestPerStep|TestPlaces|TestDecimals|TestWindows)$",
		"^TestDrawnProducts$"
	if cudamock.Rerun(t, tests, env, "-test.short", "-device=cuda", "-plans=12") &&
		cudamock.Rerun(t, products, env, "-test.short", "-device=cuda", "-library") {
		cudatexts.Check(t, dir)
	}
}
