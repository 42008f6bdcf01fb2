package examples

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/relgrad/relgrad/internal/docstest"
)

// sameSteps is over how many steps losses are compared: sums of real in another order lead training further and further
// apart.
const sameSteps = 5

// atSites runs the script at several sites: it must reach its figure, and its first losses must be those of one site;
// what it prints, too, if the example says so. RELGRAD_SITES=all tries more numbers of sites.
func (e *example) atSites(t *testing.T, script string, alone map[string][]float64, printed string) {
	numbers := []int{3}
	if os.Getenv("RELGRAD_SITES") == "all" {
		numbers = []int{2, 3, 7, 16}
	}
	for _, n := range numbers {
		found, out := e.run(t, script, "--sites", fmt.Sprint(n))
		if err := docstest.Close(printed, out, stepLoss); e.same && err != nil {
			t.Errorf("%d sites: %v\n%s\nat one site:\n%s", n, err, tail(out), tail(printed))
		}
		for run, losses := range found {
			for step, want := range alone[run][:min(sameSteps, len(alone[run]))] {
				if !(math.Abs(losses[step]-want) <= 1e-5*math.Abs(want)) {
					t.Errorf("%d sites, run %s, step %d: the loss is %g, at one site %g", n, run, step+1, losses[step], want)
				}
			}
		}
	}
}
