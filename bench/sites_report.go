package bench

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// AtCount is a workload at some sites beside one site, run alternately.
type AtCount struct {
	Sites    int
	One, All []*SiteRun // of each round
}

// ratios are the times of a step at the sites over those at one site, by round.
func (a *AtCount) ratios() (out []float64) {
	for i, x := range a.All {
		out = append(out, Median(x.Steps)/Median(a.One[i].Steps))
	}
	return out
}

// SitesResult is the measurement of a workload at several sites.
type SitesResult struct {
	*Workload
	Values
	Counts []*AtCount
	Named  []Named
	Failed string
}

// Named is a plan that has a name, at namedSites.
type Named struct {
	Name string
	Runs []*SiteRun // none: there is no such plan
}

const namedSites = 4

// sitesFull are numbers that have their full value in measurements at sites: with those for comparing losses nothing
// would be drawn, or little trained.
var sitesFull = []string{"fanout", "batch", "drawn", "dropout", "lr", "negatives", "triples", "entities"}

// AtSitesSize are the numbers of measurements at sites.
func AtSitesSize(n Number) float64 {
	if slices.Contains(sitesFull, n.Name) {
		return n.Full
	}
	return n.Agree
}

// MeasureSites runs a workload at each number of sites, alternately with one site.
func MeasureSites(ctx context.Context, r *Runner, w *Workload, numbers func(Number) float64, counts []int, rounds int,
	limit Limit) (*SitesResult, error) {
	if err := r.unpack(); err != nil {
		return nil, err
	}
	out := &SitesResult{Workload: w, Values: w.values(numbers)}
	if w.RealData && os.Getenv("RELGRAD_DATA") == "" {
		out.Failed = "missing: real data (RELGRAD_DATA)"
		return out, nil
	}
	for _, sites := range counts {
		at := &AtCount{Sites: sites}
		fmt.Fprintf(r.Log, "%s at %d sites\n", w.Name, sites)
		for range rounds {
			for _, n := range []int{1, sites} {
				run, err := measuring(ctx, r, w, out.Values, n, limit, nil)
				if err != nil && ctx.Err() == nil {
					out.Failed = fmt.Sprintf("%d sites: %s", n, reason(err))
					return out, nil
				}
				if err != nil {
					return nil, err
				}
				if n == 1 {
					at.One = append(at.One, run)
				} else {
					at.All = append(at.All, run)
				}
			}
		}
		out.Counts = append(out.Counts, at)
	}
	for _, name := range append([]string{""}, physical.Names...) {
		out.Named = append(out.Named, Named{Name: name})
	}
	for range rounds { // plans alternate
		for i := range out.Named {
			x := &out.Named[i]
			run, err := measuring(ctx, r, w, out.Values, namedSites, limit, func(db *relgrad.DB) {
				db.Cluster = &physical.Costs{Cluster: physical.InProcess, Only: x.Name}
			})
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err == nil:
				x.Runs = append(x.Runs, run)
			case sqlerr.Code(err) != sqlerr.FeatureNotSupported:
				return nil, err
			}
		}
	}
	return out, nil
}

// measuring runs a workload at sites whose limits are measured just before: other programs may take their part of the
// machine.
func measuring(ctx context.Context, r *Runner, w *Workload, v Values, sites int, limit Limit,
	prepare func(*relgrad.DB)) (*SiteRun, error) {
	limits, err := executor.MeasureSites(ctx, sites, 0)
	if err != nil {
		return nil, err
	}
	return AtSites(ctx, r, w, v, sites, limit, &limits, prepare)
}

// of is the median of something of several runs.
func of(runs []*SiteRun, what func(*SiteRun) float64) float64 { return Median(lists.Map(runs, what)) }

func (s *SiteRun) step() float64      { return Median(s.Steps) }
func (s *SiteRun) simulated() float64 { return s.Simulated }

// off is how much longer the simulated step is than the one measured.
func (s *SiteRun) off() float64 { return s.Simulated / s.step() }

// named compares the plans that have names.
func (s *SitesResult) named(t *Table) {
	best := func(what func(Named) float64) (name string) {
		least := math.Inf(1)
		for _, x := range s.Named[1:] {
			if x.Runs != nil && what(x) < least {
				name, least = x.Name, what(x)
			}
		}
		return name
	}
	predicted := func(x Named) float64 { return x.Runs[0].Predicted }
	took := func(x Named) float64 { return of(x.Runs, (*SiteRun).step) }
	for _, x := range s.Named {
		if x.Runs == nil {
			continue
		}
		note, name := "", x.Name
		if name == "" {
			name = "any"
		} else if name == best(predicted) {
			note = "least predicted"
		}
		if x.Name != "" && x.Name == best(took) {
			note = strings.TrimPrefix(note+", least measured", ", ")
		}
		t.Add(s.Name, name, Seconds(predicted(x)), Seconds(of(x.Runs, (*SiteRun).simulated)), Seconds(took(x)), note)
	}
}

// Missed lists what is not as it should be.
func (s *SitesResult) Missed() (all []string) {
	if s.Failed != "" && !strings.HasPrefix(s.Failed, "missing: ") {
		all = append(all, s.Name+": "+s.Failed)
	}
	for _, a := range s.Counts {
		for i, run := range a.All {
			if run.Unequal != "" {
				all = append(all, fmt.Sprintf("%s at %d sites: %s", s.Name, a.Sites, run.Unequal))
			}
			if x, one := run.Loss[1], a.One[i].Loss[1]; !(math.Abs(x-one) <= agreement*math.Abs(one)) {
				all = append(all, fmt.Sprintf("%s: the loss is %v at %d sites, %v at one", s.Name, x, a.Sites, one))
			}
		}
	}
	return all
}

