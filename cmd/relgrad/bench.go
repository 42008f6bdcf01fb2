package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/bench/tensors"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

var benchCommand = command{name: "bench", run: benchmark,
	args: "[options] [WORKLOAD… | growth [AXIS…] | memory [BUDGET…] | sites [WORKLOAD…] | gpu [WORKLOAD…] | " +
		"delta [TENSOR…]]",
	summary: "Measure workloads beside other systems, as data grow, within a budget of memory, at several sites, or on " +
		"a graphics processor, and tensors in tables of Delta Lake; exit status 1 where relgrad is slower or larger than " +
		"is asked of it, moves other bytes than it predicts, or computes other losses."}

func benchmark(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	o := bench.Options{Rounds: 3, Numbers: bench.Values{}}
	fs.IntVar(&o.Rounds, "rounds", 3, "run each program in `N` rounds; of gpu and delta 5 unless given")
	fs.Float64Var(&o.Limit.Seconds, "seconds", 4,
		"end a run with its 30th step, or the step in which `N` seconds have passed; of growth a size, from 5 steps on; "+
			"of gpu a turn, likewise (0.3 unless given)")
	fs.BoolVar(&o.Alone, "alone", false, "run relgrad only")
	write := fs.String("write", "", "write the report into `FILE`, too")
	grow := growthOptions{}
	fs.IntVar(&grow.sizes, "sizes", 6, "growth: measure the first `N` sizes of an axis")
	fs.StringVar(&grow.examples, "examples", "examples",
		"growth: the folder of examples, whose plans are timed, is `FOLDER`")
	gpu := gpuOptions{}
	fs.BoolVar(&gpu.prepare, "prepare", false, "gpu: make the data only, which needs no graphics processor")
	fs.BoolVar(&gpu.Quick, "quick", false, "gpu, delta: tiny sizes, which measure nothing and show that all of it runs")
	fs.IntVar(&gpu.repeat, "repeat", 0, "gpu: train `N` times, each in a process of its own, and compare the bits")
	texts := variables{}
	fs.Var(texts, "v", "set a number of the workloads: `NAME=VALUE`, as in their scripts (repeatable)")
	names, err := parse(c, fs, args)
	if err != nil {
		return err
	}
	o.Limit.Steps = 30
	for name, text := range texts {
		if o.Numbers[name], err = strconv.ParseFloat(text, 64); err != nil {
			return c.wrong(fs, "-v %s=%s: a number is needed", name, text)
		}
	}
	if o.Rounds < 1 || o.Limit.Seconds <= 0 {
		return c.wrong(fs, "--rounds %d and --seconds %g must be positive", o.Rounds, o.Limit.Seconds)
	}
	r := &bench.Runner{Log: os.Stderr}
	if r.Relgrad, err = os.Executable(); err != nil {
		return err
	}
	if r.Root, err = bench.Folder(); err != nil {
		return err
	}
	r.Python = bench.Python(r.Root)
	if len(names) > 0 && other[names[0]] != nil {
		return other[names[0]](ctx, c, r, asked{fs, names[1:], o, *write, grow, gpu})
	}
	for what, flags := range map[string][]string{"growth": growthFlags, "gpu or delta": gpuFlags} {
		if name := given(fs, flags); name != "" {
			return c.wrong(fs, "option %s is for %s, not for workloads", name, what)
		}
	}
	list, err := chosen(names)
	if err != nil {
		return err
	}
	if name := bench.Unknown(list, o.Numbers); name != "" {
		return c.wrong(fs, "-v %s: these workloads have no number of that name", name)
	}
	return measure(ctx, r, list, o, *write)
}

// asked is what a command line of bench asks for.
type asked struct {
	fs    *flag.FlagSet
	names []string
	bench.Options
	write string
	grow  growthOptions
	gpu   gpuOptions
}

