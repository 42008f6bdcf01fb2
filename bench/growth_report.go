package bench

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// Grown is an axis with its points, from the fewest rows to the most.
type Grown struct {
	*Axis
	Points []*Point
	Failed string // the reason why there are no more points
}

// best is the largest fraction of the axis.
func (g *Grown) best() (most float64) {
	for _, p := range g.Points {
		most = max(most, p.Fraction())
	}
	return most
}

// behind is the best fraction divided by the point's.
func (g *Grown) behind(p *Point) float64 { return g.best() / p.Fraction() }

// growth is a point's setup time for a row relative to that of the smallest size. Both are in units of the limit's time
// for the same work, since setup sorts and looks up in the memory from which steps gather, which gets slower where it
// no longer fits a cache.
func (g *Grown) growth(p *Point) float64 {
	first := g.Points[0]
	return p.PerRow() * p.Limit() / (first.PerRow() * first.Limit())
}

// Missed lists the goals that were missed.
func (g *Grown) Missed() (all []string) {
	for _, p := range g.Points {
		if x := g.behind(p); !(x <= allowed) {
			all = append(all, fmt.Sprintf("%s, %s: the best fraction of the limit is %.2f times this one, not at most %g",
				g.Name, p.Name, x, allowed))
		}
		if x := g.growth(p); !(x <= allowed) {
			all = append(all, fmt.Sprintf("%s, %s: the processors' time before the first step, beside the limit's, is %.2f "+
				"times as much for a row as with %s, not at most %g", g.Name, p.Name, x, g.Points[0].Name, allowed))
		}
	}
	if g.Failed != "" {
		all = append(all, g.Name+": "+g.Failed)
	}
	return all
}

// Growth is a report: axes and plans.
type Growth struct {
	Axes  []*Grown
	Plans []*Planned
}

// Missed lists the goals that were missed.
func (g *Growth) Missed() (all []string) {
	for _, a := range g.Axes {
		all = append(all, a.Missed()...)
	}
	for _, p := range g.Plans {
		if p.Missed() {
			all = append(all, fmt.Sprintf("planning %s took %s, not at most %s", p.Script, Seconds(p.Worst().Seconds()),
				Seconds(p.Asked.Seconds())))
		}
	}
	return all
}

// Report is the text of GROWTH.md.
func (g *Growth) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Measured as data grow

Written by `+"`relgrad bench growth`"+`; `+"`go doc ./bench`"+` says how. Each size trains in one process; after `+
		`each step the limit is measured,
on memory of the same size, and a fraction is the median of such pairs. What is asked: at all sizes of an axis the `+
		`fraction of the
limit that a step reaches is at most %g times below the best, and what training does before its first step (planning,
reading the tables, the structure phase) takes at most %g times as much of the processors' time for a row as at the
smallest size, both over the time that the limit takes there for as much; for a stored number where rows become `+
		`larger instead. Planning counts a table's rows where the catalogue does not know them.

%s, %d processors, %s; relgrad with %s, loops %s, %s; %s.
`, allowed, allowed, processor(), runtime.NumCPU(), memory(), blas.Name(), cpu.Name(), runtime.Version(),
		time.Now().UTC().Format(time.DateOnly))
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(&b, "Load averages of the machine at the end: %s.\n",
			strings.Join(strings.Fields(string(load))[:3], ", "))
	}
	for _, a := range g.Axes {
		a.report(&b)
	}
	if len(g.Plans) > 0 {
		fmt.Fprintf(&b, "\n## Planning\n\nBinding, differentiating and optimizing, the shortest time of %d runs of a "+
			"script; of its plans the longest.\n\n%s", planningRounds, plans(g.Plans))
	}
	return b.String()
}

func (g *Grown) report(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n%s. The limit: %s.\n\n", g.Name, g.What, g.Limit)
	steps := &Table{Head: []string{"size", g.Rows, "program's memory", "a step does", "step", "rate", "limit there",
		"fraction", "best over it", ""}}
	setup := &Table{Head: []string{"size", "data and store made", "planning", "reading", "structure", "processors' time",
		"for a row", "over the first", "first step besides", "peak memory", ""}}
	for _, p := range g.Points {
		steps.Add(p.Name, thousands(p.Count), scaled(float64(p.Memory), "B"), scaled(p.Amount, g.Unit), Seconds(p.Step()),
			scaled(p.Rate(), g.Unit)+"/s", scaled(p.Limit(), g.Unit)+"/s",
			fmt.Sprintf("%.2f", p.Fraction()), fmt.Sprintf("%.2f", g.behind(p)), verdict(!(g.behind(p) <= allowed)))
		setup.Add(p.Name, Seconds(p.Prepared), Seconds(p.Planning), Seconds(p.Reading), Seconds(p.Structure),
			Seconds(p.Setup), Seconds(p.PerRow()), fmt.Sprintf("%.2f", g.growth(p)),
			Seconds(p.Once()), gigabytes(p.Peak), verdict(!(g.growth(p) <= allowed)))
	}
	fmt.Fprintf(b, "%s\n%s", steps, setup)
	if n := len(g.Sizes) - len(g.Points); n > 0 {
		fmt.Fprintf(b, "\nNot measured: %d sizes. %s\n", n, g.Failed)
	}
}

func plans(list []*Planned) *Table {
	t := &Table{Head: []string{"script", "plans", "longest", "asked", ""}}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *Planned) int { return int(b.longest() - a.longest()) })
	for _, p := range sorted {
		if p.Plans == nil {
			t.Add(p.Script, "", p.Reason, Seconds(p.Asked.Seconds()), "not measured")
			continue
		}
		t.Add(p.Script, fmt.Sprint(len(p.Plans)), Seconds(p.Worst().Seconds()),
			Seconds(p.Asked.Seconds()), verdict(p.Missed()))
	}
	return t
}

// longest is Worst, or 0 without plans.
func (p *Planned) longest() time.Duration {
	if p.Plans == nil {
		return 0
	}
	return p.Worst()
}

func verdict(missed bool) string {
	if missed {
		return "**missed**"
	}
	return "met"
}

// scaled prints a number of bytes or operations with three digits.
func scaled(x float64, unit string) string {
	for _, p := range []struct {
		letter string
		size   float64
	}{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if x >= p.size {
			return fmt.Sprintf("%.3g %s%s", x/p.size, p.letter, unit)
		}
	}
	return fmt.Sprintf("%.3g %s", x, unit)
}

// thousands prints a whole number in groups of three digits.
func thousands(x float64) string {
	s := number(x)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
