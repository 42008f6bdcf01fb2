package bench

import (
	"context"
	"strings"
	"testing"
)

// TestBounded trains without a budget and within one, and gets the same loss.
func TestBounded(t *testing.T) {
	b := *Budgets[0]
	b.Share, b.Bytes, b.Steps = 0, 64<<20, 4
	x, err := runner(t).Bounded(context.Background(), &b, 2, 2, small)
	if err != nil || x.Failed != "" || len(x.Free) != 2 || len(x.Within) != 2 {
		t.Fatalf("%+v, %v", x, err)
	}
	if x.Bound != 64<<20 || !(x.Slowdown() > 0) || x.Free[0].Loss[0] != x.Within[0].Loss[0] {
		t.Errorf("%+v", x)
	}
	if text := MemoryReport([]*Bounded{x}); !strings.Contains(text, "|  | 0.07 GB |") {
		t.Error(text)
	}
	b.Bytes = 1 << 10 // less than any plan needs
	x, err = runner(t).Bounded(context.Background(), &b, 1, 2, small)
	if err != nil || !strings.HasPrefix(x.Failed, "the plan needs ") || len(x.Missed()) != 1 ||
		!strings.Contains(MemoryReport([]*Bounded{x}), "**failed**") {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestBoundedMissed: time, peak memory without the budget and with it, and another loss are missed.
func TestBoundedMissed(t *testing.T) {
	run := func(s float64, peak int64, loss float64) []*Run {
		return []*Run{{Steps: []float64{s, s}, Peak: peak, Loss: []float64{loss}}}
	}
	x := &Bounded{Budget: &Budget{Name: "b", Workload: Workloads[0], Slower: 4, Most: 1e9}, Bound: 1e9,
		Free: run(1, 9e8, 5), Within: run(3, 1.2e9, 5)}
	if missed := x.Missed(); missed != nil {
		t.Errorf("%q", missed)
	}
	x.Free, x.Within = run(1, 2e9, 5), run(5, 1.4e9, 6)
	if missed := x.Missed(); len(missed) != 4 || !strings.Contains(MemoryReport([]*Bounded{x}), "**missed**") {
		t.Errorf("%q", missed)
	}
}
