package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// growthOptions are the options of `relgrad bench growth`.
type growthOptions struct {
	sizes           int
	seconds         float64
	examples, write string
}

// growthFlags are options of growth only, workloadFlags of workloads only.
var (
	growthFlags   = []string{"sizes", "examples"}
	workloadFlags = []string{"rounds", "alone", "v"}
)

// given returns one of the named options that was given, or "".
func given(fs *flag.FlagSet, names []string) (name string) {
	fs.Visit(func(f *flag.Flag) {
		if slices.Contains(names, f.Name) {
			name = f.Name
		}
	})
	return name
}

// planning is a name beside those of the axes: it measures plans.
const planning = "planning"

// check refuses options without effect and names that are not axes.
func (o growthOptions) check(c *command, fs *flag.FlagSet, names []string) error {
	if name := given(fs, workloadFlags); name != "" {
		return c.wrong(fs, "option %s is for workloads, not for growth", name)
	}
	if name := given(fs, gpuFlags); name != "" {
		return c.wrong(fs, "option %s is for gpu, not for growth", name)
	}
	if o.sizes < 1 {
		return c.wrong(fs, "--sizes %d must be positive", o.sizes)
	}
	if given(fs, []string{"examples"}) != "" && !includes(names, planning) {
		return c.wrong(fs, "option examples is for planning, which is not measured")
	}
	known := lists.Map(bench.Axes, func(a *bench.Axis) string { return a.Name })
	return allKnown("axis of growth", names, append([]string{planning}, known...))
}

// allKnown refuses a name that is not among those known.
func allKnown(what string, names, known []string) error {
	for _, n := range names {
		if !slices.Contains(known, n) {
			return sqlerr.New(sqlerr.UndefinedObject, "there is no %s \"%s\"", what, n).
				WithHint("There are %s.", strings.Join(known, ", "))
		}
	}
	return nil
}

// includes reports whether a name was chosen; without names, all are.
func includes(names []string, name string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

// growth measures the named axes and planning, or all, and prints the report.
func growth(ctx context.Context, r *bench.Runner, names []string, o growthOptions) error {
	g := &bench.Growth{}
	save := func() error {
		if o.write == "" {
			return nil
		}
		return os.WriteFile(o.write, []byte(g.Report()), 0o644)
	}
	if includes(names, planning) {
		var err error
		if g.Plans, err = r.Planning(ctx, o.examples); err != nil {
			return err
		}
	}
	for _, a := range bench.Axes {
		if !includes(names, a.Name) {
			continue
		}
		of := &bench.Grown{Axis: a}
		g.Axes = append(g.Axes, of)
		for _, size := range a.Sizes[:min(o.sizes, len(a.Sizes))] {
			p, err := r.Grow(ctx, a, size, o.seconds)
			if ctx.Err() != nil {
				return err
			}
			if err != nil {
				of.Failed = err.Error()
				break
			}
			of.Points = append(of.Points, p)
			if err := save(); err != nil { // saved after each axis, so that an interrupt keeps the others
				return err
			}
		}
	}
	if err := save(); err != nil {
		return err
	}
	fmt.Print(g.Report())
	return unmet(g.Missed())
}

// unmet prints the missed goals and returns an error if there are any.
func unmet(missed []string) error {
	for _, m := range missed {
		fmt.Fprintln(os.Stderr, m)
	}
	if len(missed) > 0 {
		return fmt.Errorf("%d of the figures are not what is asked", len(missed))
	}
	return nil
}
