package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// TestSites: in each step of each workload every exchange moves the bytes that were predicted for it, exactly, at any
// number of sites; where rows are drawn anew in each step, those predicted from the rows drawn. The loss stays that of
// one site.
func TestSites(t *testing.T) {
	need.Time(t)
	for _, w := range Workloads {
		t.Run(w.Name, func(t *testing.T) {
			realData(t, w)
			r, loss := runner(t), []float64(nil)
			for _, sites := range []int{1, 2, 3, 4, 7, 8, 16} {
				run, err := AtSites(context.Background(), r, w, w.values(small), sites, Limit{Steps: 3, Seconds: 1e9}, nil, nil)
				if err != nil {
					t.Fatalf("%d sites: %v", sites, err)
				}
				if run.Unequal != "" || (run.Compared > 0) != (sites > 1) || len(run.Holds) != sites || run.Largest() <= 0 {
					t.Errorf("%d sites: %d exchanges compared, %d bytes held; %s", sites, run.Compared, run.Holds, run.Unequal)
				}
				if sites == 1 {
					loss = run.Loss
				}
				for i, x := range run.Loss[:2] { // rates are such that differences grow in each step
					if !(math.Abs(x-loss[i]) <= agreement*math.Abs(loss[i])) {
						t.Errorf("losses are %v at %d sites, %v at one", run.Loss, sites, loss)
						break
					}
				}
			}
		})
	}
}

// TestSitesReport: the report has a step beside one site, and every exchange with its bytes; other bytes and other
// losses are missed.
func TestSitesReport(t *testing.T) {
	need.Time(t)
	r, w := runner(t), workload("logreg")
	res, err := MeasureSites(context.Background(), r, w, small, []int{2, 3}, 2, Limit{Steps: 3, Seconds: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	if missed := res.Missed(); missed != nil || len(res.Counts) != 2 {
		t.Fatalf("%q, %d counts", missed, len(res.Counts))
	}
	text := SitesReport([]*SitesResult{res, {Workload: workload("cora"), Failed: "missing: real data"}})
	for _, want := range []string{"| logreg | 2 |", "| logreg | 3 |", "### logreg\n\nn 1000, features 10\n",
		"## A simulated step", "| logreg | 3 | ", "## The papers' tables", "| logreg | any | ",
		"| logreg | data parallel | ", "| 2 | BCAST | ", "| 3 | all |  |  | ", "not measured: missing: real data"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	run := res.Counts[0].All[0]
	if run.Simulated <= 0 || res.Named[0].Runs[0].Simulated <= 0 || run.off() != run.Simulated/Median(run.Steps) {
		t.Errorf("%g seconds are simulated, %g for any plan", run.Simulated, res.Named[0].Runs[0].Simulated)
	}
	run.Unequal, run.Loss[1] = "BCAST moves too much", 2*run.Loss[1]
	text = SitesReport([]*SitesResult{res})
	if missed := res.Missed(); len(missed) != 2 || !strings.Contains(text, "**no**: BCAST moves too much") {
		t.Errorf("%q\n%s", missed, text)
	}
}

// TestCompared: of exchanges that move other bytes than predicted, more or fewer, the first is told.
func TestCompared(t *testing.T) {
	for _, moved := range []int64{7, 9} {
		x := executor.Exchanged{Node: &physical.Node{Op: physical.Bcast}, Columns: []string{"v"}, Predicted: 8, Moved: moved}
		even := x
		even.Moved = 8
		run := &SiteRun{Exchanges: []executor.Exchanged{even, x, {Node: x.Node, Moved: 1}}}
		run.compare(3)
		if want := fmt.Sprintf("step 3: BCAST of v moves %d bytes, not 8", moved); run.Unequal != want || run.Compared != 3 {
			t.Errorf("%d compared: %q, not %q", run.Compared, run.Unequal, want)
		}
	}
}

// TestSitesNumbers: ratios are over one site of the same round; of the plans that have names, and of these alone, it is
// said which is predicted, and which is measured, to take least.
func TestSitesNumbers(t *testing.T) {
	run := func(predicted, step float64) *SiteRun {
		return &SiteRun{Sites: 4, Predicted: predicted, Simulated: 2 * predicted, Steps: []float64{step}, Holds: []int64{1},
			Loss: []float64{1, 1}}
	}
	at := &AtCount{Sites: 4, One: []*SiteRun{run(0, 2), run(0, 4)}, All: []*SiteRun{run(0, 4), run(0, 16)}}
	if got := at.ratios(); !slices.Equal(got, []float64{2, 4}) {
		t.Errorf("ratios are %v", got)
	}
	s := &SitesResult{Workload: workload("logreg"), Named: []Named{{"", []*SiteRun{run(1, 1)}},
		{"BMM", []*SiteRun{run(2, 9)}}, {"CMM", []*SiteRun{run(3, 5)}}, {"RMM", nil}}}
	table := &Table{Head: []string{"workload", "plan", "predicted", "simulated", "measured", ""}}
	s.named(table)
	for _, want := range []string{"| any | 1 s | 2 s | 1 s |  |", "| BMM | 2 s | 4 s | 9 s | least predicted |",
		"| CMM | 3 s | 6 s | 5 s | least measured |"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
}

// TestSitesPage: the measured page has the comparisons with the papers as they are now.
func TestSitesPage(t *testing.T) {
	text, err := os.ReadFile("SITES.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n"+papers) {
		t.Error("SITES.md has other comparisons than papers.md")
	}
}