//go:embed papers.md
var papers string

// SitesReport is the text of SITES.md.
func SitesReport(list []*SitesResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Measured at several sites

Written by `+"`relgrad bench sites`; `go doc ./bench`"+` says how. All sites are in one process and share its `+
		`workers, so more sites
are no more processors: the times tell what sites cost, not what they gain.

%s, %d processors, %s; relgrad with %s, loops %s, %s; %s.
`, processor(), runtime.NumCPU(), memory(), blas.Name(), cpu.Name(), runtime.Version(),
		time.Now().UTC().Format(time.DateOnly))
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(&b, "Load averages of the machine at the end: %s.\n",
			strings.Join(strings.Fields(string(load))[:3], ", "))
	}
	b.WriteString(`
## A step beside one site

Runs at one site and at several alternate. Times are medians; of the ratios of the rounds there are the median, the
least and the greatest. Held is what the site holds that holds most, beside what one site holds alone. Bytes are
compared for each exchange in each step.

`)
	t := &Table{Head: []string{"workload", "sites", "step at one", "step", "ratio", "least … greatest", "held",
		"of one site", "exchanges compared", "moved as predicted"}}
	for _, s := range list {
		for _, a := range s.Counts {
			s.line(t, a)
		}
		if s.Failed != "" {
			t.Add(s.Name, "", "", "", "", "", "", "", "", "not measured: "+strings.Split(s.Failed, "\n")[0])
		}
	}
	b.WriteString(t.String() + simulations(list) + fmt.Sprintf(`
## Plans that have names

Each of the plans of BMM, CMM, RMM, data parallel and model parallel that a workload has, and the cheapest of any, at %d
sites: the time that is predicted for a step by the limits for which plans of a process are made, the one simulated
by the limits measured, and the one measured.

`, namedSites))
	t = &Table{Head: []string{"workload", "plan", "predicted", "simulated", "measured", ""}}
	for _, s := range list {
		if len(s.Named) > 0 {
			s.named(t)
		}
	}
	b.WriteString(t.String() + "\n" + papers)
	b.WriteString(`
## Exchanges

What an exchange brings from site to site in a step, or once in a run: the bytes that were predicted by the rows that
each site has, and those that were counted while they moved. Where rows are drawn in each step, these are of the last.
`)
	for _, s := range list {
		if len(s.Counts) > 0 {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s", s.Name, s.numbers(), s.exchanges())
		}
	}
	return b.String()
}

// simulations compares simulated steps with those measured.
func simulations(list []*SitesResult) string {
	t := &Table{Head: []string{"workload", "sites", "simulated", "measured", "ratio", "least … greatest"}}
	near, all := 0, 0
	for _, s := range list {
		for _, a := range s.Counts {
			ratios := lists.Map(a.All, (*SiteRun).off)
			if all++; Median(ratios) >= 0.5 && Median(ratios) <= 2 {
				near++
			}
			t.Add(s.Name, fmt.Sprint(a.Sites), Seconds(of(a.All, (*SiteRun).simulated)), Seconds(of(a.All, (*SiteRun).step)),
				fmt.Sprintf("%.2f", Median(ratios)), fmt.Sprintf("%.2f … %.2f", slices.Min(ratios), slices.Max(ratios)))
		}
	}
	return fmt.Sprintf(`
## A simulated step

What a step takes by the simulator, with the rows that each site has and with limits of the sites that are measured
before each run, beside the median of the steps measured. Times and ratios are the medians of the rounds. %d of %d are
within a factor of 2. SQL that runs in each step is not simulated.

%s`, near, all, t)
}

// numbers are the sizes of a workload.
func (s *SitesResult) numbers() string {
	var all []string
	for _, n := range slices.Concat(s.Size, s.Vars) {
		all = append(all, n.Name+" "+number(s.Values[n.Name]))
	}
	return strings.Join(all, ", ")
}

// line is what a step takes at some sites.
func (s *SitesResult) line(t *Table, a *AtCount) {
	ratios := a.ratios()
	held := func(r *SiteRun) float64 { return float64(r.Largest()) }
	compared, equal := 0, "yes"
	for _, run := range a.All {
		if compared += run.Compared; run.Unequal != "" {
			equal = "**no**: " + run.Unequal
		}
	}
	most := of(a.All, held)
	t.Add(s.Name, fmt.Sprint(a.Sites), Seconds(of(a.One, (*SiteRun).step)), Seconds(of(a.All, (*SiteRun).step)),
		fmt.Sprintf("%.2f", Median(ratios)), fmt.Sprintf("%.2f … %.2f", slices.Min(ratios), slices.Max(ratios)),
		scaled(most, "B"), fmt.Sprintf("%.2f", most/of(a.One, held)), fmt.Sprint(compared), equal)
}

// exchanges lists the exchanges of a workload at each number of sites.
func (s *SitesResult) exchanges() string {
	t := &Table{Head: []string{"sites", "exchange", "columns", "rows", "predicted", "moved", ""}}
	for _, a := range s.Counts {
		predicted, moved := int64(0), int64(0)
		for _, x := range a.All[len(a.All)-1].Exchanges {
			when := "in each step"
			if predicted, moved = predicted+x.Predicted, moved+x.Moved; x.Once {
				when = "once"
			}
			t.Add(fmt.Sprint(a.Sites), x.Node.String(), strings.Join(x.Columns, ", "), thousands(float64(x.Rows)),
				thousands(float64(x.Predicted)), thousands(float64(x.Moved)), when)
		}
		t.Add(fmt.Sprint(a.Sites), "all", "", "", thousands(float64(predicted)), thousands(float64(moved)), "")
	}
	return t.String()
}
