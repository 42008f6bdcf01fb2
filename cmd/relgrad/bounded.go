package main

import (
	"context"
	"fmt"
	"os"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/internal/lists"
)

// bounded measures the named memory budgets, or all, and prints the report.
func bounded(ctx context.Context, r *bench.Runner, names []string, o bench.Options, file string) error {
	known := lists.Map(bench.Budgets, func(b *bench.Budget) string { return b.Name })
	if err := allKnown("budget", names, known); err != nil {
		return err
	}
	var all []*bench.Bounded
	var missed []string
	for _, b := range bench.Budgets {
		if !includes(names, b.Name) {
			continue
		}
		x, err := r.Bounded(ctx, b, o.Rounds, o.Limit.Seconds, bench.Full)
		if err != nil {
			return err
		}
		all = append(all, x)
		missed = append(missed, x.Missed()...)
		if file != "" { // written after each budget, so that an interrupt keeps the others
			if err := os.WriteFile(file, []byte(bench.MemoryReport(all)), 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Print(bench.MemoryReport(all))
	return unmet(missed)
}
