package executor

import (
	"cmp"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cuda"
	"github.com/relgrad/relgrad/ra"
)

// notOnPlain are the tests of the executor that do not run on the plain device, by how their names begin, and why.
var notOnPlain = map[string]string{
	"TestByParts":           "asks for sums by parts, which only the processors make",
	"TestPartsThatCancel":   "asks for sums by parts",
	"TestWindowsOfWorkers":  "adds the rows of large frames anew for each row: minutes there",
	"TestFactorsThatCancel": "asks for sums by parts",
	"TestRowsFromFile":      "asks for reads of a file instead of its pages, and takes minutes",
	"TestModels":            "trains models of a size that takes minutes there",
	"TestSpilled":           "computes data larger than a budget: minutes there",
	"TestSmallestBudget":    "computes data larger than a budget: 85 s there",
	"TestCora":              "trains on Cora: minutes there",
	"TestSamplingWorkers":   "passes there, in 41 s",
	"TestSumsLeaveNothing":  "passes there, in 23 s",
	"TestLongSumOf":         "passes there, in 60 s",
	"TestRandomPlansSmall":  "cuts sums, which the processors do",
	"TestPlainDevice":       "is the test that runs the others",
}

// notOnCuda are those that do not run on a graphics processor besides.
var notOnCuda = map[string]string{
	"TestMeasureSites": "measures time",
	"TestFullDisk":     "asks for columns in files, which are the host's",
	"TestCudaDevice":   "is the test that runs the others",
	"TestCudaPlaces":   "is another one",
}

// skipOnDevice leaves these tests out on another device than the processors, unless -test.skip says what to leave out.
func skipOnDevice() {
	flag.Parse()
	if skip := flag.Lookup("test.skip").Value; *onDevice != "" && skip.String() == "" {
		names := []string{}
		for name := range notOnPlain {
			names = append(names, "^"+name)
		}
		if *onDevice == "cuda" {
			for name := range notOnCuda {
				names = append(names, "^"+name+"$")
			}
		}
		slices.Sort(names)
		if err := skip.Set(strings.Join(names, "|")); err != nil {
			panic(err)
		}
	}
}

// noCudaKernel are the kernels whose first sample a graphics processor has no text for, and why: the processors compute
// them, and a step of a user's that has them is refused.
var noCudaKernel = map[string]string{
	"dropout": "plans have its mask and a product instead",
}

// runsThere fails where a step with a kernel runs on the processors instead of the graphics processor of these tests,
// or does not though it is listed.
func runsThere(t *testing.T, name string, plan *ra.Plan, src ra.Source, env kernels.Env) {
	t.Helper()
	if *onDevice != "cuda" || os.Getenv("RELGRAD_CUDA_TEXTS") != "" { // then there are other samples, too
		return
	}
	p, err := CompileOn(t.Context(), plan, src, Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer closeDevices(p)
	defer p.Close()
	if err := p.Run(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	elsewhere := p.sites[0].sched.Code.(device.Partial).Elsewhere()
	if why := noCudaKernel[name]; (why != "") != (len(elsewhere) > 0) {
		t.Errorf("%s: %q run elsewhere; the list says %q", name, elsewhere, why)
	}
}

// TestCudaDevice runs tests of the executor on the graphics processor of the machine, and on a double of one: threads
// in their own order, and in a drawn one. It compiles as many kernels as there are different plans: RELGRAD_CUDA_PLANS
// says how many random ones.
func TestCudaDevice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs other tests once more")
	}
	plans := cmp.Or(os.Getenv("RELGRAD_CUDA_PLANS"), "6")
	env := []string{"RELGRAD_MOCK_MEMORY=16000000000", "RELGRAD_MOCK_FLAGS=-O0"}
	args := []string{"-test.short", "-device=cuda", "-plans=" + plans}
	const tests = "^(TestKernels|TestRandomPlans|TestTraining|TestPerStep|TestErrors|TestHaloRows|TestOneSiteFails|" +
		"TestEmptyAggregates|TestStepKeys|TestParametersInPlace|TestMaskDrawnAgain|TestStepsLeaveNothing|" +
		"TestMinusLabels|TestMinusWrongLabel|TestNullMoves|TestAddOfOneRow|TestSumsOfProducts|TestNarrowProducts|" +
		"TestConstantProducts|TestLongSumOfOuterProducts|TestDrawnProducts|TestNotNumbers|TestAhead)$"
	cudamock.Card(t, cuda.Absent, tests, args...)
	cudamock.Rerun(t, tests, env, args...)
	cudamock.Rerun(t, "^TestRandomPlans$", append(env, "RELGRAD_MOCK_SEED=7"), args...)
}

// TestCudaPlaces runs tests there of elements at computed places, of decimals, and of sums over frames.
func TestCudaPlaces(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs other tests once more")
	}
	const tests = "^(TestPlaces|TestDecimals|TestWindows|TestWindowsOfSteps|TestNoSubtraction)$"
	cudamock.Card(t, cuda.Absent, tests, "-test.short", "-device=cuda")
	cudamock.Rerun(t, tests, []string{"RELGRAD_MOCK_FLAGS=-O0"}, "-test.short", "-device=cuda")
	cudamock.Rerun(t, tests, []string{"RELGRAD_MOCK_FLAGS=-O0", "RELGRAD_MOCK_SEED=7"}, "-test.short", "-device=cuda")
}

// TestPlainDevice runs the tests of the executor on the plain device: what an instruction does must be in its data,
// since that device knows no form.
func TestPlainDevice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the other tests once more")
	}
	for name := range notOnPlain {
		list, err := exec.Command(os.Args[0], "-test.list=^"+name).Output()
		if err != nil || !strings.HasPrefix(string(list), name) {
			t.Errorf("no test begins with %s: %v", name, err)
		}
	}
	out, err := exec.Command(os.Args[0], "-test.short", "-test.v", "-device=plain", "-plans=150").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n--- PASS: "); n < 40 {
		t.Errorf("%d tests ran on the plain device, expected at least 40:\n%s", n, out)
	}
}
