package bench

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
)

// CardReport is the text of GPU.md.
func CardReport(c *Card, list []*CardResult) string {
	var b strings.Builder
	b.WriteString(`# Measured on a graphics processor

Written by ` + "`relgrad bench gpu`; `go doc ./bench`" + ` says how. Programs take turns on the same card. A ratio is a
program's seconds for a step over relgrad's in the same round, the median over rounds, above 1 where relgrad is faster.
All compute in single precision: relgrad's kernels use no tensor cores, and the peers' products have been found as exact
as single precision (TF32 is off). relgrad reads the loss of each step; peers do not, and end a turn when the device has
done its steps.

`)
	if c.Double() {
		b.WriteString(`**This is a double of NVIDIA's driver, which runs kernels on the processors: no time here means
anything. That the losses are right does.**

`)
	}
	b.WriteString(c.describe())
	b.WriteString(`
## A step

The floor is the larger of two times: the bytes that a step must at least move, at the rate of copies, and its
operations, at that of a library's products. The losses of the first steps are compared with those of relgrad on the
processors, on the same data. Setup ends with the first step.

`)
	steps, programs, calls := stepsTable(c, list), &Table{Head: []string{"workload", "program", "step", "ratio",
		"from – to", "losses"}}, &Table{Head: []string{"workload", "graphs", "kernels", "products",
		"copies", "waits"}}
	for _, res := range list {
		res.programs(programs)
		if res.Counted > 0 {
			each := func(n int64) string { return fmt.Sprintf("%.3g", float64(n)/float64(res.Counted)) }
			calls.Add(res.Name, each(res.Calls.Graphs), each(res.Calls.Kernels), each(res.Calls.Products),
				each(res.Calls.Copies), each(res.Calls.Waits))
		}
	}
	fmt.Fprintf(&b, "%s\n## All programs\n\n%s\n## Calls of the driver in a step\n\nLaunches of graphs, of single "+
		"kernels and of cuBLASLt, copies to the device and from it, and waits besides.\n\n%s", steps, programs, calls)
	b.WriteString("\n## Where the time goes\n\nLoss and gradients, each instruction by itself with a wait behind it " +
		"(`relgrad explain --analyze`), so that their sum is more than a step.\n")
	for _, res := range list {
		if res.Profile != nil {
			fmt.Fprintf(&b, "\n### %s\n\n%s", res.Name, res.Profile.onDevice())
		}
	}
	return b.String()
}

// describe tells the card, its rates, and the versions.
func (c *Card) describe() string {
	driver := fmt.Sprintf("driver for CUDA %d.%d", c.Driver[0], c.Driver[1])
	if c.Version != "" {
		driver = fmt.Sprintf("driver %s, for CUDA %d.%d", c.Version, c.Driver[0], c.Driver[1])
	}
	library := "Rates of a library are not known: " + c.Library + ".\n"
	if c.Products > 0 {
		library = fmt.Sprintf("By %s a product of matrices runs at %.3g TFLOP/s, a copy at %.3g TB/s.\n", c.Library,
			c.Products/1e12, c.Copied/1e12)
	}
	return fmt.Sprintf("%s, %d MiB, %d multiprocessors, compute capability %d.%d; %s, NVRTC %d.%d; %s, %d processors; "+
		"%s; %s.\nA kernel copies %.3g TB in a second, bytes read and written. %s", c.Name, c.Memory>>20, c.Multiprocessors,
		c.Major, c.Minor, driver, c.NVRTC[0], c.NVRTC[1], processor(), runtime.NumCPU(), runtime.Version(),
		time.Now().UTC().Format(time.DateOnly), c.Copies/1e12, library)
}

// floor is the least time of a step in seconds, and what binds it; "" where it is not known.
func (c *Card) floor(res *CardResult) (seconds float64, by string) {
	if res.Least == nil {
		return 0, ""
	}
	flops, bytes := res.Least(res.Values)
	seconds, by = bytes/c.Copies, "memory"
	if c.Products > 0 && flops/c.Products > seconds {
		seconds, by = flops/c.Products, "arithmetic"
	}
	return seconds, by
}

