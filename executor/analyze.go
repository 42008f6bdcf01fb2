package executor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// median ignores the first of several runs, which warms up the caches.
func median(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	runs := slices.Sorted(slices.Values(took[min(1, len(took)-1):]))
	return runs[len(runs)/2]
}

// analyzed prints the median of an instruction's runs and the share of the machine's limit that it reaches: of
// operations or of bytes, whichever is higher.
func analyzed(in *device.Instr, b *strings.Builder, runs []time.Duration, l limits) time.Duration {
	took := median(runs)
	if took == 0 || l == (limits{}) {
		return 0
	}
	least, what := in.Bytes/l.bytes, "memory"
	if f := in.Flops / l.flops; f > least {
		least, what = f, "operations"
	}
	fmt.Fprintf(b, "        %.3g ms, %.3g Gflop/s, %.3g GB/s: %.0f %% of the machine's %s\n", took.Seconds()*1e3,
		in.Flops/took.Seconds()/1e9, in.Bytes/took.Seconds()/1e9, 100*least/took.Seconds(), what)
	return took
}

// Step is an instruction of a program, or a stored column that instructions read, for pictures of the program.
type Step struct {
	What, Text   string
	Reads        []int // the steps that compute what it reads
	Rows         int
	Flops, Bytes float64       // estimated, as Explain prints them
	Took         time.Duration // by Analyze; 0: not measured
	Once         bool          // it runs once in a run
}

// Steps lists the instructions of a program, arguments first, and what is to be said of the whole.
func Steps(p *Program) (head string, out []Step) {
	text := p.Explain()
	head, _, _ = strings.Cut(text, "structure:\n")
	for _, s := range p.sites {
		d := drawing{made: map[*values.Val][]int{}, out: out}
		if len(p.sites) > 1 {
			d.site = fmt.Sprintf("site %d: ", s.number)
		}
		for _, in := range s.once {
			if !in.V.Structural {
				d.step(in, s.took[in], true)
			}
		}
		if s.sched != nil {
			for i, in := range s.sched.Steps {
				d.step(in, s.sched.Took(i), false)
			}
		}
		out = d.out
	}
	return head, out
}

// drawing makes the steps of a site.
type drawing struct {
	site string
	made map[*values.Val][]int // by val: the steps that make it
	out  []Step
}

func (d *drawing) step(in *device.Instr, took []time.Duration, once bool) {
	outs := in.Outs()
	s := Step{Reads: []int{}, What: d.site + in.How, Rows: in.Rows, Flops: in.Flops, Bytes: in.Bytes,
		Took: median(took), Once: once}
	var lines []string
	for _, v := range outs {
		lines = append(lines, v.Made(in.How)+": "+v.Body())
	}
	if len(outs) == 1 {
		lines[0] = outs[0].Made(in.How) + ": " + in.Expr()
	}
	s.Text = in.Otherwise() + strings.Join(lines, "\n")
	seen := map[*values.Val]bool{}
	var look func(v *values.Val)
	look = func(v *values.Val) {
		if seen[v] {
			return
		}
		seen[v] = true
		if by := d.made[v]; by != nil {
			s.Reads = append(s.Reads, by...)
			return
		}
		if v.Op == values.OpLeaf {
			d.out = append(d.out, Step{Reads: []int{}, What: d.site + "stored", Text: v.Made("stored") + ": " + v.Name,
				Rows: v.Space.N, Once: true})
			d.made[v] = []int{len(d.out) - 1}
			s.Reads = append(s.Reads, len(d.out)-1)
			return
		}
		for _, a := range v.Args {
			look(a)
		}
	}
	for _, v := range outs {
		seen[v] = true
	}
	for _, v := range outs {
		for _, a := range v.Args {
			look(a)
		}
	}
	slices.Sort(s.Reads)
	s.Reads = slices.Compact(s.Reads)
	d.out = append(d.out, s)
	for _, v := range outs {
		d.made[v] = append(d.made[v], len(d.out)-1)
	}
}
