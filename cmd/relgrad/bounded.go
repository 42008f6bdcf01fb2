package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// bounded measures the named memory budgets, or all, and prints the report.
func bounded(ctx context.Context, r *bench.Runner, names []string, o bench.Options, file string) error {
	known := lists.Map(bench.Budgets, func(b *bench.Budget) string { return b.Name })
	for _, n := range names {
		if !slices.Contains(known, n) {
			return sqlerr.New(sqlerr.UndefinedObject, "there is no budget \"%s\"", n).
				WithHint("There are %s.", strings.Join(known, ", "))
		}
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
