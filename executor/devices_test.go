package executor

import (
	"cmp"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/cudamock"
)

// notOnPlain are the tests of the executor that do not run on the plain device, by how their names begin, and why.
var notOnPlain = map[string]string{
	"TestByParts":           "asks for sums by parts, which only the processors make",
	"TestPartsThatCancel":   "asks for sums by parts",
	"TestFactorsThatCancel": "asks for sums by parts",
	"TestRowsFromFile":      "asks for reads of a file instead of its pages, and takes minutes",
	"TestModels":            "trains models of a size that takes minutes there",
	"TestSpilled":           "computes data larger than a budget: minutes there",
	"TestSmallestBudget":    "computes data larger than a budget: 85 s there",
	"TestCora":              "trains on Cora: minutes there",
	"TestSamplingWorkers":   "passes there, in 41 s",
	"TestSumsLeaveNothing":  "passes there, in 23 s",
	"TestPlainDevice":       "is the test that runs the others",
}

// notOnCuda are those that do not run on a graphics processor besides.
var notOnCuda = map[string]string{
	"TestMeasureSites": "measures time",
	"TestFullDisk":     "asks for columns in files, which are the host's",
	"TestCudaDevice":   "is the test that runs the others",
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

// TestCudaDevice runs tests of the executor on a double of a graphics processor: threads in their own order, and in a
// drawn one. It compiles as many kernels as there are different plans: RELGRAD_CUDA_PLANS says how many random ones.
func TestCudaDevice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs other tests once more")
	}
	plans := cmp.Or(os.Getenv("RELGRAD_CUDA_PLANS"), "6")
	env := []string{"RELGRAD_MOCK_MEMORY=16000000000"}
	args := []string{"-test.short", "-device=cuda", "-plans=" + plans}
	cudamock.Rerun(t, "^(TestKernels|TestRandomPlans|TestTraining|TestPerStep|TestErrors|TestHaloRows|TestOneSiteFails|"+
		"TestEmptyAggregates|TestStepKeys|TestParametersInPlace|TestMaskDrawnAgain|TestStepsLeaveNothing|"+
		"TestMinusLabels|TestMinusWrongLabel|TestNullMoves|TestAddOfOneRow)$", env, args...)
	cudamock.Rerun(t, "^TestRandomPlans$", append(env, "RELGRAD_MOCK_SEED=7"), args...)
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
	out, err := exec.Command(os.Args[0], "-test.short", "-test.v", "-device=plain").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n--- PASS: "); n < 40 {
		t.Errorf("%d tests ran on the plain device, expected at least 40:\n%s", n, out)
	}
}
