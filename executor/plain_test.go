package executor

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// notOnPlain are the tests of the executor that do not run on the plain device, and why.
var notOnPlain = map[string]string{
	"TestByParts":            "asks for sums by parts, which only the processors make",
	"TestPartsThatCancel":    "asks for sums by parts",
	"TestFactorsThatCancel":  "asks for sums by parts",
	"TestRowsFromFile":       "asks for reads of a file instead of its pages",
	"TestModels":             "trains models of a size that takes the plain device minutes",
	"TestCora":               "trains on Cora",
	"TestSpilled":            "needs data that do not fit into a budget",
	"TestSmallestBudget":     "needs data that do not fit into a budget",
	"TestFullDisk":           "needs data that do not fit into a budget",
	"TestSamplingWorkers":    "compares numbers of workers, of which the plain device has one",
	"TestSumsLeaveNothing":   "measures the memory of the processors' sums",
	"TestStepsLeaveNothing":  "measures memory over many steps",
	"TestLongSumOfOuter":     "sums more rows than are summed in single precision at once",
	"TestPlainDevice":        "is this test",
	"TestCancelledBeforeOnc": "counts how far the processors' work got",
	"TestCancel$":            "counts how far the processors' work got",
}

// TestPlainDevice runs the tests of the executor on the plain device: what an instruction does must be in its data,
// since that device knows no form.
func TestPlainDevice(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the other tests once more")
	}
	var without []string
	for name := range notOnPlain {
		without = append(without, "^"+name)
	}
	c := exec.Command(os.Args[0], "-test.short", "-test.v", "-device=plain", "-test.skip="+strings.Join(without, "|"))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n--- PASS: "); n < 40 {
		t.Errorf("%d tests ran on the plain device, expected at least 40:\n%s", n, out)
	}
}
