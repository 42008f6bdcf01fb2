package executor

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
)

// TestMeasureSites: sites have limits, which more sites than processors share; a measurement can be cancelled.
func TestMeasureSites(t *testing.T) {
	for sites, processors := range map[int]int{1: 0, 2: 0, 3: 2} {
		c, err := MeasureSites(t.Context(), sites, 2)
		if err != nil {
			t.Fatal(err)
		}
		if !(c.Operations > 0 && c.Reads > 0 && c.Latency > 0) || c.Network > 0 != (sites > 1) || c.Processors != processors {
			t.Errorf("%d sites of 2 workers: %+v", sites, c)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if c, err := MeasureSites(ctx, 2, 2); err == nil {
		t.Errorf("measured after a cancel: %+v", c)
	}
}

// TestSimulateProgram: a step is replayed with the rows that the sites have. Where each exchange takes a second, and
// nothing else takes time, it takes a second for each exchange that it waits for.
func TestSimulateProgram(t *testing.T) {
	src, plan, _ := summed(t, 3, true)
	apart := physical.Costs{Cluster: physical.Cluster{Network: 1e9, Operations: 8e9}}
	found, err := physical.Choose(t.Context(), plan, physical.Sites{N: 3}, apart)
	if err != nil {
		t.Fatal(err)
	}
	p, err := CompileSites(t.Context(), found.Plan, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Run(t.Context(), kernels.Env{}); err != nil {
		t.Fatal(err)
	}
	got, err := p.Simulate(found.Plan, physical.Cluster{Latency: 1})
	if err != nil {
		t.Fatal(err)
	}
	moves, err := found.Plan.Moves(present{p})
	if err != nil {
		t.Fatal(err)
	}
	seconds := 0.0
	for _, m := range moves {
		if m.Rows > 0 {
			seconds++
		}
	}
	if seconds < 1 || got.Seconds != seconds || got.Binds() != physical.Latency {
		t.Errorf("%g seconds for %g exchanges: %v", got.Seconds, seconds, got)
	}
}
