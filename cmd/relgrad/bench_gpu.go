package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// gpuOptions are the options of `relgrad bench gpu`.
type gpuOptions struct {
	bench.CardOptions
	prepare bool
	repeat  int
	write   string
}

// gpuFlags are options of gpu only.
var gpuFlags = []string{"prepare", "quick", "repeat"}

// check refuses options without effect and names that are no workloads of a graphics processor. Where they were not
// given it chooses rounds and seconds.
func (o *gpuOptions) check(c *command, fs *flag.FlagSet, names []string) error {
	if name := given(fs, append([]string{"v"}, growthFlags...)); name != "" {
		return c.wrong(fs, "option %s is not for gpu", name)
	}
	if o.repeat < 0 || o.repeat == 1 {
		return c.wrong(fs, "--repeat %d compares nothing", o.repeat)
	}
	if name := given(fs, []string{"rounds", "seconds", "alone", "write"}); o.repeat > 0 && name != "" {
		return c.wrong(fs, "option %s is for measuring, not for --repeat", name)
	}
	if name := given(fs, []string{"rounds", "seconds", "alone", "write", "repeat"}); o.prepare && name != "" {
		return c.wrong(fs, "option %s is for measuring, not for --prepare", name)
	}
	if given(fs, []string{"rounds"}) == "" {
		o.Rounds = 5
	}
	if given(fs, []string{"seconds"}) == "" {
		o.Seconds = 0.3
	}
	known := lists.Map(bench.OnCards, func(w *bench.OnCard) string { return w.Name })
	return allKnown("workload of a graphics processor", names, known)
}

// onCard measures the named workloads, or all, on the first graphics processor and prints the report.
func onCard(ctx context.Context, r *bench.Runner, names []string, o gpuOptions) error {
	if o.prepare {
		for _, w := range bench.OnCards {
			if !includes(names, w.Name) {
				continue
			}
			if err := bench.Prepare(ctx, r, w, o.CardOptions); err != nil {
				return err
			}
		}
		return nil
	}
	if o.repeat > 0 {
		return repeated(ctx, r, names, o)
	}
	card, err := bench.MeasureRates(ctx, r, o.CardOptions)
	if err != nil {
		return err
	}
	if card.Double() && o.write != "" {
		return sqlerr.New(sqlerr.InvalidParameter, "the device is a double of the driver: its times are not written to %s",
			o.write)
	}
	o.Double = card.Double()
	var results []*bench.CardResult
	var missed []string
	for _, w := range bench.OnCards {
		if !includes(names, w.Name) {
			continue
		}
		res, err := bench.MeasureCard(ctx, r, w, o.CardOptions)
		if err != nil {
			return err
		}
		results, missed = append(results, res), append(missed, res.Missed()...)
		if o.write != "" { // written after each workload, so that an interrupt keeps the others
			if err := os.WriteFile(o.write, []byte(bench.CardReport(card, results)), 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Print(bench.CardReport(card, results))
	return unmet(missed)
}

// repeated trains the named workloads, or all, again and again and compares the bits.
func repeated(ctx context.Context, r *bench.Runner, names []string, o gpuOptions) error {
	var missed []string
	for _, w := range bench.OnCards {
		if !includes(names, w.Name) {
			continue
		}
		x, err := bench.Repeat(ctx, r, w, o.repeat, o.CardOptions)
		if err != nil {
			return err
		}
		fmt.Println(x)
		missed = append(missed, x.Missed()...)
	}
	return unmet(missed)
}