// other are the measurements besides those of workloads, by the word that asks for them.
var other = map[string]func(ctx context.Context, c *command, r *bench.Runner, a asked) error{
	"growth": func(ctx context.Context, c *command, r *bench.Runner, a asked) error {
		a.grow.seconds, a.grow.write = a.Limit.Seconds, a.write
		if err := a.grow.check(c, a.fs, a.names); err != nil {
			return err
		}
		return growth(ctx, r, a.names, a.grow)
	},
	"memory": func(ctx context.Context, c *command, r *bench.Runner, a asked) error {
		if err := a.without(c, "memory"); err != nil {
			return err
		}
		return bounded(ctx, r, a.names, a.Options, a.write)
	},
	"sites": func(ctx context.Context, c *command, r *bench.Runner, a asked) error {
		if err := a.without(c, "sites"); err != nil {
			return err
		}
		return atSites(ctx, r, a.names, a.Options, a.write)
	},
	"gpu": func(ctx context.Context, c *command, r *bench.Runner, a asked) error {
		a.gpu.Rounds, a.gpu.Seconds, a.gpu.Alone, a.gpu.write = a.Rounds, a.Limit.Seconds, a.Alone, a.write
		if err := a.gpu.check(c, a.fs, a.names); err != nil {
			return err
		}
		r.Python = bench.GPUPython(r.Root)
		return onCard(ctx, r, a.names, a.gpu)
	},
	"delta": func(ctx context.Context, c *command, r *bench.Runner, a asked) error {
		if name := given(a.fs, append([]string{"prepare", "repeat", "seconds", "v"}, growthFlags...)); name != "" {
			return c.wrong(a.fs, "option %s is not for delta", name)
		}
		o := tensors.Options{Rounds: a.Rounds, Quick: a.gpu.Quick, Alone: a.Alone}
		if given(a.fs, []string{"rounds"}) == "" {
			o.Rounds = 5
		}
		return deltaBench(ctx, r, a.names, o, a.write)
	},
}

// without refuses options that a measurement does not have.
func (a asked) without(c *command, what string) error {
	if name := given(a.fs, append(slices.Concat(growthFlags, gpuFlags), "alone", "v")); name != "" {
		return c.wrong(a.fs, "option %s is not for %s", name, what)
	}
	return nil
}

// chosen are the workloads of these names, or all.
func chosen(names []string) (list []*bench.Workload, err error) {
	var known []string
	for _, w := range bench.Workloads {
		known = append(known, w.Name)
		if len(names) == 0 || slices.Contains(names, w.Name) {
			list = append(list, w)
		}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "there is no workload \"%s\"", n).
				WithHint("There are %s.", strings.Join(known, ", "))
		}
	}
	return list, nil
}

// measure runs the workloads and prints the report.
func measure(ctx context.Context, r *bench.Runner, list []*bench.Workload, o bench.Options, file string) error {
	var results []*bench.Result
	var missed []string
	for _, w := range list {
		res, err := r.Measure(ctx, w, o)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		results = append(results, res)
		missed = append(missed, res.Missed()...)
		if file != "" { // written after each workload, so that an interrupt keeps the others
			if err := os.WriteFile(file, []byte(bench.Report(results)), 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Print(bench.Report(results))
	return unmet(missed)
}

// deltaBench measures the named tensors, or all, in tables of Delta Lake and prints the report.
func deltaBench(ctx context.Context, r *bench.Runner, names []string, o tensors.Options, file string) error {
	known := lists.Map(tensors.Inputs, func(in *tensors.Input) string { return in.Name })
	if err := allKnown("tensor", names, known); err != nil {
		return err
	}
	var err error
	if o.Peers, err = r.Peers(); err != nil {
		return err
	}
	o.Root, o.Python, o.Log = r.Root, r.Python, r.Log
	var results []*tensors.Result
	var missed []string
	for _, in := range tensors.Named(names) {
		res, err := tensors.Measure(ctx, in, o)
		if err != nil {
			return err
		}
		results, missed = append(results, res), append(missed, res.Missed()...)
		if file != "" { // written after each tensor, so that an interrupt keeps the others
			if err := os.WriteFile(file, []byte(tensors.Report(results)), 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Print(tensors.Report(results))
	return unmet(missed)
}
