package main

import (
	"context"
	"fmt"
	"os"

	"github.com/relgrad/relgrad/bench"
)

// atSites measures the named workloads, or all, at several sites and prints the report.
func atSites(ctx context.Context, r *bench.Runner, names []string, o bench.Options, file string) error {
	list, err := chosen(names)
	if err != nil {
		return err
	}
	var results []*bench.SitesResult
	var missed []string
	for _, w := range list {
		res, err := bench.MeasureSites(ctx, r, w, bench.AtSitesSize, bench.SiteCounts, o.Rounds, o.Limit)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		results, missed = append(results, res), append(missed, res.Missed()...)
		if file != "" { // written after each workload, so that an interrupt keeps the others
			if err := os.WriteFile(file, []byte(bench.SitesReport(results)), 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Print(bench.SitesReport(results))
	return unmet(missed)
}