func stepsTable(c *Card, list []*CardResult) *Table {
	t := &Table{Head: []string{"workload", "step", "least – greatest", "floor", "bound by", "times the floor", "setup",
		"on the processors", "losses differ by", "fastest peer", "ratio"}}
	for _, res := range list {
		what := res.Name + ": " + res.what()
		switch {
		case res.Failed != "":
			t.Add(what, "**failed**: "+firstLine(res.Failed))
			continue
		case res.Refused != "":
			t.Add(what, "refused: "+firstLine(res.Refused))
			continue
		}
		step := Median(res.Steps)
		floor, times := "", ""
		least, by := c.floor(res)
		if by != "" {
			floor, times = Seconds(least), fmt.Sprintf("%.2f", step/least)
		}
		peer, ratio := res.fastest()
		against := ""
		if peer != "" {
			against = fmt.Sprintf("%.2f", ratio)
		}
		t.Add(what, Seconds(step), Seconds(slices.Min(res.Steps))+" – "+Seconds(slices.Max(res.Steps)), floor, by, times,
			Seconds(res.Setup), Seconds(res.CPU), fmt.Sprintf("%.1e", res.Off), peer, against)
	}
	return t
}

// what describes the workload; where its numbers are not those of measurements, by them.
func (res *CardResult) what() string {
	if maps.Equal(res.Values, res.OnCard.values(Full)) {
		return res.What
	}
	var all []string
	for _, n := range slices.Concat(res.Size, res.Vars) {
		all = append(all, n.Name+" "+number(res.Values[n.Name]))
	}
	return strings.Join(all, ", ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.ReplaceAll(line, "|", "\\|")
}

// ratios are a peer's times divided by relgrad's, round by round.
func (res *CardResult) ratios(p *LivePeer) (all []float64) {
	for i := range min(len(res.Steps), len(p.Turns)) {
		all = append(all, p.Turns[i]/res.Steps[i])
	}
	return all
}

// fastest is the peer with the least ratio; "" without any.
func (res *CardResult) fastest() (name string, ratio float64) {
	ratio = math.Inf(1)
	for _, p := range res.Peers {
		if x := Median(res.ratios(p)); x < ratio {
			name, ratio = p.Name, x
		}
	}
	return name, ratio
}

// programs adds a line for each program.
func (res *CardResult) programs(t *Table) {
	if len(res.Steps) == 0 {
		return
	}
	t.Add(res.Name, "relgrad", Seconds(Median(res.Steps)), "", "", "")
	for _, p := range res.Peers {
		all := res.ratios(p)
		if p.Reason != "" || len(all) == 0 {
			what := firstLine(p.Reason)
			if p.Failed {
				what = "**failed**: " + what
			}
			t.Add("", p.Name, what, "", "", "")
			continue
		}
		losses := ""
		if p.Agreed {
			losses = "agree"
		}
		t.Add("", p.Name+" ("+p.Versions+")", Seconds(Median(p.Turns)), fmt.Sprintf("%.2f", Median(all)),
			fmt.Sprintf("%.2f – %.2f", slices.Min(all), slices.Max(all)), losses)
	}
}

// onDevice are the longest instructions of a step on a device.
func (p *Profile) onDevice() string {
	t := &Table{Head: []string{"instruction", "time", "of the step", "Gflop/s", "GB/s"}}
	ms, _ := p.Ms()
	rest, n := 0.0, 0
	if p.Structure > 0 {
		t.Add("structure, on the processors", Seconds(p.Structure/1e3), fmt.Sprintf("%.0f %%", 100*p.Structure/ms), "", "")
	}
	for i, l := range p.Lines {
		if i >= profiled {
			rest, n = rest+l.Ms, n+1
			continue
		}
		t.Add(l.short(), Seconds(l.Ms/1e3), fmt.Sprintf("%.0f %%", 100*l.Ms/ms), fmt.Sprintf("%.3g", l.Gflops),
			fmt.Sprintf("%.3g", l.GBs))
	}
	if n > 0 {
		t.Add(fmt.Sprintf("%d more", n), Seconds(rest/1e3), fmt.Sprintf("%.0f %%", 100*rest/ms), "", "")
	}
	return t.String()
}

// Missed lists what went wrong: other losses than those of the processors or of a peer, and programs that failed. That
// the device refuses a workload, or that a peer is missing, is none of it.
func (res *CardResult) Missed() (all []string) {
	if res.Failed != "" {
		all = append(all, res.Name+": "+res.Failed)
	}
	for _, p := range res.Peers {
		if p.Failed {
			all = append(all, fmt.Sprintf("%s, %s: %s", res.Name, p.Name, p.Reason))
		}
	}
	return all
}
