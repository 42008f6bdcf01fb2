package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

var benchCommand = command{name: "bench", run: benchmark,
	args: "[options] [WORKLOAD… | growth [AXIS…] | memory [BUDGET…] | sites [WORKLOAD…]]",
	summary: "Measure workloads beside other systems, as data grow, within a budget of memory, or at several sites; " +
		"exit status 1 where relgrad is slower or larger than is asked of it, or moves other bytes than it predicts."}

func benchmark(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	o := bench.Options{Rounds: 3, Numbers: bench.Values{}}
	fs.IntVar(&o.Rounds, "rounds", 3, "run each program in `N` rounds")
	fs.Float64Var(&o.Limit.Seconds, "seconds", 4,
		"end a run with its 30th step, or the step in which `N` seconds have passed; of growth a size, from 5 steps on")
	fs.BoolVar(&o.Alone, "alone", false, "run relgrad only")
	write := fs.String("write", "", "write the report into `FILE`, too")
	grow := growthOptions{}
	fs.IntVar(&grow.sizes, "sizes", 6, "growth: measure the first `N` sizes of an axis")
	fs.StringVar(&grow.examples, "examples", "examples",
		"growth: the folder of examples, whose plans are timed, is `FOLDER`")
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
	if len(names) > 0 && names[0] == "growth" {
		grow.seconds, grow.write = o.Limit.Seconds, *write
		if err := grow.check(c, fs, names[1:]); err != nil {
			return err
		}
		return growth(ctx, r, names[1:], grow)
	}
	if len(names) > 0 && names[0] == "memory" {
		if name := given(fs, append(growthFlags, "alone", "v")); name != "" {
			return c.wrong(fs, "option %s is not for memory", name)
		}
		return bounded(ctx, r, names[1:], o, *write)
	}
	if len(names) > 0 && names[0] == "sites" {
		if name := given(fs, append(growthFlags, "alone", "v")); name != "" {
			return c.wrong(fs, "option %s is not for sites", name)
		}
		return atSites(ctx, r, names[1:], o, *write)
	}
	if name := given(fs, growthFlags); name != "" {
		return c.wrong(fs, "option %s is for growth, not for workloads", name)
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
