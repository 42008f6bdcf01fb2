package main

import (
	"context"
	"fmt"
	"os"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/bench/tensors"
	"github.com/relgrad/relgrad/internal/lists"
)

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
