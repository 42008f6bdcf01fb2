package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/lists"
)

// Budget is a workload trained with and without a memory budget.
type Budget struct {
	Name     string
	Workload *Workload
	Share    float64 // of the peak without a budget; 0: Bytes is the budget
	Bytes    int64
	Slower   float64 // bound of the step's time relative to that without the budget; 0: none
	Most     int64   // bound of the peak without a budget, on machines that have as much; 0: none
	Steps    int     // steps of a run
}

// Budgets are all budgets, in the order of reports.
var Budgets = []*Budget{
	{Name: "gcn", Workload: workload("gcn"), Share: 0.25, Slower: 4, Steps: 30},
	{Name: "gcn_large", Bytes: 4 << 30, Most: 24e9, Steps: 3, Workload: &Workload{Name: "gcn_large",
		What: "full-graph GCN, 2.4M nodes of 100 features, 60M entries, 100→256→47, Adam, dropout", Load: "gcn",
		Script: "gcn", Data: gcnData,
		Size: []Number{{"nodes", 2.4e6, 20000, 500}, {"edges", 28.8e6, 140000, 2000}, {"in", 100, 100, 10},
			{"hidden", 256, 256, 16}, {"classes", 47, 47, 5}}, Vars: []Number{{"dropout", 0.5, 0, 0.5}, adamRate}}}}

func workload(name string) *Workload {
	i := slices.IndexFunc(Workloads, func(w *Workload) bool { return w.Name == name })
	return Workloads[i]
}

// Bounded holds runs with and without a budget.
type Bounded struct {
	*Budget
	Bound        int64 // the budget, in bytes
	Free, Within []*Run
	Failed       string
}

// Bounded trains without a budget and with it, in rounds. numbers choose the workload's sizes, as Full does.
func (r *Runner) Bounded(ctx context.Context, b *Budget, rounds int, seconds float64,
	numbers func(Number) float64) (*Bounded, error) {
	out := &Bounded{Budget: b}
	if err := r.unpack(); err != nil {
		return nil, err
	}
	v := b.Workload.values(numbers)
	data, err := b.Workload.folder(r.Root, v)
	if err != nil {
		return nil, err
	}
	defer giveBack(r, data)
	for range rounds {
		for _, bound := range []bool{false, true} {
			limit := Limit{Steps: b.Steps, Seconds: seconds}
			if bound {
				if out.Bound = b.Bytes; b.Share > 0 {
					out.Bound = int64(b.Share * float64(out.Free[0].Peak))
				}
				limit.Memory = out.Bound
			}
			run, err := r.Ours(ctx, b.Workload, v, limit)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				out.Failed = reason(err)
				return out, nil
			}
			if bound {
				out.Within = append(out.Within, run)
			} else {
				out.Free = append(out.Free, run)
			}
		}
	}
	return out, nil
}

// reason is the message that relgrad printed, without the command's line; for other errors all of it.
func reason(err error) string {
	for line := range strings.Lines(err.Error()) {
		if _, message, ok := strings.Cut(line, "ERROR:  "); ok {
			return strings.TrimSpace(message)
		}
	}
	return err.Error()
}

// step is the median step of some runs.
func step(runs []*Run) float64 {
	all := lists.Map(runs, func(r *Run) float64 { return r.Seconds(0) })
	return Median(all)
}

func peakOfAll(runs []*Run) int64 { return (&Program{Runs: runs}).peak() }

// allowance is how much memory a process with the budget may take.
func (b *Bounded) allowance() int64 { return b.Bound + b.Bound/5 + 100e6 }

// Slowdown is the time of a step with the budget divided by that without.
func (b *Bounded) Slowdown() float64 { return step(b.Within) / step(b.Free) }

// Missed lists the goals that were missed.
func (b *Bounded) Missed() (all []string) {
	if b.Failed != "" {
		return []string{b.Name + ": " + b.Failed}
	}
	if x := b.Slowdown(); b.Slower > 0 && !(x <= b.Slower) {
		all = append(all,
			fmt.Sprintf("%s: %.2f times the time within %s, not at most %g", b.Name, x, gigabytes(b.Bound), b.Slower))
	}
	if p := peakOfAll(b.Free); b.Most > 0 && p > b.Most {
		all = append(all, fmt.Sprintf("%s: peak memory %s without a budget, not %s", b.Name, gigabytes(p), gigabytes(b.Most)))
	}
	if p := peakOfAll(b.Within); p > b.allowance() {
		all = append(all, fmt.Sprintf("%s: peak memory %s within %s, not %s", b.Name, gigabytes(p), gigabytes(b.Bound),
			gigabytes(b.allowance())))
	}
	if l, m := b.Free[0].Loss, b.Within[0].Loss; l[0] != m[0] {
		all = append(all, fmt.Sprintf("%s: the loss is %v without a budget, %v within it", b.Name, l[0], m[0]))
	}
	return all
}

// MemoryReport is the text of MEMORY.md.
func MemoryReport(list []*Bounded) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured within a budget of memory\n\nWritten by `relgrad bench memory`; `go doc ./bench` says "+
		"how. Each workload trains without a budget and with one (`--memory`), in a process of its own\n"+
		"that opens the store. The process may take a fifth more than the budget, and 100 MB.\n\n%s, %d processors, %s; "+
		"%s; %s.\n\n", processor(), runtime.NumCPU(), memory(), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	t := &Table{Head: []string{"workload", "budget", "setup", "step", "times the step", "asked",
		"peak memory", "asked", ""}}
	for _, x := range list {
		if x.Failed != "" {
			t.Add(x.Name+": "+x.Workload.What, "", "", "", "", "", "", "", "**failed**: "+strings.Split(x.Failed, "\n")[0])
			continue
		}
		most, slower := "", ""
		if x.Most > 0 {
			most = gigabytes(x.Most)
		}
		if x.Slower > 0 {
			slower = fmt.Sprintf("%g", x.Slower)
		}
		t.Add(x.Name+": "+x.Workload.What, "none", Seconds(x.Free[0].Setup), Seconds(step(x.Free)), "", "",
			gigabytes(peakOfAll(x.Free)), most, "")
		t.Add("", gigabytes(x.Bound), Seconds(x.Within[0].Setup), Seconds(step(x.Within)), fmt.Sprintf("%.2f", x.Slowdown()),
			slower, gigabytes(peakOfAll(x.Within)), gigabytes(x.allowance()), verdict(len(x.Missed()) > 0))
	}
	b.WriteString(t.String())
	return b.String()
}
