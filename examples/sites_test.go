package examples

import (
	"fmt"
	"math"
	"os"
	"testing"
)

// sameSteps is over how many steps losses are compared: sums of real in another order lead training further and further
// apart.
const sameSteps = 5

// atSites runs the script at several sites: it must reach its figure, and its first losses must be those of one site.
// RELGRAD_SITES=all tries more numbers of sites.
func (e *example) atSites(t *testing.T, script string, alone map[string][]float64) {
	numbers := []int{3}
	if os.Getenv("RELGRAD_SITES") == "all" {
		numbers = []int{2, 3, 7, 16}
	}
	for _, n := range numbers {
		for run, losses := range e.run(t, script, "--sites", fmt.Sprint(n)) {
			for step, want := range alone[run][:min(sameSteps, len(alone[run]))] {
				if !(math.Abs(losses[step]-want) <= 1e-5*math.Abs(want)) {
					t.Errorf("%d sites, run %s, step %d: the loss is %g, at one site %g", n, run, step+1, losses[step], want)
				}
			}
		}
	}
}
