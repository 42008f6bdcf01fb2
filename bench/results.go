package bench

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/kernels/blas"
)

// Report is the text of RESULTS.md.
func Report(results []*Result) string {
	var b strings.Builder
	b.WriteString("# Measured beside other systems\n\nWritten by `make bench`; `go doc ./bench` says how. A step is a " +
		"step of training, or a query where nothing is trained. Programs run\n" +
		"alternately, each once in a round; a ratio is a program's seconds over relgrad's, the median over rounds, above 1 " +
		"where relgrad is faster.\n\n")
	fmt.Fprintf(&b, "%s, %d processors, %s; relgrad with %s, %s; %s.\n", processor(), runtime.NumCPU(), memory(),
		blas.Name(), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	if versions := versions(results); versions != "" {
		fmt.Fprintf(&b, "Beside it %s.\n", versions)
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(&b, "Load averages of the machine at the end: %s.\n",
			strings.Join(strings.Fields(string(load))[:3], ", "))
	}
	fmt.Fprintf(&b, "\n## What is asked\n\n%s%s\n## All programs\n\nSetup is planning and structure, before the first "+
		"step; with Cora it is part of the seconds.\n\n%s", bars(results), missed(results), programs(results))
	return b.String()
}

func bars(results []*Result) *Table {
	t := &Table{Head: []string{"workload", "asked", "reached", "against", "memory asked", "memory", ""}}
	for _, res := range results {
		asked, much := "", ""
		peak := float64(res.Programs[0].peak()) / 1e9
		if res.Memory > 0 {
			asked = fmt.Sprintf("%g GB", res.Memory)
			if peak > res.Memory {
				much = ", **memory**"
			}
		}
		add := func(bar, reached, against string, measured, missed bool) {
			verdict := "met"
			switch {
			case !measured:
				verdict, reached = "not measured", ""
			case missed:
				verdict = "**missed**"
			}
			t.Add(res.Name, bar, reached, against, asked, fmt.Sprintf("%.2f GB", peak), verdict+much)
		}
		for _, j := range res.judge() {
			add(fmt.Sprintf("%g", j.Ratio), fmt.Sprintf("%.2f", j.Reached), j.Against, !math.IsNaN(j.Reached), j.Missed())
		}
		if res.Most > 0 {
			s := res.seconds(res.Programs[0])
			add(Seconds(res.Most)+" a step", Seconds(s), "", !math.IsNaN(s), res.late())
		}
	}
	return t
}

// missed tells for each workload that missed a bar what limits it, what was tried, and where the time goes.
func missed(results []*Result) string {
	var b strings.Builder
	for _, res := range results {
		if res.Profile == nil {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n## What was missed\n\nWhat limits each and what was tried (missed.md: its figures are of runs by " +
				"hand, which no command repeats), and where the time of loss and gradients goes (`relgrad explain --analyze`, in " +
				"this run).\n")
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s", res.Name, explained(res.Name), res.Profile)
	}
	return b.String()
}

func programs(results []*Result) *Table {
	t := &Table{Head: []string{"workload", "program", "seconds", "ratio", "from – to", "setup", "peak memory", "losses"}}
	for _, res := range results {
		for i, p := range res.Programs {
			what := ""
			if i == 0 {
				what = res.Name + ": " + res.What
			}
			if len(p.Runs) == 0 {
				t.Add(what, p.Name, strings.Split(p.Reason, "\n")[0])
				continue
			}
			setup, ratio, spread, agreed := "", "", "", ""
			if i == 0 {
				setup = Seconds(p.Runs[len(p.Runs)-1].Setup)
			} else {
				all := res.ratios(p)
				ratio, spread = fmt.Sprintf("%.2f", Median(all)), fmt.Sprintf("%.2f – %.2f", slices.Min(all), slices.Max(all))
			}
			if slices.Contains(res.Agreed, p.Name) {
				agreed = "agree"
			}
			t.Add(what, p.Name, Seconds(res.seconds(p)), ratio, spread, setup, gigabytes(p.peak()), agreed)
		}
	}
	return t
}

// versions lists the peers' libraries once each.
func versions(results []*Result) string {
	var all []string
	for _, res := range results {
		for _, p := range res.Programs {
			for _, run := range p.Runs {
				for v := range strings.SplitSeq(run.Versions, ", ") {
					if v != "" && !slices.Contains(all, v) {
						all = append(all, v)
					}
				}
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// processor is the name of the processor, where the system tells.
func processor() string { return systemLine("/proc/cpuinfo", "model name", runtime.GOARCH) }

// Machine describes the machine.
func Machine() string {
	return fmt.Sprintf("%s, %d processors, %s", processor(), runtime.NumCPU(), memory())
}

// memory is the machine's memory.
func memory() string { return systemLine("/proc/meminfo", "MemTotal", "?") + " of memory" }

// systemLine finds the value of a key in a file of the system.
func systemLine(file, thing, unknown string) string {
	if text, err := os.ReadFile(file); err == nil {
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, thing); ok {
				return strings.Join(strings.Fields(strings.TrimLeft(value, " \t:")), " ")
			}
		}
	}
	return unknown
}
